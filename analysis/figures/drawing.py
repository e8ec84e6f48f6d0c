"""A figure to be drawn when it is wanted, and written in every format."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from analysis.figures.style import STYLE
from analysis.tables.section import Section

FORMATS = ("svg", "pdf", "png")
# Missing dates give the same bytes for the same data.
_METADATA: Mapping[str, Mapping[str, None]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure with its words.

    Attributes:
        name: The stem of its files.
        title: What to call it, such as "Figure 1".
        caption: What it shows and how to read it, complete enough for a paper.
        section: The report's section that contains it.
        draw: Draws it.
    """

    name: str
    title: str
    caption: str
    section: Section
    draw: Callable[[], Figure]


def save_drawing(drawing: Drawing, folder: Path) -> list[Path]:
    """Draw a figure, write it in every format and return the files, SVG first."""
    with mpl.rc_context(STYLE):
        return save_figure(drawing.draw(), folder, drawing.name)


def save_figure(figure: Figure, folder: Path, name: str) -> list[Path]:
    """Write a figure in every format and return the files, SVG first."""
    paths = [folder / f"{name}.{suffix}" for suffix in FORMATS]
    with mpl.rc_context(STYLE):
        for suffix, path in zip(FORMATS, paths, strict=True):
            figure.savefig(path, format=suffix, dpi=300, metadata=dict(_METADATA.get(suffix, {})))
    return paths
