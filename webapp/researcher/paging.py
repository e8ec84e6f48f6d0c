"""Which page of a long list the address asks for."""

from flask import request

_DIGITS = 6


def page_asked_for() -> int:
    """Return the number of the page, from 1; the first where the address names no page."""
    page = request.args.get("page", "")
    return max(1, int(page)) if page.isascii() and page.isdigit() and len(page) <= _DIGITS else 1
