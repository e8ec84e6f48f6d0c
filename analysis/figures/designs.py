"""Figures of designs: ratings by condition, reading times by region, and their surprisal."""

from collections.abc import Mapping, Sequence

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.figures.drawing import (
    MODELS,
    PAGE_INCHES,
    PEOPLE,
    STYLE,
    hide_unlabelled_axes,
    new_figure,
    warn_of_programs,
)

_ACROSS, _HEIGHT_INCHES = 2, 2.4
_CELL_STYLES = ((PEOPLE, "o"), *MODELS)
# Shift the points, so that several lines do not hide each other's intervals.
_DODGE = 0.06


def cells_figure(
    panels: Mapping[str, pd.DataFrame],
    factors: Mapping[str, Sequence[Sequence[str]]],
    *,
    simulated: bool,
    measured: str = "mean rating",
) -> Figure:
    """Draw each cell's mean with its interval; with two factors, one line per level of the first.

    Args:
        panels: By title: first, second (levels), mean, low, high; one row per cell.
        factors: By title: the levels of each factor in order.
        simulated: Whether the figure must state that participants were simulated.
        measured: The label of the vertical axis.
    """
    down = -(-len(panels) // _ACROSS)
    across = min(_ACROSS, len(panels))
    with mpl.rc_context(STYLE):
        figure = new_figure(PAGE_INCHES, _HEIGHT_INCHES * down)
        grid = figure.subplots(down, across, squeeze=False, sharey=True).ravel()
        for index, (title, rows) in enumerate(panels.items()):
            _draw_panel(grid[index], title, rows, factors[title])
            grid[index].set_ylabel(measured)
        for axes in grid[len(panels) :]:
            axes.set_visible(False)
        if simulated:
            warn_of_programs(grid[0])
    return figure


def _draw_panel(
    axes: Axes, title: str, rows: pd.DataFrame, factors: Sequence[Sequence[str]]
) -> None:
    several = len(factors) == 2
    lines = factors[0] if several else [""]
    levels = list(factors[-1])
    for number, line in enumerate(lines):
        line_rows = rows[rows["first"] == line] if several else rows
        key = line_rows["second" if several else "first"]
        line_rows = line_rows.assign(x=key.map(levels.index)).sort_values("x")
        x = line_rows["x"] + _DODGE * (number - (len(lines) - 1) / 2)
        ends = [line_rows["mean"] - line_rows["low"], line_rows["high"] - line_rows["mean"]]
        colour, marker = _CELL_STYLES[number % len(_CELL_STYLES)]
        axes.errorbar(
            x, line_rows["mean"], ends, color=colour, marker=marker, markersize=4, linewidth=1,
            elinewidth=0.8, linestyle="-" if several else "none", label=line,
        )  # fmt: skip
    axes.set_xticks(range(len(levels)), levels)
    axes.set_xlim(-0.5, len(levels) - 0.5)
    axes.set_xlabel(title)
    hide_unlabelled_axes(axes)
    if several:
        _place_legend(axes)


def _place_legend(axes: Axes) -> None:
    """Place the legend to the right of the points, where it hides none."""
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))


_LINE_STYLES = ((PEOPLE, "o"), *MODELS)
_REGIONS_INCHES, _REGION_STEP, _LONGEST = 2.4, 0.08, 14


def regions_figure(panels: Mapping[str, pd.DataFrame], *, simulated: bool) -> Figure:
    """Draw the mean reading time of each region, with its interval.

    Args:
        panels: By title: region, cell, example, rt_ms, rt_ms_low, rt_ms_high.
        simulated: Whether the figure must state that participants were simulated.
    """
    with mpl.rc_context(STYLE):
        figure = new_figure(PAGE_INCHES, _REGIONS_INCHES * len(panels))
        grid = figure.subplots(len(panels), 1, squeeze=False).ravel()
        for axes, (title, rows) in zip(grid, panels.items(), strict=True):
            cells = list(dict.fromkeys(rows["cell"].astype(str)))
            for number, cell in enumerate(cells):
                cell_rows = rows[rows["cell"].astype(str) == cell]
                x = cell_rows["region"] + _REGION_STEP * (number - (len(cells) - 1) / 2)
                ends = [
                    cell_rows["rt_ms"] - cell_rows["rt_ms_low"],
                    cell_rows["rt_ms_high"] - cell_rows["rt_ms"],
                ]
                colour, marker = _LINE_STYLES[number % len(_LINE_STYLES)]
                axes.errorbar(
                    x, cell_rows["rt_ms"], np.nan_to_num(ends), color=colour, marker=marker,
                    markersize=4, linewidth=1, elinewidth=0.8, label=cell,
                )  # fmt: skip
            texts = rows.groupby("region")["example"].unique()
            words = ["\n".join(_shorten_label(str(text)) for text in shown) for shown in texts]
            axes.set_xticks(texts.index, words)
            axes.set_ylabel("reading time (ms)")
            axes.set_xlabel(title)
            _place_legend(axes)
            hide_unlabelled_axes(axes)
        if simulated:
            warn_of_programs(grid[0])
    return figure


def shapes_figure(curves: pd.DataFrame, *, simulated: bool) -> Figure:
    """Draw log reading time by surprisal: a line with a confidence band for each model.

    Args:
        curves: model, surprisal_bits, log_rt, low, high.
        simulated: Whether the figure must state that participants were simulated.
    """
    with mpl.rc_context(STYLE):
        figure = new_figure(PAGE_INCHES, _REGIONS_INCHES)
        axes = figure.subplots()
        for number, (model, rows) in enumerate(curves.groupby("model", sort=False)):
            colour, _ = _LINE_STYLES[number % len(_LINE_STYLES)]
            x = rows["surprisal_bits"]
            axes.fill_between(x, rows["low"], rows["high"], color=colour, alpha=0.15, linewidth=0)
            axes.plot(x, rows["log_rt"], color=colour, linewidth=1.2, label=str(model))
        axes.set_xlabel("surprisal (bits)")
        axes.set_ylabel("log reading time, around its mean")
        axes.legend(frameon=False)
        hide_unlabelled_axes(axes)
        if simulated:
            warn_of_programs(axes)
    return figure


def _shorten_label(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}\N{HORIZONTAL ELLIPSIS}"
