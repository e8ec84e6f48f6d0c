"""Tables for the terminal."""

from collections.abc import Iterable, Sequence


def text_table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return the rows under their header, each column as wide as its longest cell."""
    lines = [list(header), *([str(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )
