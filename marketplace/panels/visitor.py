"""Whose browser asks: a panel knows it by a cookie."""

from flask import request

from marketplace.errors import MarketplaceError
from marketplace.panels.records import Records, Study

COOKIE = "panel_person"


def visitor(records: Records) -> tuple[str, str, Study]:
    """Return the key of the study that somebody was sent to, their name, and the study.

    Raises:
        MarketplaceError: Nobody is signed in.
    """
    key, _, name = request.cookies.get(COOKIE, "").partition("/")
    if not name:
        raise MarketplaceError("nobody is signed in: start from /people")
    return key, name, records.study(key)
