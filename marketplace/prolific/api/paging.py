"""Pages of a list: by number, with a link to the next, and an error behind the last."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from flask import request

from marketplace.prolific.errors import RefusedError, UnknownError

_PAGE_SIZE, _LARGEST_PAGE = 20, 1000
# Python reads no number of thousands of digits.
_MOST_DIGITS = 9


def page_of(found: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the page of a list that the call under way asks for.

    Raises:
        UnknownError: The list ends before it.
        RefusedError: What is asked for is no page.
    """
    number, size = _asked("page", 1), min(_asked("page_size", _PAGE_SIZE), _LARGEST_PAGE)
    last = max(1, -(-len(found) // size))
    if number > last:
        raise UnknownError("page")
    return {
        "results": list(found[(number - 1) * size : number * size]),
        "_links": {
            "self": _link(number, size),
            "next": _link(number + 1 if number < last else None, size),
            "previous": _link(number - 1 if number > 1 else None, size),
            "last": _link(last, size),
        },
        "meta": {"count": len(found)},
    }


def _asked(name: str, otherwise: int) -> int:
    text = request.args.get(name, str(otherwise))
    if not text.isdecimal() or len(text) > _MOST_DIGITS or int(text) < 1:
        raise RefusedError({name: ["A whole number from 1 on."]})
    return int(text)


def _link(number: int | None, size: int) -> dict[str, Any]:
    if number is None:
        return {"href": None, "title": "Page"}
    wanted = {**request.args.to_dict(), "page": number, "page_size": size}
    return {"href": f"{request.base_url}?{urlencode(wanted)}", "title": "Page"}
