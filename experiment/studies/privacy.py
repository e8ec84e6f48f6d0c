"""The tables ``privacy``, ``consent``, ``oversight`` and ``taking_part`` of study.toml."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from experiment.studies.toml_values import AS_TUPLE, Texts

DeviceKind = Literal["desktop", "tablet", "phone"]
# The recruiting platforms' names for kinds of device.
_PLATFORM_NAMES = {"mobile": "phone"}


class ParticipationTerms(BaseModel):
    """How people may take part."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    devices: list[DeviceKind] = Field(
        default=[],
        description="the kinds of device on which the study can be taken; any when empty",
    )
    assent: bool = Field(
        default=False,
        description="whether consent.md is for the person who decides for the participant (such"
        " as a parent); the participant then reads assent.md and agrees as well",
    )

    traces: bool = Field(
        default=False,
        description="whether the paths of pointers and fingers, and the times of key presses, "
        "are stored",
    )

    def refuses(self, platform_devices: list[str]) -> list[str]:
        """Return the kinds of device that the platform admits but the study refuses."""
        kinds = [_PLATFORM_NAMES.get(kind, kind) for kind in platform_devices]
        return [kind for kind in kinds if self.devices and kind not in self.devices]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Consent(_Table):
    """How the elements of the consent are recognised in consent.md."""

    headings: dict[str, str] = Field(
        default={},
        description="element of consent = the heading in consent.md under which it is found, if"
        " `study check` does not recognise it",
    )


class Oversight(_Table):
    """The acts that need a second person."""

    second_person: Annotated[
        tuple[Literal["payments", "publishing", "unblinding"], ...], AS_TUPLE
    ] = Field(
        default=(),
        description="actions that need the request of a second person: payments, publishing, "
        "unblinding",
    )


class Privacy(_Table):
    """How long data that identify participants are kept, and where none may be kept."""

    keep_identifying_days: int | None = Field(
        default=None,
        ge=0,
        le=36_500,
        description="how many days after the run is closed identifying data are kept; by "
        "default, until the person is forgotten",
    )
    identifying_questions: Texts = Field(
        default=(), description="the questions whose answers identify people, by name"
    )
    legal_basis: str = Field(
        default="", description="the legal basis of the processing, as the consent page names it"
    )
    data_protection_officer: str = Field(
        default="",
        description="the contact for questions about personal data, as the consent page names it",
    )
    shared_device: bool = Field(
        default=False,
        description="whether several participants use one computer: its browser forgets each of"
        " them at the end",
    )
