"""Read the values of a participant's link.

The parsed arrival, and errors for links that are not valid.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from experiment.studies.study import Study
from experiment.untrusted import matches_whole
from webapp.core.i18n import gettext
from webapp.errors import RequestError

# Placeholders that panels write into links and should replace with the participant's id:
# {{%PARTICIPANT_ID%}}, %SURVEY_CODE%, ${e://Field/id}, [participant_id], <id>.
_PLACEHOLDER = re.compile(r"\{|\}|%\w+%|\$\w|^\[.*\]$|^<.*>$")

# Link values are stored up to this length; a longer value could not be returned unchanged.
LONGEST_VALUE = 200


@dataclass(frozen=True, slots=True)
class Landing:
    """A request that opens a run's link.

    Attributes:
        arguments: The link's query arguments as the browser sent them. They are untrusted.
        study: The run's study, as it was launched.
        compose_url: Returns the full requested address, which only signed links need.
        at: The time of the request.
    """

    arguments: Mapping[str, str]
    study: Study
    compose_url: Callable[[], str]
    at: datetime

    @property
    def url(self) -> str:
        """The full requested address."""
        return self.compose_url()


@dataclass(frozen=True, slots=True)
class Acceptance:
    """The paid assignment for which a participant arrives.

    Attributes:
        assignment_id: The platform's id of the assignment; a worker who returns the assignment and
            accepts it again gets another id.
        hit_id: The platform's id of the offer to which the assignment belongs.
        submit_to: The platform's site to which the assignment is submitted.
        offer_parameter: The platform's name of the link argument that holds the offer's id.
    """

    assignment_id: str
    hit_id: str
    submit_to: str
    offer_parameter: str = ""


@dataclass(frozen=True, slots=True)
class Arrival:
    """The facts that a recruiter reads from a request for the run's link.

    Attributes:
        platform_id: The platform's id of the person. Arrivals with the same id are the same
            participant. None if the link has no id.
        preview: Whether this is a preview: the real pages are shown, and nothing is stored.
        acceptable: Whether this is the preview of a task that the visitor can accept.
        link: The identifier in one of the run's own links, or an access code that was typed in.
            Empty if the run requires one and the request has none. None if the recruiter has no
            such links.
        acceptance: The paid assignment; None if there is none.
        proven: Whether the platform has just signed these values, so that they cannot be forged and
            the platform need not be asked.
        parameters: Other link values to keep, by the platform's own names. They are sent back to
            the platform at the end, and are in no export.
    """

    platform_id: str | None = None
    preview: bool = False
    acceptable: bool = False
    link: str | None = None
    acceptance: Acceptance | None = None
    proven: bool = False
    parameters: Mapping[str, str] = field(default_factory=dict)


class ArrivalError(RequestError):
    """A link that no platform of the run would have made; the error is recorded with the run.

    Args:
        problem: The problem, in words that a participant understands.
        code: ``bad_arrival`` or, if more is known, ``unfilled_link``, ``missing_id``,
            ``malformed_id`` or ``other_study``.
        parameter: The invalid argument, by the platform's name; empty if no single argument is
            invalid.

    Attributes:
        kept: The link's values if only the signature is wrong. They do not admit a participant, but
            the platform may need them in the way back.
    """

    def __init__(self, problem: str, *, code: str = "bad_arrival", parameter: str = "") -> None:
        super().__init__(problem, status=400, code=code)
        self.parameter = parameter
        self.kept: Mapping[str, str] = {}


def checked_id(arguments: Mapping[str, str], parameter: str, pattern: str = r"[\w.-]{1,64}") -> str:
    """Return the id that a link holds under a name.

    Args:
        arguments: The link's query arguments.
        parameter: The name.
        pattern: An ASCII regular expression that the whole id must match.

    Raises:
        ArrivalError: The id is missing, is still the placeholder that the platform should have
            replaced, or does not match the pattern.
    """
    value = arguments.get(parameter, "")
    if not value:
        raise ArrivalError(
            gettext(
                "This link does not say who you are. Please open the study from the page where"
                " you found it, and not from a copy of its address."
            ),
            code="missing_id",
            parameter=parameter,
        )
    if len(value) <= LONGEST_VALUE and matches_whole(pattern, value):
        return value
    if _PLACEHOLDER.search(value):
        raise ArrivalError(
            gettext(
                "This link is missing your ID, so we cannot tell who you are. It is not your"
                " mistake: please tell the researchers that their link needs correcting."
            ),
            code="unfilled_link",
            parameter=parameter,
        )
    raise ArrivalError(
        gettext(
            "The id in this link is not complete. Please open the study once more from the page"
            " where you found it."
        ),
        code="malformed_id",
        parameter=parameter,
    )


def other_study(parameter: str) -> ArrivalError:
    """Return the error for a link that the platform made for another study."""
    return ArrivalError(
        gettext(
            "This link belongs to another study. Please open the study once more from the page"
            " where you found it."
        ),
        code="other_study",
        parameter=parameter,
    )
