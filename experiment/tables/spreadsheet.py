"""Text from outside in CSV files: no cell may become a formula in a spreadsheet."""

import csv
import io
import unicodedata
from collections.abc import Iterable, Sequence

# What a spreadsheet takes for a formula when a cell begins with it; the apostrophe itself is
# among them so that taking one leading apostrophe away always gives the text back.
_STARTS = frozenset("=+-@\t\n\r'")


def spreadsheet_safe(text: str) -> str:
    """Return a text with an apostrophe before it where a spreadsheet would take it for a formula.

    Full-width and small forms of the signs count as the signs (spreadsheets in East Asian languages
    read them so), and so does a sign behind what nobody sees: a byte order mark, marks of direction
    and of no width, spaces.

    Args:
        text: Somebody's text.
    """
    if text[:1] in _STARTS or _first_seen(text) in _STARTS:
        return f"'{text}"
    return text


def safe_csv(header: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a table as CSV in which no text is a formula.

    Args:
        header: The columns' names.
        rows: Their cells; None is an empty one.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    for row in rows:
        writer.writerow([spreadsheet_safe(cell) if isinstance(cell, str) else cell for cell in row])
    return text.getvalue()


def _first_seen(text: str) -> str:
    for letter in text:
        if unicodedata.category(letter) not in ("Cf", "Cc", "Zs", "Zl", "Zp"):
            return unicodedata.normalize("NFKC", letter)[:1]
    return " "
