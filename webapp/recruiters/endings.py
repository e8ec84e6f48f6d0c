"""Leaving: how somebody's visit ended, and the way back to where they came from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from experiment.participation import Ending
from experiment.studies.study import Study
from webapp.recruiters.arrivals import Acceptance


@dataclass(frozen=True, slots=True)
class Departure:
    """Somebody leaves.

    Everything that they did is stored before this is asked, so what a recruiter answers never
    runs ahead of the data.

    Attributes:
        ending: How it ended.
        study: The run's study, as it was launched.
        platform_id: What the platform calls them; None where nothing is known.
        acceptance: The paid work they came for and have not handed in yet; None where there is
            none.
        parameters: What their link said, as the arrival kept it.
        receipt: What proves to us, when a platform shows it again, who left; empty for somebody
            of whom nothing is stored.
        stayed: From the consent to the withdrawal; nothing where nobody withdrew.
    """

    ending: Ending
    study: Study
    platform_id: str | None = None
    acceptance: Acceptance | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)
    receipt: str = ""
    stayed: timedelta = timedelta()


@dataclass(frozen=True, slots=True)
class ExitForm:
    """What the browser sends when somebody goes back to the platform.

    Attributes:
        action: The address.
        fields: The hidden fields; a redirect's query arguments where the method is ``get``.
        method: ``post``, or ``get`` where a redirect is all that the platform wants.
    """

    action: str
    fields: Mapping[str, str]
    method: Literal["get", "post"] = "post"

    @classmethod
    def redirect(cls, address: str) -> "ExitForm":
        """Return the form that leads to an address and its query arguments."""
        parts = urlsplit(address)
        fields = dict(parse_qsl(parts.query, keep_blank_values=True))
        return cls(urlunsplit(parts._replace(query="")), fields, "get")


@dataclass(frozen=True, slots=True)
class Exit:
    """The way back to where somebody came from.

    Attributes:
        text: What the page tells about going on, in the request's language.
        form: What the browser sends; None where nobody is sent anywhere.
        code: The platform's completion code, for people to copy; often one for the whole study.
            It is never the person's own code, which no recruiter knows.
    """

    text: str
    form: ExitForm | None = None
    code: str = ""
