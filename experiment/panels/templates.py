"""Templates: texts with names in braces, such as ``{code}``, that are replaced by values."""

import re
from collections.abc import Mapping
from urllib.parse import quote

_NAME = re.compile(r"\{([A-Za-z][\w-]*)\}", re.ASCII)
_ADDRESS = re.compile(
    r"(https://[\w.-]+|http://(127\.0\.0\.1|localhost|\[::1\]))(:\d{1,5})?([/?].*)?", re.ASCII
)


class UnfilledError(Exception):
    """A template contains a name whose value is unknown.

    Args:
        name: The name.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


def names_in(template: str) -> list[str]:
    """Return the names in a template, in order.

    Raises:
        ValueError: A brace is not part of a name.
    """
    if re.search(r"[{}]", _NAME.sub("", template)):
        raise ValueError("names in braces, such as {participant}, and no other brace")
    return _NAME.findall(template)


def fill(template: str, values: Mapping[str, str]) -> str:
    """Return a template's text with each name replaced by its value.

    Raises:
        UnfilledError: A value is missing or empty.
    """
    return _NAME.sub(lambda match: _value(match[1], values), template)


def fill_address(template: str, values: Mapping[str, str]) -> str:
    """Return a template's address; each value is percent-encoded so that it cannot alter the rest.

    A name at the very beginning represents a whole site and is not encoded.

    Raises:
        UnfilledError: A value is missing or empty.
    """

    def replaced(match: re.Match[str]) -> str:
        value = _value(match[1], values)
        return value if match.start() == 0 else quote(value, safe="")

    return _NAME.sub(replaced, template)


def is_address(template: str, values: Mapping[str, str]) -> bool:
    """Return whether a template's address has the same site for every participant.

    Args:
        template: The template.
        values: The study's own values; only these may determine the site.
    """
    first = _NAME.match(template)
    if first and first[1] in values:
        template = values[first[1]] + template[first.end() :]
    return _ADDRESS.fullmatch(template) is not None


def _value(name: str, values: Mapping[str, str]) -> str:
    value = values.get(name, "")
    if not value:
        raise UnfilledError(name)
    return value
