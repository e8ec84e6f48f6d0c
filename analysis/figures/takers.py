"""Model participants' accuracy on every construction in every reading, one panel per model."""

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.figures.drawing import (
    GUIDE,
    MODELS,
    PAGE_INCHES,
    PEOPLE,
    POINTS,
    STYLE,
    TEXT,
    WARNING,
    bare,
    new_figure,
    warn_of_programs,
)

_INCHES_OF_A_READING, _MOST_INCHES = 0.075, 9.0
_SPREAD = 0.36


def readings_figure(frame: pd.DataFrame, *, simulated: bool, chance: float) -> Figure:
    """Draw each model's accuracy in each reading, next to the human participants' accuracy.

    Args:
        frame: A frame from ``analysis.statistics.takers.compare_by_elicitation``, in the order of
            the rows, with ``label``, the construction's title.
        simulated: Whether the figure must state that participants were simulated.
        chance: The accuracy of guessing.
    """
    models, readings = (list(dict.fromkeys(frame[name])) for name in ("model", "reading"))
    rows = list(dict.fromkeys(frame["label"]))
    row_inches = 0.1 + _INCHES_OF_A_READING * (len(readings) + 1)
    with mpl.rc_context(STYLE):
        height = min(1.1 + row_inches * len(rows), _MOST_INCHES)
        figure = new_figure(PAGE_INCHES, height)
        drawn = figure.subplots(1, len(models), sharey=True, squeeze=False)[0]
        for axes, model in zip(drawn, models, strict=True):
            own = frame[frame["model"] == model]
            _draw_frame(axes, model, rows, chance)
            _draw_people(axes, own, rows)
            for number, reading in enumerate(readings):
                _draw_reading(axes, own[own["reading"] == reading], rows, number, len(readings))
        handles, labels = drawn[0].get_legend_handles_labels()
        for axes in drawn[1:]:
            for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
                if label not in labels:
                    handles, labels = [*handles, handle], [*labels, label]
        figure.legend(
            handles, labels, loc="outside upper left", ncols=len(labels), frameon=False,
            handletextpad=0.3, columnspacing=1.2,
        )  # fmt: skip
        if simulated:
            warn_of_programs(drawn[0])
            # On a separate line, above the models' names.
            title = drawn[0].get_title(loc="left")
            drawn[0].set_title(f"{title}\n", loc="left", color=WARNING, fontsize=POINTS)
    return figure


def _draw_frame(axes: Axes, model: str, rows: list[str], chance: float) -> None:
    bare(axes)
    axes.spines["left"].set_visible(False)
    axes.set_title(model, loc="right")
    # Every second row is shaded, so that the marks of a row are easy to follow.
    for place in range(0, len(rows), 2):
        axes.axhspan(place - 0.5, place + 0.5, color=GUIDE, alpha=0.35, linewidth=0, zorder=0)
    axes.axvline(chance, color=TEXT, linewidth=0.7, linestyle=(0, (3, 3)), zorder=1)
    axes.set_yticks(range(len(rows)), rows)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlim(-0.02, 1.02)
    axes.set_xticks([0, 0.5, 1], ["0", ".5", "1"])
    axes.set_xlabel("accuracy")


def _draw_people(axes: Axes, own: pd.DataFrame, rows: list[str]) -> None:
    means = own.groupby("label", sort=False)["people"].mean()
    places = [rows.index(label) for label in means.index]
    axes.vlines(
        means, np.array(places) - 0.45, np.array(places) + 0.45, color=PEOPLE, linewidth=1.6,
        label="People", zorder=2,
    )  # fmt: skip


def _draw_reading(
    axes: Axes, own: pd.DataFrame, rows: list[str], number: int, n_readings: int
) -> None:
    if own.empty:
        return
    colour, marker = MODELS[number % len(MODELS)]
    offset = np.linspace(-_SPREAD, _SPREAD, n_readings)[number] if n_readings > 1 else 0.0
    heights = np.array([rows.index(label) for label in own["label"]]) + offset
    axes.hlines(heights, own["model_low"], own["model_high"], color=colour, linewidth=0.9, zorder=3)
    axes.plot(
        own["accuracy"], heights, marker, color=colour, markersize=3.6, markeredgewidth=0,
        clip_on=False, zorder=4, label=str(own["reading"].iloc[0]).replace("_", " "),
    )  # fmt: skip
