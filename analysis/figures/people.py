"""How participants answered: calibration of models, and accuracy over the session."""

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
    hide_unlabelled_axes,
    new_figure,
    warn_of_programs,
)

_HEIGHT_INCHES = 2.5
_MS_PER_S = 1000


def calibration_figure(bins: pd.DataFrame, *, simulated: bool, chance: float = 0.5) -> Figure:
    """Draw the share of good choices against each model's log-probability difference.

    Args:
        bins: ``judge``, ``difference_nats``, ``share_good``, ``low``, ``high`` and ``fitted``, one
            row per model and bin of items.
        simulated: Whether the figure must state that participants were simulated.
        chance: The accuracy of guessing.
    """
    with mpl.rc_context(STYLE):
        figure = new_figure(COLUMN_INCHES, _HEIGHT_INCHES)
        axes = figure.add_subplot()
        axes.axvline(0, color=GUIDE, linewidth=0.7)
        axes.axhline(chance, color=TEXT, linewidth=0.7, linestyle=(0, (3, 3)))
        for number, (model, rows) in enumerate(bins.groupby("judge", sort=False)):
            colour, marker = MODELS[number % len(MODELS)]
            _draw_error_bars(
                axes, rows, "difference_nats", "share_good", colour, marker, str(model)
            )
            axes.plot(rows["difference_nats"], rows["fitted"], color=colour, linewidth=1)
        axes.set_xlabel("log-probability of good minus other (nats)")
        axes.set_ylabel("people who chose good")
        axes.set_ylim(-0.02, 1.02)
        hide_unlabelled_axes(axes)
        if simulated:
            warn_of_programs(axes)
        figure.legend(loc="outside upper left", ncols=3, frameon=False)
    return figure


def session_figure(learning: pd.DataFrame, speed: pd.DataFrame, *, simulated: bool) -> Figure:
    """Draw accuracy over the course of the session, and against reaction time.

    Args:
        learning: ``first``, ``last`` (trials of a block), ``accuracy``, ``low``, ``high``.
        speed: ``rt_median_ms``, ``accuracy``, ``low``, ``high``, one row per fifth of reaction
            times.
        simulated: Whether the figure must state that participants were simulated.
    """
    with mpl.rc_context(STYLE):
        figure = new_figure(PAGE_INCHES, _HEIGHT_INCHES)
        left, right = figure.subplots(1, 2, sharey=True)
        blocks = learning.assign(trial=(learning["first"] + learning["last"]) / 2)
        _draw_error_bars(left, blocks, "trial", "accuracy", PEOPLE, "o", "")
        left.set_xlabel("trial")
        left.set_ylabel("accuracy")
        fifths = speed.assign(seconds=speed["rt_median_ms"] / _MS_PER_S)
        _draw_error_bars(right, fifths, "seconds", "accuracy", PEOPLE, "o", "")
        right.set_xlabel("median reaction time of each fifth (s)")
        for axes in (left, right):
            hide_unlabelled_axes(axes)
        if simulated:
            warn_of_programs(left)
    return figure


def participants_figure(people: pd.DataFrame, *, simulated: bool) -> Figure:
    """Draw a histogram of participants' accuracies.

    Args:
        people: ``accuracy``, one row per participant.
        simulated: Whether the figure must state that participants were simulated.
    """
    with mpl.rc_context(STYLE):
        figure = new_figure(COLUMN_INCHES, _HEIGHT_INCHES)
        axes = figure.add_subplot()
        lowest = min(0.5, float(np.floor(people["accuracy"].min() * 20) / 20))
        axes.hist(
            people["accuracy"],
            bins=np.arange(lowest, 1.051, 0.05).tolist(),
            color=PEOPLE,
            edgecolor="white",
        )
        axes.set_xlabel("accuracy of a participant")
        axes.set_ylabel("participants")
        hide_unlabelled_axes(axes)
        if simulated:
            warn_of_programs(axes)
    return figure


def _draw_error_bars(
    axes: Axes, rows: pd.DataFrame, x: str, y: str, colour: str, marker: str, label: str
) -> None:
    axes.vlines(rows[x], rows["low"], rows["high"], color=colour, linewidth=1)
    axes.plot(rows[x], rows[y], marker, color=colour, markersize=4, markeredgewidth=0, label=label)
