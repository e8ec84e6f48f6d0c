"""Which page of a long list the address asks for, and whole numbers as they are typed."""

from collections.abc import Sequence

from flask import request

from webapp.runs.people_table import ON_A_PAGE

_DIGITS = 6


def page_asked_for() -> int:
    """Return the number of the page, from 1; the first where the address names no page."""
    page = request.args.get("page", "")
    return max(1, whole_number(page, _DIGITS))


def page_of(name: str, rows: Sequence[object]) -> dict[str, object]:
    """Return what a template needs of the page of a list that the address asks for.

    Args:
        name: What the template calls the rows.
        rows: The rows of all pages.
    """
    page = page_asked_for()
    begin, end = (page - 1) * ON_A_PAGE, page * ON_A_PAGE
    return {name: rows[begin:end], "page": page, "more": len(rows) > end, "total": len(rows)}


def whole_number(typed: str, n_digits: int, otherwise: int = 0) -> int:
    """Return a number of at most so many digits, or another one where the text is none.

    The digits are counted first: Python reads no number of thousands of them.
    """
    good = typed.isascii() and typed.isdigit() and len(typed) <= n_digits
    return int(typed) if good else otherwise
