"""Figures that are drawn on demand, in one style, and saved in every format."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.typing import RcKeyType

from analysis.tables.section import Section

FORMATS = ("svg", "pdf", "png")
# Without dates, the same data give the same bytes.
_METADATA: Mapping[str, Mapping[str, None]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
COLUMN_INCHES, PAGE_INCHES = 3.5, 7.0
FONT_POINTS = 7
# Okabe and Ito's palette, suitable for all types of colour vision; shapes differ as well.
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
# With a fixed salt, the same data give the same bytes.
STYLE: dict[RcKeyType, Any] = {
    "svg.hashsalt": "parallax",
    "pdf.fonttype": 42,
    "font.size": FONT_POINTS,
    "axes.titlesize": FONT_POINTS,
    "text.color": TEXT,
    "axes.labelcolor": TEXT,
    "axes.edgecolor": TEXT,
    "xtick.color": TEXT,
    "ytick.color": TEXT,
}


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure with its title and caption.

    Attributes:
        name: The stem of its file names.
        title: The title, such as "Figure 1".
        caption: A caption complete enough for a paper.
        section: The report's section that contains it.
        draw: Draws the figure.
    """

    name: str
    title: str
    caption: str
    section: Section
    draw: Callable[[], Figure]


def save_drawing(drawing: Drawing, folder: Path) -> list[Path]:
    """Draw a figure, save it in every format, and return the files, SVG first."""
    with mpl.rc_context(STYLE):
        return save_figure(drawing.draw(), folder, drawing.name)


def save_figure(figure: Figure, folder: Path, name: str) -> list[Path]:
    """Save a figure in every format, and return the files, SVG first."""
    paths = [folder / f"{name}.{suffix}" for suffix in FORMATS]
    with mpl.rc_context(STYLE):
        for suffix, path in zip(FORMATS, paths, strict=True):
            figure.savefig(path, format=suffix, dpi=300, metadata=dict(_METADATA.get(suffix, {})))
            # The layout is computed for the first format and reused for the others: a new
            # layout would require drawing each figure twice.
            figure.set_layout_engine(None)
    return paths


def new_figure(width_inches: float, height_inches: float) -> Figure:
    """Return an empty figure with automatic layout; draw on it within ``mpl.rc_context(STYLE)``."""
    with mpl.rc_context(STYLE):
        return Figure(figsize=(width_inches, height_inches), layout="constrained")


def hide_unlabelled_axes(axes: Axes) -> None:
    """Remove the axis lines that carry no numbers."""
    axes.tick_params(length=0)
    axes.spines[["top", "right"]].set_visible(False)


def warn_of_programs(place: Axes | Figure) -> None:
    """Write above axes, or a figure whose axes have titles, that participants were simulated."""
    words = "SIMULATED PARTICIPANTS"
    if isinstance(place, Figure):
        place.suptitle(words, x=0.01, ha="left", fontsize=FONT_POINTS, color=WARNING)
    else:
        place.set_title(words, loc="left", fontsize=FONT_POINTS, color=WARNING)
