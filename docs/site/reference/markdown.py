"""Writing Markdown from texts that were not written as Markdown."""

import re
from collections.abc import Iterable, Sequence

_SPECIAL = re.compile(r"([\\*_<>\[\]#|])")


def plain(text: str) -> str:
    """Return a text whose characters mean themselves; what stands in backquotes is code."""
    parts = re.split(r"(`+[^`]+`+)", " ".join(text.split()))
    return "".join(
        part.replace("|", "\\|") if n % 2 else _SPECIAL.sub(r"\\\1", part)
        for n, part in enumerate(parts)
    ).replace("``", "`")


def code(text: object) -> str:
    """Return a text as code; nothing when it is empty."""
    return "`" + str(text).replace("|", "\\|") + "`" if str(text) else ""


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; its cells are Markdown."""
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines) + "\n"
