"""The model of ``[taking_part]``: on which devices people take part, and who consents."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

DeviceKind = Literal["desktop", "tablet", "phone"]
# What the recruiting platforms call a phone.
_ELSEWHERE = {"mobile": "phone"}


class TakingPart(BaseModel):
    """How people may take part."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    devices: list[DeviceKind] = Field(
        default=[], description="the kinds of device it can be taken on; any when empty"
    )
    assent: bool = Field(
        default=False,
        description="whether consent.md is for whoever decides for the participant, who then reads "
        "assent.md and agrees as well",
    )

    traces: bool = Field(
        default=False,
        description="whether the paths of pointers and fingers are kept, and when keys are pressed",
    )

    def refuses(self, platform_devices: list[str]) -> list[str]:
        """Return which kinds of device that a platform lets in are refused."""
        kinds = [_ELSEWHERE.get(kind, kind) for kind in platform_devices]
        return [kind for kind in kinds if self.devices and kind not in self.devices]
