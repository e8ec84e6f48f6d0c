"""Types for lists in study.toml, which frozen models store as tuples."""

from typing import Annotated

from pydantic import BeforeValidator, WithJsonSchema

AS_TUPLE = BeforeValidator(lambda value: tuple(value) if isinstance(value, list) else value)
Texts = Annotated[tuple[str, ...], AS_TUPLE]
_TEXT = {"type": "string"}
# A single text becomes a list of one: a union type would report a mistake once per alternative.
TextOrTexts = Annotated[
    Texts,
    BeforeValidator(lambda value: value if isinstance(value, list | tuple) else [value]),
    WithJsonSchema({"anyOf": [_TEXT, {"type": "array", "items": _TEXT}]}),
]
