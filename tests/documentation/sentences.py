"""The statements of a page: its sentences, and the rows of its tables."""

import re
from collections.abc import Iterator
from pathlib import Path

_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_HTML = re.compile(r"<!--.*?-->", re.DOTALL)
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
# Not behind an abbreviation, and only where something begins anew.
_END = re.compile(r"(?<=[.:!?])(?<!e\.g\.)(?<!i\.e\.)\**\s+(?=[A-Z`\"(*_\[])")


def statements(page: Path) -> list[str]:
    """Return every statement of a page, without its links' addresses, emphasis and code blocks."""
    text = _HTML.sub("", _FENCE.sub("", page.read_text(encoding="utf-8")))
    return [each for block in _blocks(text) for each in _sentences(block)]


def _blocks(text: str) -> Iterator[str]:
    block = list[str]()
    for line in [*text.splitlines(), ""]:
        row, item = line.startswith("|"), line.lstrip().startswith("- ")
        if not line.strip() or row or item or line.startswith("#"):
            yield " ".join(block)
            block = []
        if row and not re.fullmatch(r"[|\-\s]+", line):
            yield line
        elif not row and line.strip() and not line.startswith("#"):
            block.append(line.strip().removeprefix("- "))


def _sentences(block: str) -> Iterator[str]:
    plain = _LINK.sub(r"\1", block).replace("**", "").strip()
    if plain.startswith("|"):
        yield " | ".join(cell.strip() for cell in plain.strip("|").split("|"))
    elif plain:
        yield from (each.strip() for each in _END.split(plain) if each.strip())
