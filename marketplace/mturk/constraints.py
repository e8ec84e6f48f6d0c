"""The constraints of a service model that botocore's own validator leaves to the service."""

import re
from collections.abc import Iterator
from typing import Any

from botocore.model import ListShape, Shape, StructureShape

_LATEST_S = 250_000_000_000


def broken_constraints(value: Any, shape: Shape, name: str = "") -> Iterator[str]:  # noqa: ANN401
    """Yield every broken enumeration, pattern and upper limit, worded as the service does.

    Args:
        value: What was sent; its types fit the shape already.
        shape: The model's shape.
        name: Where it is in the request.
    """
    if isinstance(shape, StructureShape):
        for member, part in value.items():
            below = f"{name}.{_lower(member)}" if name else _lower(member)
            yield from broken_constraints(part, shape.members[member], below)
    elif isinstance(shape, ListShape):
        for number, part in enumerate(value, 1):
            yield from broken_constraints(part, shape.member, f"{name}.{number}.member")
    else:
        for rule in _broken(value, shape):
            yield f"Value '{value}' at '{name}' failed to satisfy constraint: Member must {rule}"


def _broken(value: Any, shape: Shape) -> Iterator[str]:  # noqa: ANN401 - a scalar of any kind
    most = shape.metadata.get("max")
    if shape.type_name == "string":
        enumeration, pattern = shape.metadata.get("enum"), shape.metadata.get("pattern")
        if enumeration and value not in enumeration:
            yield f"satisfy enum value set: [{', '.join(enumeration)}]"
        # The models' patterns are anchored; a newline at the end must not slip through.
        if pattern and not re.fullmatch(pattern, value):
            yield f"satisfy regular expression pattern: {pattern}"
        if most is not None and len(value) > most:
            yield f"have length less than or equal to {most}"
    elif shape.type_name == "timestamp":
        if isinstance(value, bool | str) or not 0 <= value <= _LATEST_S:
            yield f"be a time in seconds since 1970, up to {_LATEST_S}"
    elif shape.type_name in ("integer", "long"):
        bits = 31 if shape.type_name == "integer" else 63
        if isinstance(value, bool) or not -(2**bits) <= value < 2**bits:
            yield f"be a whole number of {bits + 1} bits"
        elif most is not None and value > most:
            yield f"have value less than or equal to {most}"


def _lower(name: str) -> str:
    return name[:1].lower() + name[1:]
