"""Power and interval width by number of participants."""

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.figures.drawing import GUIDE, PAGE_INCHES, PEOPLE, STYLE, TEXT, bare, new_figure
from analysis.power.simulated_choices import OVERALL

_HEIGHT_INCHES = 2.6


def power_figure(
    found: pd.DataFrame,
    *,
    difference: float,
    wanted_width: float,
    single: str = "each construction",
) -> Figure:
    """Draw interval half-widths and power: a thin line per construction, a bold line overall.

    Args:
        found: A summary of ``analysis.power.simulated_choices``.
        difference: The difference to detect.
        wanted_width: The target half-width; drawn as a dashed line.
        single: The label of the thin lines.
    """
    with mpl.rc_context(STYLE):
        figure = new_figure(PAGE_INCHES, _HEIGHT_INCHES)
        left, right = figure.subplots(1, 2)
        _lines(left, found, "half_width", wanted_width, single)
        left.set_ylabel("half the width of the 95% interval")
        left.set_ylim(bottom=0)
        _lines(right, found, "power", 0.8, single)
        right.set_ylabel(f"power to detect a difference of {difference:g}")
        right.set_ylim(-0.02, 1.02)
        figure.legend(*left.get_legend_handles_labels(), loc="outside upper left", ncols=2,
                      frameon=False)  # fmt: skip
    return figure


def _lines(axes: Axes, found: pd.DataFrame, value: str, wanted: float, single: str) -> None:
    axes.axhline(wanted, color=TEXT, linewidth=0.7, linestyle=(0, (3, 3)))
    for name, rows in found.groupby("construction", sort=False):
        overall = name == OVERALL
        axes.plot(
            rows["per_list"],
            rows[value],
            "o-",
            color=PEOPLE if overall else "#999999",
            linewidth=1.8 if overall else 0.7,
            markersize=3.5 if overall else 0,
            zorder=3 if overall else 2,
            label=OVERALL if overall else single,
        )
        single = single if overall else "_nolegend_"
    axes.set_xlabel("participants per list, before exclusions")
    axes.grid(axis="y", color=GUIDE, linewidth=0.5)
    bare(axes)
