"""Lists of a study.toml as frozen models hold them: as tuples, which TOML does not have."""

from typing import Annotated

from pydantic import BeforeValidator, WithJsonSchema

AS_TUPLE = BeforeValidator(lambda value: tuple(value) if isinstance(value, list) else value)
Texts = Annotated[tuple[str, ...], AS_TUPLE]
_TEXT = {"type": "string"}
# A text is a list of one: a union would tell a mistake once for each of its types.
TextOrTexts = Annotated[
    Texts,
    BeforeValidator(lambda value: value if isinstance(value, list | tuple) else [value]),
    WithJsonSchema({"anyOf": [_TEXT, {"type": "array", "items": _TEXT}]}),
]
