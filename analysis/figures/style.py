"""How every figure looks: a paper's column wide, told apart with any colour vision."""

from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.typing import RcKeyType

COLUMN_INCHES, PAGE_INCHES = 3.5, 7.0
POINTS = 7

# Okabe and Ito's palette, which readers with any colour vision tell apart; shapes differ as well.
PEOPLE = "#0072B2"
MODELS = (
    ("#D55E00", "D"),
    ("#009E73", "s"),
    ("#CC79A7", "^"),
    ("#E69F00", "v"),
    ("#56B4E9", "P"),
    ("#000000", "X"),
)
GUIDE, TEXT, WARNING = "#D9D9D9", "#333333", "#B3261E"
# The salt gives the same bytes for the same data.
STYLE: dict[RcKeyType, Any] = {
    "svg.hashsalt": "parallax",
    "pdf.fonttype": 42,
    "font.size": POINTS,
    "axes.titlesize": POINTS,
    "text.color": TEXT,
    "axes.labelcolor": TEXT,
    "axes.edgecolor": TEXT,
    "xtick.color": TEXT,
    "ytick.color": TEXT,
}


def new_figure(width_inches: float, height_inches: float) -> Figure:
    """Return an empty figure that lays itself out; draw on it below ``mpl.rc_context(STYLE)``."""
    with mpl.rc_context(STYLE):
        return Figure(figsize=(width_inches, height_inches), layout="constrained")


def bare(axes: Axes) -> None:
    """Take away the lines of the axes that carry no number."""
    axes.tick_params(length=0)
    axes.spines[["top", "right"]].set_visible(False)


def warn_of_programs(axes: Axes) -> None:
    """Write above the axes that programs answered, not people."""
    axes.set_title("SIMULATED PARTICIPANTS", loc="left", fontsize=POINTS, color=WARNING)
