"""Lists of a study.toml as frozen models hold them: as tuples, which TOML does not have."""

from typing import Annotated

from pydantic import BeforeValidator

AS_TUPLE = BeforeValidator(lambda value: tuple(value) if isinstance(value, list) else value)
Texts = Annotated[tuple[str, ...], AS_TUPLE]
