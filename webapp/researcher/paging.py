"""Paging of long lists by the address, and parsing of typed whole numbers."""

from collections.abc import Sequence

from flask import request

from webapp.runs.people_table import ON_A_PAGE

_DIGITS = 6


def page_asked_for() -> int:
    """Return the page number in the address, from 1; 1 if there is none."""
    page = request.args.get("page", "")
    return max(1, whole_number(page, _DIGITS))


def page_of(name: str, rows: Sequence[object]) -> dict[str, object]:
    """Return the template variables for the requested page of a list.

    Args:
        name: The template's name for the rows.
        rows: The rows of all pages.
    """
    page = page_asked_for()
    begin, end = (page - 1) * ON_A_PAGE, page * ON_A_PAGE
    return {name: rows[begin:end], "page": page, "more": len(rows) > end, "total": len(rows)}


def whole_number(typed: str, n_digits: int, otherwise: int = 0) -> int:
    """Return a number with a limited count of digits, or a default if the text is not one.

    The digits are counted first: Python refuses to read numbers of thousands of digits.
    """
    good = typed.isascii() and typed.isdigit() and len(typed) <= n_digits
    return int(typed) if good else otherwise
