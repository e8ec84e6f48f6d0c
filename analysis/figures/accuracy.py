"""People beside models, row by row, as wide as a paper's column."""

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.figures.style import (
    COLUMN_INCHES,
    GUIDE,
    MODELS,
    PEOPLE,
    STYLE,
    TEXT,
    new_figure,
    warn_of_programs,
)
from analysis.side_by_side import Table
from analysis.statistics.accuracy import JUDGED

CHANCE = 0.5


def accuracy_figure(table: Table, *, simulated: bool) -> Figure:
    """Draw a table's rows: people with their intervals, published people, and each model.

    Args:
        table: A table of accuracies; its frame gives the rows, their labels and headings.
        simulated: Whether the figure must say that programs answered.
    """
    rows = table.frame.assign(place=_places(table.frame["group"]))
    height = 0.9 + 0.19 * rows["place"].max()
    with mpl.rc_context(STYLE):
        figure = new_figure(COLUMN_INCHES, height)
        axes = figure.add_subplot()
        _draw_frame(axes, rows)
        _draw_people(axes, rows)
        _draw_models(axes, rows, [c.over for c in table.columns if c.key.endswith(f"_{JUDGED}")])
        figure.legend(
            loc="outside upper left", ncols=2, frameon=False, handletextpad=0.3, columnspacing=1.2
        )
        if simulated:
            warn_of_programs(axes)
    return figure


def _places(groups: "pd.Series[str]") -> list[int]:
    """Return each row's place from the top; a new heading takes a place of its own."""
    places, place, current = [], 0, None
    for group in groups:
        place += 1 + (group != current and group != "")
        places.append(place)
        current = group
    return places


def _draw_frame(axes: Axes, rows: pd.DataFrame) -> None:
    axes.hlines(rows["place"], 0, 1, color=GUIDE, linewidth=0.5, zorder=0)
    axes.axvline(CHANCE, color=TEXT, linewidth=0.7, linestyle=(0, (3, 3)), zorder=1)
    axes.set_yticks(rows["place"], rows["label"])
    headed = rows[rows["group"] != ""]
    for group, first in headed.groupby("group", sort=False)["place"].min().items():
        # A heading may be wider than the labels, and must not push the axes aside.
        axes.annotate(
            str(group),
            (0.01, first - 1),
            xycoords=("figure fraction", "data"),
            weight="bold",
            va="center",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
            in_layout=False,
        )
    axes.set_ylim(rows["place"].max() + 0.7, 0.3)
    axes.set_xlim(-0.02, 1.02)
    axes.set_xticks([0, 0.25, CHANCE, 0.75, 1], ["0", ".25", ".5\nchance", ".75", "1"])
    axes.set_xlabel("accuracy")
    axes.tick_params(length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)


def _draw_people(axes: Axes, rows: pd.DataFrame) -> None:
    height = rows["place"] - 0.14
    axes.hlines(height, rows["people_low"], rows["people_high"], color=PEOPLE, linewidth=1.4)
    axes.plot(
        rows["people"],
        height,
        "o",
        color=PEOPLE,
        markersize=4.5,
        clip_on=False,
        label="People, 95% interval",
    )
    if "published_people" in rows:
        axes.plot(
            rows["published_people"],
            height,
            "o",
            color=PEOPLE,
            markerfacecolor="none",
            markeredgewidth=0.8,
            markersize=6.5,
            clip_on=False,
            label="People, published",
        )


def _draw_models(axes: Axes, rows: pd.DataFrame, models: list[str]) -> None:
    heights = np.linspace(0.1, 0.34, len(models)) if len(models) > 1 else [0.22]
    for number, (model, height) in enumerate(zip(models, heights, strict=True)):
        colour, marker = MODELS[number % len(MODELS)]
        axes.plot(
            rows[f"{model}_{JUDGED}"],
            rows["place"] + height,
            marker,
            color=colour,
            markersize=4,
            markeredgewidth=0,
            alpha=0.9,
            clip_on=False,
            label=model,
        )
