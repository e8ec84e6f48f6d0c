"""The tables and keys of ``[panel]`` in study.toml, each with its meaning."""

import re
from typing import Annotated, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PositiveInt,
    StringConstraints,
    field_validator,
)

from experiment.participation import Ending

PresetName = Literal[
    "besample", "classroom", "connect", "prolific", "respondent", "sona", "sona_redirect",
    "testable", "toloka",
]  # fmt: skip
_Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,63}$")]
_Site = Annotated[str, StringConstraints(pattern=r"^https://[\w.*-]+(:\d{1,5})?$")]


def checked_pattern(pattern: str) -> str:
    """Return a regular expression that is one.

    Raises:
        ValueError: It is none.
    """
    try:
        re.compile(pattern, re.ASCII)
    except re.error as error:
        raise ValueError(f"a regular expression ({error})") from error
    return pattern


def _ending(value: object) -> object:
    if isinstance(value, str) and value in set(Ending):
        return Ending(value)
    raise ValueError(f"one of: {', '.join(Ending)}")


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Parameter(_Table):
    """A query argument of the link by which people come."""

    pattern: str = Field(
        default=r"[\w.-]{1,64}", description="what its whole value looks like, as an expression"
    )
    required: bool = Field(default=True, description="whether nobody may come without it")
    placeholder: str = Field(
        default="", description="what the platform replaces by the value in the link it is given"
    )
    only: str = Field(
        default="", description="a template of the only value that is of this study; any if empty"
    )

    _pattern = field_validator("pattern")(checked_pattern)


class Signature(_Table):
    """What proves that the platform made the link."""

    parameter: _Name = Field(description="the argument that holds the token")
    algorithm: Literal["HS256", "RS256", "ES256", "HMAC-SHA256"] = Field(
        description="of a JSON Web Token; HMAC-SHA256 for a plain one, in hexadecimal digits"
    )
    secret: str = Field(default="", description="which of the secrets signs HS256 or HMAC-SHA256")
    keys: str = Field(default="", description="the address of the platform's public keys (JWKS)")
    issuer: str = Field(default="", description="who must have issued the token")
    audience: str = Field(
        default="", description="for whom, as a template; {url} is the address without the token"
    )
    claims: dict[_Name, str] = Field(
        default={}, description="parameter -> the claim that must say the same, such as a.b"
    )
    signed: str = Field(default="", description="HMAC-SHA256: a template of the text it signs")
    leeway_s: int = Field(default=30, ge=0, le=600, description="how far clocks may differ, s")


class Report(_Table):
    """A call by which our server tells the platform how somebody's visit ended."""

    method: Literal["GET", "POST"] = Field(default="GET", description="how it is sent")
    address: str = Field(description="where to, as a template; it may hold secrets")
    fields: dict[str, str] = Field(default={}, description="what a POST sends, as templates")
    format: Literal["form", "json"] = Field(default="form", description="how a POST sends it")
    headers: dict[str, str] = Field(default={}, description="such as Authorization; templates")
    done: str = Field(description="an expression that is found in the answer when it was done")
    done_before: str = Field(default="", description="found when an earlier call had done it")
    repeatable: bool = Field(
        default=False, description="whether a call whose answer was lost may be made again"
    )

    _patterns = field_validator("done", "done_before")(checked_pattern)


class WayBack(_Table):
    """How whoever's visit ended in one way goes back to the platform."""

    text: str = Field(default="", description="what the page says, in the study's language")
    address: str = Field(default="", description="where they are sent, as a template")
    method: Literal["redirect", "form"] = Field(
        default="redirect", description="whether the browser opens the address or posts fields"
    )
    fields: dict[str, str] = Field(default={}, description="what a form posts, as templates")
    report: Report | None = Field(default=None, description="what our server tells the platform")


class WaysBack(_Table):
    """A way back for each ending that has one of its own."""

    completed: WayBack = WayBack()
    no_consent: WayBack = WayBack()
    declined: WayBack = WayBack()
    screened_out: WayBack = WayBack()
    failed_check: WayBack = WayBack()
    full: WayBack = WayBack()
    too_late: WayBack = WayBack()
    withdrawn: WayBack = WayBack()


class Codes(_Table):
    """The platform's completion code of each ending that has one, as templates."""

    completed: str = ""
    no_consent: str = ""
    declined: str = ""
    screened_out: str = ""
    failed_check: str = ""
    full: str = ""
    too_late: str = ""
    withdrawn: str = ""


class PanelTable(_Table):
    """The table ``[panel]`` as it was written."""

    preset: PresetName | None = Field(
        default=None, description="a panel that is known; what is given beside it comes on top"
    )
    values: dict[_Name, str] = Field(
        default={}, description="your own texts for templates, such as an experiment's number"
    )
    secrets: dict[_Name, _Name] = Field(
        default={}, description="name in templates -> name in the installation's panel_secrets"
    )
    needs: dict[_Name, str] = Field(
        default={}, description="values that must be given, each with what it is"
    )
    parameters: dict[_Name, Parameter] = Field(
        default={}, description="the link's arguments, which are kept"
    )
    person: list[_Name] = Field(
        default=[], description="the parameters by which somebody is the same person again"
    )
    access_codes: bool = Field(
        default=False, description="whether people type in a code made by `parallax links make`"
    )
    signature: Signature | None = Field(default=None, description="what proves a link's origin")
    codes: Codes = Field(default=Codes(), description="the completion code of each ending")
    codes_needed: list[Annotated[Ending, BeforeValidator(_ending)]] = Field(
        default=[], description="endings of which the platform gives a code that you must write"
    )
    address: str = Field(
        default="", description="where endings lead that have a code and no address of their own"
    )
    endings: WaysBack = Field(default=WaysBack(), description="the way back of each ending")
    sites: list[_Site] = Field(
        default=[], description="sites, beside those of the addresses, that people are sent on to"
    )
    report_tries: PositiveInt = Field(
        default=12, le=100, description="how often a report is tried before a person must look"
    )

    def way_back(self, ending: Ending) -> WayBack:
        """Return an ending's way back."""
        found: WayBack = getattr(self.endings, ending.value)
        return found

    def code(self, ending: Ending) -> str:
        """Return the template of an ending's completion code; empty where there is none."""
        return str(getattr(self.codes, ending.value))

    def address_of(self, ending: Ending) -> str:
        """Return the template of the address that an ending leads to; empty where to none."""
        return self.way_back(ending).address or (self.address if self.code(ending) else "")
