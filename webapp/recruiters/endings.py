"""How a participant's visit ended, and the way back to the platform."""

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
    """A participant leaves.

    Everything that the participant did is stored before the recruiter is asked, so the recruiter's
    answer can never run ahead of the data.

    Attributes:
        ending: The kind of ending.
        study: The run's study, as it was launched.
        platform_id: The platform's id of the participant; None if unknown.
        acceptance: The paid assignment that the participant has not submitted yet; None if there is
            none.
        parameters: The link's values, as the arrival kept them.
        receipt: The text that identifies the participant to us if a platform returns it; empty if
            nothing about the participant is stored.
        stayed: The time from the consent to the withdrawal; zero without a withdrawal.
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
    """The form that the browser sends when a participant returns to the platform.

    Attributes:
        action: The address.
        fields: The hidden fields; a redirect's query arguments if the method is ``get``.
        method: ``post``, or ``get`` if the platform only needs a redirect.
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
    """The way back to the participant's platform.

    Attributes:
        text: The page's instructions for going on, in the request's language.
        form: The form that the browser sends; None if there is no site to return to.
        code: The platform's completion code for participants to copy; often one for the whole
            study. It is never the participant's own confirmation code, which no recruiter knows.
    """

    text: str
    form: ExitForm | None = None
    code: str = ""
