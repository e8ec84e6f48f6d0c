"""The settings of Mechanical Turk and of marketplaces that speak its protocol."""

from pydantic import BaseModel, ConfigDict, Field, field_validator

from webapp.core.settings import checked_address


class MturkSettings(BaseModel):
    """Where workers are found and paid."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    endpoint: str = Field(
        default="http://127.0.0.1:8100",
        pattern=r"^(live|sandbox|https?://[\w.:\[\]-]+/?)$",
        description="the marketplace's address; or live or sandbox for Amazon's, which are closed",
    )
    worker_site: str = Field(
        default="",
        pattern=r"^(https?://[\w.:\[\]-]+/?)?$",
        description=(
            "the address where workers of another marketplace submit; its own address when empty"
        ),
    )

    @field_validator("endpoint", "worker_site")
    @classmethod
    def _an_address(cls, value: str) -> str:
        return checked_address(value)
