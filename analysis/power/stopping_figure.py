"""The figure of a stopping rule: when simulated studies stop, at what cost, in what time."""

from itertools import cycle

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from analysis.figures.drawing import (
    GUIDE,
    MODELS,
    PAGE_INCHES,
    PEOPLE,
    STYLE,
    TEXT,
    hide_unlabelled_axes,
    new_figure,
)
from analysis.power.base import PowerOptions, compute_session_minutes
from analysis.statistics.resample import Floats
from experiment.stopping.rule import Reason
from experiment.studies.study import Study

ALL = "All comparisons"
_HEIGHT_INCHES = 2.8
_MINUTES = 60


def draw_stops(
    fixed: pd.DataFrame, stops: pd.DataFrame, study: Study, options: PowerOptions
) -> Figure:
    """Draw what a fixed number of participants and the rule show, and how long studies go on."""
    rule = study.stopping
    assert rule is not None
    with mpl.rc_context(STYLE):
        figure = new_figure(PAGE_INCHES, _HEIGHT_INCHES)
        left, right = figure.subplots(1, 2)
        for (name, rows), (colour, _) in zip(
            stops.groupby("construction", sort=False), cycle(MODELS), strict=False
        ):
            colour = PEOPLE if name == ALL else colour
            numbers = range(rule.maximum + 1)
            shown = rows.loc[rows["reason"] == Reason.DIFFERENCE, "n_at_stop"].to_numpy()
            stopped = rows["n_at_stop"].to_numpy()
            label = str(name)
            by_then = [np.sum(shown <= n) / len(rows) for n in numbers]
            left.step(numbers, by_then, where="post", color=colour, label=label)
            going_on = [np.mean(stopped > n) for n in numbers]
            right.step(numbers, going_on, where="post", color=colour)
            right.axvline(stopped.mean(), color=colour, linewidth=0.7, linestyle=(0, (3, 3)))
            if {"construction", "kept", "power"} <= {*fixed}:
                of_name = fixed[fixed["construction"] == name]
                left.plot(of_name["kept"], of_name["power"], "o:", color=colour, markersize=3)
        left.plot([], [], "o:", color=TEXT, markersize=3, label="fixed number of participants")
        left.plot([], [], color=TEXT, linewidth=0.7, linestyle=(0, (3, 3)), label="mean stop")
        left.set_ylabel("share that shows the effect")
        right.set_ylabel("share that goes on")
        for axes in (left, right):
            axes.set_xlabel("kept participants")
            axes.set_ylim(-0.02, 1.02)
            axes.grid(axis="y", color=GUIDE, linewidth=0.5)
            hide_unlabelled_axes(axes)
        recruited = float((stops["recruited"] / stops["n_at_stop"]).mean())
        if options.cost is not None:
            _add_scale(left, recruited * options.cost, "cost")
        hours = recruited * compute_session_minutes(study) / _MINUTES
        _add_scale(right, hours, "hours of participants' time")
        figure.legend(*left.get_legend_handles_labels(), loc="outside upper left", ncols=3,
                      frameon=False)  # fmt: skip
    return figure


def _add_scale(axes: Axes, of_participant: float, label: str) -> None:
    """Add an axis above that shows what the kept participants cost or take."""

    def find_total(kept: ArrayLike) -> Floats:
        return np.asarray(kept) * of_participant

    def find_kept(total: ArrayLike) -> Floats:
        return np.asarray(total) / of_participant

    if of_participant > 0:
        above = axes.secondary_xaxis("top", functions=(find_total, find_kept))
        above.set_xlabel(label)
        above.tick_params(length=0)
