"""The secrets of panels; they belong to the installation, never to a study."""

import json

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator


class PanelSettings(BaseModel):
    """The secrets that studies name."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    secrets: dict[str, SecretStr] = Field(
        default={},
        description="the secret of each name, as a table; in the environment, as a JSON object",
    )
    stand_in: str = Field(
        default="",
        pattern=r"^(https?://[\w.:\[\]-]+/[\w-]+)?$",
        description=(
            "the address and name under which simulated participants find the study on a stand-in"
        ),
    )

    @field_validator("secrets", mode="before")
    @classmethod
    def _a_table(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        try:
            return json.loads(value)
        except ValueError as error:
            raise ValueError("not a JSON object of names and secrets") from error
