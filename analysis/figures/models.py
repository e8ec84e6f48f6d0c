"""Accuracy of models (and participants, if any) over the values of one item feature."""

from collections.abc import Collection

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
    STYLE,
    TEXT,
    bare,
    new_figure,
)
from analysis.tables.accuracy_table import Table

CHANCE = 50
_PANEL_INCHES = 2.2
_ROW_INCHES = 0.22
_SIDE_BY_SIDE = 2
_ACCURACY, _WIDE = "accuracy (%)", (-3, 103)
_LINES = ("-", "--", "-.", ":")


def by_feature_figure(table: Table, people: Collection[str] = ()) -> Figure:
    """Draw accuracies in per cent, one panel per condition, with deviations over models.

    Numeric values are on the horizontal axis, joined by lines; names are in rows.

    Args:
        table: A table from ``analysis.findings.models.accuracy_by``.
        people: The groups of human participants.
    """
    conditions = [column.key for column in table.columns if column.form == "spread"]
    frame = table.frame
    labels = list(dict.fromkeys(frame["label"]))
    ordered = all(label.isdecimal() for label in labels)
    labels = sorted(labels, key=int) if ordered else labels
    height = _PANEL_INCHES if ordered else 0.6 + _ROW_INCHES * len(labels)
    width = PAGE_INCHES * min(len(conditions), _SIDE_BY_SIDE) / _SIDE_BY_SIDE
    with mpl.rc_context(STYLE):
        figure = new_figure(width, height + 0.3)
        panels = figure.subplots(1, len(conditions), squeeze=False, sharey=True)[0]
        for axes, condition in zip(panels, conditions, strict=True):
            (_along if ordered else _in_rows)(axes, labels, frame, condition)
            _draw(axes, _placed(frame, labels), condition, people, ordered=ordered)
            axes.set_title(condition, loc="left")
            bare(axes)
        if ordered:
            panels[0].set_ylabel(_ACCURACY)
        for axes in panels:
            axes.set_xlabel(_plain(table.name.removeprefix("by_")) if ordered else _ACCURACY)
        handles = panels[0].get_legend_handles_labels()
        figure.legend(*handles, loc="outside upper left", ncols=4, frameon=False)
    return figure


def _plain(name: str) -> str:
    return " ".join(name.replace("_", " ").split())


def _placed(frame: pd.DataFrame, labels: list[str]) -> pd.DataFrame:
    return frame.assign(place=frame["label"].map({one: n for n, one in enumerate(labels)}))


def _along(axes: Axes, labels: list[str], frame: pd.DataFrame, condition: str) -> None:
    n_items = frame.groupby("label")[f"{condition}_n"].max()
    ticks = [f"{one}\nn = {n_items[one]:,.0f}" if n_items[one] > 0 else one for one in labels]
    axes.set_xticks(range(len(labels)), ticks)
    axes.axhline(CHANCE, color=TEXT, linewidth=0.7, linestyle=(0, (3, 3)), zorder=1)
    axes.grid(axis="y", color=GUIDE, linewidth=0.5)
    axes.set_ylim(_WIDE)


def _in_rows(axes: Axes, labels: list[str], _: pd.DataFrame, __: str) -> None:
    axes.set_yticks(range(len(labels)), [_plain(label) for label in labels])
    axes.set_xlim(_WIDE)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.hlines(range(len(labels)), 0, 100, color=GUIDE, linewidth=0.5, zorder=0)
    axes.axvline(CHANCE, color=TEXT, linewidth=0.7, linestyle=(0, (3, 3)), zorder=1)


def _draw(
    axes: Axes, frame: pd.DataFrame, condition: str, people: Collection[str], *, ordered: bool
) -> None:
    groups = [str(one) for one in dict.fromkeys(frame["group"])]
    # Lines and deviations that would overlap are drawn side by side.
    shifts = np.linspace(-1, 1, len(groups)) * (0.08 if ordered else 0.22) if groups[1:] else [0.0]
    models = 0
    for group, shift in zip(groups, shifts, strict=True):
        rows = frame[(frame["group"] == group) & frame[condition].notna()].sort_values("place")
        colour, marker, line = PEOPLE, "o", "-"
        if group not in people:
            colour, marker = MODELS[models % len(MODELS)]
            line = _LINES[models % len(_LINES)]
            models += 1
        value, spread = 100 * rows[condition], 100 * rows[f"{condition}_sd"].fillna(0)
        place = rows["place"] + shift
        at = {"x": place, "y": value, "yerr": spread}
        if not ordered:
            at, line = {"x": value, "y": place, "xerr": spread}, "none"
        axes.errorbar(**at, fmt=marker, linestyle=line, color=colour, markersize=4, linewidth=1,
                      elinewidth=0.8, markeredgewidth=0, label=group)  # fmt: skip
