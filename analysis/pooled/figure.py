"""The figure of several languages or sites: own and partially pooled effects, and their mean."""

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
    new_figure,
    warn_of_programs,
)
from analysis.findings.comparison_words import words_of
from analysis.statistics.resample import Floats

_ROW_INCHES, _PANEL_INCHES, _LEGEND_INCHES = 0.2, 0.75, 0.25
_APART = 0.16  # of own and pooled marks in a row
_POOLED_COLOUR = MODELS[0][0]


def pooled_figure(
    pooled: pd.DataFrame, by_report: pd.DataFrame, *, noun: str, simulated: bool
) -> Figure:
    """Draw a panel for each comparison, with a row for each report and one for their mean.

    Args:
        pooled: A row for each comparison, from ``effects.pool_comparisons``.
        by_report: A row for each comparison and report.
        noun: What the reports are of.
        simulated: Whether the figure must state that participants were simulated.
    """
    panels = [
        (row, by_report[(by_report["name"] == row["name"]) & (by_report["judge"] == row["judge"])])
        for row in pooled.to_dict("records")
    ]
    heights = [_PANEL_INCHES + _ROW_INCHES * (len(own) + 1) for _, own in panels]
    with mpl.rc_context(STYLE):
        figure = new_figure(PAGE_INCHES, sum(heights) + _LEGEND_INCHES)
        axes_of_panels = figure.subplots(len(panels), 1, squeeze=False, height_ratios=heights)
        for axes, (row, own) in zip(axes_of_panels[:, 0], panels, strict=True):
            _draw_panel(axes, row, own, noun)
        first = axes_of_panels[0, 0]
        figure.legend(
            *first.get_legend_handles_labels(), loc="outside upper left", ncols=4, frameon=False
        )
        if simulated:
            warn_of_programs(first)
    return figure


def _draw_panel(axes: Axes, row: dict[object, object], own: pd.DataFrame, noun: str) -> None:
    words = words_of(str(row["measure"]), str(row["response"]))
    place = np.arange(len(own))[::-1] + 1.0
    scale = np.vectorize(words.scale, otypes=[float])
    columns_drawn = ["estimate", "low", "high", "partly_low", "partly_high"]
    values = np.array([*own[columns_drawn].to_numpy(float).ravel(), row["low"], row["high"],
                       row["next_low"], row["next_high"]])  # fmt: skip
    finite = values[np.isfinite(values)]
    ends = float(finite.min()), float(finite.max())
    axes.axvline(0, color=GUIDE, zorder=0)
    for columns, offset, colour, marker, label in (
        (("estimate", "low", "high"), _APART, PEOPLE, "o", f"each {noun} by itself"),
        (("partly", "partly_low", "partly_high"), -_APART, _POOLED_COLOUR, "D",
         "partially pooled"),
    ):  # fmt: skip
        middle, low, high = (
            scale(_within(ends, own[column].to_numpy(float))) for column in columns
        )
        axes.hlines(place + offset, low, high, color=colour, linewidth=0.9)
        axes.plot(middle, place + offset, marker, color=colour, markersize=3, label=label)
    keys = ("mean", "low", "high", "next_low", "next_high")
    of_mean = _within(ends, np.array([row[key] for key in keys], float))
    mean, low, high, next_low, next_high = scale(of_mean)
    axes.hlines([0], next_low, next_high, color=TEXT, linewidth=0.6, linestyle=":",
                label=f"a further {noun}")  # fmt: skip
    axes.hlines([0], low, high, color=TEXT, linewidth=2)
    axes.plot([mean], [0], "s", color=TEXT, markersize=4, label=f"mean of {noun}s")
    axes.set_yticks([*place, 0], [*own["report"], "mean"])
    axes.set_ylim(-0.7, len(own) + 0.7)
    judge = f": {row['judge']}" if row["judge"] else ""
    axes.set_xlabel(f"{row['name']}{judge}" + (f", in {words.unit}" if words.unit else ""))
    axes.spines[["top", "right"]].set_visible(False)


def _within(ends: tuple[float, float], values: Floats) -> Floats:
    """Return values with infinite ones, of one-sided intervals, at the outermost finite ones."""
    return np.where(np.isinf(values), np.clip(values, *ends), values)
