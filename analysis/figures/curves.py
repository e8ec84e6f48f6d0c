"""Word-by-word log-probabilities, one panel for each condition of a construction."""

from math import ceil

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
    bare,
    new_figure,
)

_PANEL_INCHES = 1.9
_SIDE_BY_SIDE = 2
_LONGEST_LABEL = 22
_OTHER = MODELS[0][0]


def curves_figure(found: pd.DataFrame) -> Figure:
    """Draw one model's curves for the good and the other version of one construction.

    Args:
        found: Rows of ``analysis.findings.curves.curves`` for one model and one construction.
    """
    conditions = list(found.groupby("condition", sort=False))
    columns = min(_SIDE_BY_SIDE, len(conditions))
    rows = ceil(len(conditions) / columns)
    with mpl.rc_context(STYLE):
        figure = new_figure(PAGE_INCHES * columns / _SIDE_BY_SIDE, 0.35 + _PANEL_INCHES * rows)
        panels = figure.subplots(rows, columns, squeeze=False, sharey=True).ravel()
        for axes, (condition, places) in zip(panels, conditions, strict=False):
            _draw(axes, str(condition), places)
        for axes in panels[len(conditions) :]:
            axes.set_axis_off()
        figure.supylabel("log-probability (nats)", fontsize=POINTS)
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper left", ncols=2,
                      frameon=False)  # fmt: skip
    return figure


def _draw(axes: Axes, condition: str, places: pd.DataFrame) -> None:
    at = np.arange(len(places))
    differs = np.flatnonzero(places["label"].str.contains(" / ", regex=False))
    if len(differs):
        axes.axvspan(differs[0] - 0.5, differs[0] + 0.5, color=GUIDE, alpha=0.5, linewidth=0)
    axes.plot(at, places["good_nats"], "o-", color=PEOPLE, markersize=3, linewidth=1, label="good")
    axes.plot(
        at, places["other_nats"], "D--", color=_OTHER, markersize=2.6, linewidth=1, label="other"
    )
    axes.set_xticks(at, [_short(label) for label in places["label"]], rotation=40, ha="right",
                    rotation_mode="anchor")  # fmt: skip
    axes.set_title(f"{condition} (n = {places['n_items'].iloc[0]})", loc="left")
    bare(axes)


def _short(label: str) -> str:
    label = label.removeprefix("e.g. ")
    return label if len(label) <= _LONGEST_LABEL else f"{label[: _LONGEST_LABEL - 1]}\u2026"
