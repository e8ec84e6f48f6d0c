"""The pydantic models of the tables and keys of ``[panel]`` in study.toml."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PositiveInt,
    StringConstraints,
    field_validator,
)

from experiment.panels.signing import ENCODINGS, HASHES, HMACS
from experiment.participation import Ending
from experiment.untrusted import valid_pattern

PRESETS_FOLDER = Path(__file__).parent / "presets"
# This folder defines the presets: adding a file adds a panel.
PRESETS = tuple(sorted(path.stem for path in PRESETS_FOLDER.glob("*.toml")))
if TYPE_CHECKING:
    PresetName = str
else:
    PresetName = Literal[PRESETS]
if TYPE_CHECKING:
    _Hash = str
    _Entry = str
    _Encoding = str
else:
    _Hash = Literal[(*HASHES, *HMACS)]
    _Entry = Literal[("HS256", "RS256", "ES256", *HASHES, *HMACS)]
    _Encoding = Literal[ENCODINGS]
_Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,63}$")]
_Site = Annotated[str, StringConstraints(pattern=r"^https://[\w.*-]+(:\d{1,5})?$")]


def _ending(value: object) -> object:
    if isinstance(value, str) and value in set(Ending):
        return Ending(value)
    raise ValueError(f"one of: {', '.join(Ending)}")


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Parameter(_Table):
    """A query argument of the link by which people come."""

    pattern: str = Field(
        default=r"[\w.-]{1,64}", description="a regular expression for the whole value"
    )
    required: bool = Field(
        default=True, description="whether a link without this argument is refused"
    )
    placeholder: str = Field(
        default="", description="the text in the link that the platform replaces by the value"
    )
    only: str = Field(
        default="", description="a template of the only value that this study accepts; any if empty"
    )

    _pattern = field_validator("pattern")(valid_pattern)


class Signature(_Table):
    """What proves that the platform made the link."""

    parameter: _Name = Field(description="the argument that holds the token or signature")
    algorithm: _Entry = Field(
        description=(
            "HS256, RS256, ES256: a JSON Web Token; MD5, SHA1, SHA256: a hash of a text that holds"
            " the secret; HMAC-MD5, HMAC-SHA1, HMAC-SHA256: an HMAC"
        )
    )
    encoding: _Encoding = Field(
        default="hex", description="how a hash or HMAC is written; hexadecimal digits of any case"
    )
    secret: str = Field(default="", description="the name of the secret for HS256 or an HMAC")
    keys: str = Field(default="", description="the address of the platform's public keys (JWKS)")
    issuer: str = Field(default="", description="the issuer that the token must name")
    audience: str = Field(
        default="",
        description="the audience that the token must name, a template; {url}: the address "
        "without the token",
    )
    claims: dict[_Name, str] = Field(
        default={}, description="parameter = the claim that must have the same value, such as a.b"
    )
    signed: str = Field(
        default="",
        description=(
            "for a hash or HMAC, a template of the text that is signed; {url}: the address as it"
            " was opened, without the signature; {path}: the same without the site"
        ),
    )
    leeway_s: int = Field(default=30, ge=0, le=600, description="how far clocks may differ, in s")


class OwnSignature(_Table):
    """A signature that addresses, fields and headers can name."""

    algorithm: _Hash = Field(
        description="MD5, SHA1, SHA256: a hash of a text that holds the secret; or an HMAC"
    )
    encoding: _Encoding = Field(default="hex", description="how the signature is written")
    secret: str = Field(default="", description="the name of the secret for an HMAC")
    signed: str = Field(
        description=(
            "a template of the text that is signed; {url}: the address before the argument that"
            " holds the signature, which must be the last; {path}: the same without the site"
        )
    )


class Report(_Table):
    """A call by which our server reports to the platform how a visit ended."""

    method: Literal["GET", "POST"] = Field(default="GET", description="how the report is sent")
    address: str = Field(description="the address to call, a template; it may hold secrets")
    fields: dict[str, str] = Field(
        default={}, description="what a POST sends; values are templates"
    )
    format: Literal["form", "json"] = Field(default="form", description="how a POST sends it")
    headers: dict[str, str] = Field(
        default={}, description="further headers, such as Authorization; values are templates"
    )
    done: str = Field(
        description="a regular expression for the platform's answer if the report succeeded"
    )
    done_before: str = Field(
        default="",
        description="a regular expression for the answer if an earlier call had already succeeded",
    )
    repeatable: bool = Field(
        default=False, description="whether a call may be repeated when its answer was lost"
    )

    _patterns = field_validator("done", "done_before")(valid_pattern)


class WayBack(_Table):
    """How participants go back to the platform after one kind of ending."""

    text: str = Field(default="", description="what the page says, in the study's language")
    address: str = Field(default="", description="the address where participants go, a template")
    method: Literal["redirect", "form"] = Field(
        default="redirect", description="whether the browser opens the address or posts fields"
    )
    fields: dict[str, str] = Field(default={}, description="what a form posts, as templates")
    report: Report | None = Field(
        default=None, description="what our server reports to the platform"
    )


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
    duplicate: WayBack = WayBack()
    security: WayBack = WayBack()


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
    duplicate: str = ""
    security: str = ""


class PanelTable(_Table):
    """The table ``[panel]`` as it was written."""

    preset: PresetName | None = Field(
        default=None, description="a known panel; other keys are added to its own, or replace them"
    )
    values: dict[_Name, str] = Field(
        default={}, description="your own texts for templates, such as an experiment's number"
    )
    secrets: dict[_Name, _Name] = Field(
        default={}, description="name in templates = name in the installation's panel_secrets"
    )
    needs: dict[_Name, str] = Field(
        default={}, description="values that must be given: name = what it is"
    )
    parameters: dict[_Name, Parameter] = Field(
        default={}, description="the link's arguments, which are stored"
    )
    person: list[_Name] = Field(
        default=[], description="the parameters that identify a returning person"
    )
    access_codes: bool = Field(
        default=False, description="whether people type in a code made by `parallax links make`"
    )
    signature: Signature | None = Field(default=None, description="what proves a link's origin")
    signatures: dict[_Name, OwnSignature] = Field(
        default={}, description="name in templates = a signature of ours, such as of the way back"
    )
    codes: Codes = Field(default=Codes(), description="the completion code of each ending")
    codes_needed: list[Annotated[Ending, BeforeValidator(_ending)]] = Field(
        default=[], description="the endings for which a completion code must be given"
    )
    address: str = Field(
        default="",
        description="where participants go after endings with a code but no address of their own",
    )
    endings: WaysBack = Field(default=WaysBack(), description="the way back of each ending")
    sites: list[_Site] = Field(
        default=[], description="further sites to which participants can be sent"
    )
    report_tries: PositiveInt = Field(
        default=12, le=100, description="how often a report is tried before a person must look"
    )

    def way_back(self, ending: Ending) -> WayBack:
        """Return the settings for returning participants after an ending."""
        way: WayBack = getattr(self.endings, ending.value)
        return way

    def code(self, ending: Ending) -> str:
        """Return the template of an ending's completion code; empty if there is none."""
        return str(getattr(self.codes, ending.value))

    def address_of(self, ending: Ending) -> str:
        """Return the template of an ending's return address; empty if there is none."""
        return self.way_back(ending).address or (self.address if self.code(ending) else "")
