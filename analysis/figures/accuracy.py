"""Accuracies of participants and models, one per row, as wide as a paper's column."""

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.figures.drawing import (
    COLUMN_INCHES,
    GUIDE,
    MODELS,
    PAGE_INCHES,
    PEOPLE,
    STYLE,
    TEXT,
    new_figure,
    warn_of_programs,
)
from analysis.statistics.accuracy import JUDGED
from analysis.tables.accuracy_table import Table

CHANCE = 0.5
_LABEL_DISTANCE = 0.1
_ROW_INCHES, _MOST_INCHES = 0.19, 9.0
# The number of rows and headings that fit in one column of a page.
_MOST_PLACES = 42


def accuracy_figure(table: Table, *, simulated: bool, chance: float = CHANCE) -> Figure:
    """Draw the rows of a table: participants with intervals, published values, and each model.

    Args:
        table: A table of accuracies; its frame gives the rows, their labels and headings.
        simulated: Whether the figure must state that participants were simulated.
        chance: The accuracy of guessing.
    """
    panels = [
        rows.assign(place=_compute_row_positions(rows["group"]))
        for rows in _split_into_panels(table.frame)
    ]
    longest = max(rows["place"].max() for rows in panels)
    # Rows move closer together if they would exceed the height of a page.
    height = min(0.9 + _ROW_INCHES * longest, _MOST_INCHES)
    models = [c.spanner for c in table.columns if c.key.endswith(f"_{JUDGED}")]
    with mpl.rc_context(STYLE):
        figure = new_figure(COLUMN_INCHES if len(panels) == 1 else PAGE_INCHES, height)
        drawn = figure.subplots(1, len(panels), squeeze=False)[0]
        for number, (axes, rows) in enumerate(zip(drawn, panels, strict=True)):
            _draw_frame(axes, rows, number / len(panels), longest)
            _draw_chance(axes, chance)
            _draw_people(axes, rows)
            _draw_models(axes, rows, models)
        figure.legend(
            *drawn[0].get_legend_handles_labels(), loc="outside upper left",
            ncols=2 * len(panels), frameon=False, handletextpad=0.3, columnspacing=1.2,
        )  # fmt: skip
        if simulated:
            warn_of_programs(drawn[0])
    return figure


def _split_into_panels(frame: pd.DataFrame) -> list[pd.DataFrame]:
    """Return the rows, or two halves to draw side by side if they do not fit on a page."""
    places = np.array(_compute_row_positions(frame["group"]))
    if places[-1] <= _MOST_PLACES:
        return [frame]
    half = int(np.searchsorted(places, places[-1] / 2)) + 1
    return [frame.iloc[:half], frame.iloc[half:]]


def _compute_row_positions(groups: "pd.Series[str]") -> list[int]:
    """Return each row's position from the top; each new heading takes one position."""
    places, place, current = [], 0, None
    for group in groups:
        place += 1 + (group != current and group != "")
        places.append(place)
        current = group
    return places


def _draw_frame(axes: Axes, rows: pd.DataFrame, left: float, longest: int) -> None:
    axes.hlines(rows["place"], 0, 1, color=GUIDE, linewidth=0.5, zorder=0)
    axes.set_yticks(rows["place"], rows["label"])
    headed = rows[rows["group"] != ""]
    for group, first in headed.groupby("group", sort=False)["place"].min().items():
        # A heading may be wider than the labels, and must not shrink the axes.
        axes.annotate(
            str(group),
            (left + 0.01, first - 1),
            xycoords=("figure fraction", "data"),
            weight="bold",
            va="center",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
            in_layout=False,
        )
    axes.set_ylim(longest + 0.7, 0.3)
    axes.set_xlim(-0.02, 1.02)
    axes.set_xlabel("accuracy")
    axes.tick_params(length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)


def _draw_chance(axes: Axes, chance: float) -> None:
    axes.axvline(chance, color=TEXT, linewidth=0.7, linestyle=(0, (3, 3)), zorder=1)
    other_ticks = {0: "0", 0.25: ".25", 0.5: ".5", 0.75: ".75", 1: "1"}
    ticks = {at: text for at, text in other_ticks.items() if abs(at - chance) >= _LABEL_DISTANCE}
    ticks[chance] = f"{f'{chance:.2g}'.lstrip('0')}\nchance"
    axes.set_xticks(sorted(ticks), [ticks[at] for at in sorted(ticks)])


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
    heights = np.linspace(0.1, 0.34, len(models)) if len(models) > 1 else [0.22] * len(models)
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
