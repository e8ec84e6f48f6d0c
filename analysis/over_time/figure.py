"""The figure of models over time: accuracy by tokens seen, with people on the same axis."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import fill

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from analysis.figures.drawing import (
    GUIDE,
    MODELS,
    PAGE_INCHES,
    PEOPLE,
    STYLE,
    new_figure,
    warn_of_programs,
)

_ACROSS, _PANEL_INCHES, _LEGEND_INCHES = 3, 1.5, 0.45
_LONGEST_LINE, _ALONE_INCHES = 38, 2.4


@dataclass(frozen=True, slots=True)
class Panel:
    """One construction.

    Attributes:
        title: Its title.
        people: People's accuracy, and the ends of its interval (NaN if there is none).
        ceiling: The accuracy of people's majority; NaN if it is not known.
        models: By model: tokens_seen, accuracy, low, high; one row per checkpoint.
        trainings: By model, the accuracy of each training, if there are several.
        learners: By group of learners, its accuracy.
    """

    title: str
    people: tuple[float, float, float]
    ceiling: float
    models: Mapping[str, pd.DataFrame]
    trainings: Mapping[str, Sequence[np.ndarray]] = field(default_factory=dict)
    learners: Mapping[str, float] = field(default_factory=dict)


def over_time_figure(panels: Sequence[Panel], *, chance: float, simulated: bool) -> Figure:
    """Draw each construction's accuracy over the tokens seen, on a logarithmic axis.

    Args:
        panels: The constructions.
        chance: The accuracy of guessing.
        simulated: Whether the figure must state that participants were simulated.
    """
    across = min(_ACROSS, len(panels))
    down = -(-len(panels) // across)
    lowest = min(0.9 * chance, *(rows["low"].min() for p in panels for rows in p.models.values()))
    with mpl.rc_context(STYLE):
        height = _ALONE_INCHES if len(panels) == 1 else _PANEL_INCHES * down
        figure = new_figure(PAGE_INCHES, _LEGEND_INCHES + height)
        grid = figure.subplots(down, across, squeeze=False, sharex=True, sharey=True)
        for axes, panel in zip(grid.ravel(), panels, strict=False):
            _draw(axes, panel, chance)
        for axes in grid.ravel()[len(panels) :]:
            axes.set_visible(False)
        for column in range(across):
            last = (len(panels) - 1 - column) // across
            grid[last, column].tick_params(labelbottom=True)
        grid[0, 0].set_xscale("log")
        grid[0, 0].set_ylim(lowest - 0.03, 1.03)
        figure.supxlabel("tokens seen", fontsize=STYLE["font.size"])
        figure.supylabel("accuracy", fontsize=STYLE["font.size"])
        figure.legend(handles=_legend(panels), loc="outside upper left", ncols=6, frameon=False)
        if simulated:
            warn_of_programs(grid[0, 0])
    return figure


def _draw(axes: Axes, panel: Panel, chance: float) -> None:
    axes.axhline(chance, color=GUIDE, linewidth=1, zorder=0)
    accuracy, low, high = panel.people
    if np.isfinite([low, high]).all():
        axes.axhspan(low, high, color=PEOPLE, alpha=0.15, linewidth=0)
    axes.axhline(accuracy, color=PEOPLE, linewidth=1)
    if np.isfinite(panel.ceiling):
        axes.axhline(panel.ceiling, color=PEOPLE, linewidth=0.8, linestyle=":")
    for name, accuracy in panel.learners.items():
        axes.axhline(accuracy, color=PEOPLE, linewidth=0.8, linestyle="--")
        axes.annotate(
            name, (0.01, accuracy), xycoords=("axes fraction", "data"), color=PEOPLE,
            fontsize="small", va="bottom",
        )  # fmt: skip
    for number, (model, rows) in enumerate(panel.models.items()):
        colour, _ = MODELS[number % len(MODELS)]
        for training in panel.trainings.get(model, ()):
            axes.plot(rows["tokens_seen"], training, color=colour, linewidth=0.5, alpha=0.5)
        axes.fill_between(
            rows["tokens_seen"], rows["low"], rows["high"], color=colour, alpha=0.2, linewidth=0
        )
        axes.plot(rows["tokens_seen"], rows["accuracy"], color=colour, linewidth=1.2)
    axes.set_title(fill(panel.title, _LONGEST_LINE), loc="left")
    axes.spines[["top", "right"]].set_visible(False)


def _legend(panels: Sequence[Panel]) -> list[Line2D]:
    models = dict.fromkeys(model for panel in panels for model in panel.models)
    handles = [
        Line2D([], [], color=MODELS[number % len(MODELS)][0], linewidth=1.2, label=model)
        for number, model in enumerate(models)
    ]
    handles.append(Line2D([], [], color=PEOPLE, linewidth=1, label="people"))
    if any(np.isfinite(panel.ceiling) for panel in panels):
        handles.append(
            Line2D([], [], color=PEOPLE, linewidth=0.8, linestyle=":", label="people's majority")
        )
    if any(panel.learners for panel in panels):
        handles.append(
            Line2D([], [], color=PEOPLE, linewidth=0.8, linestyle="--", label="learners")
        )
    handles.append(Line2D([], [], color=GUIDE, linewidth=1, label="chance"))
    return handles
