"""Arrivals: what a link holds, and what its recruiter reads from it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from experiment.studies.study import Study
from experiment.untrusted import is_whole
from webapp.core.i18n import gettext
from webapp.errors import RequestError

# What panels write into links, and replace by somebody's id before anybody follows them:
# {{%PARTICIPANT_ID%}}, %SURVEY_CODE%, ${e://Field/id}, [participant_id], <id>.
_PLACEHOLDER = re.compile(r"\{|\}|%\w+%|\$\w|^\[.*\]$|^<.*>$")

# Longer ones could not be given back as they came: what links say is kept up to this length.
LONGEST_VALUE = 200


@dataclass(frozen=True, slots=True)
class Landing:
    """Somebody opens a run's link.

    Attributes:
        arguments: The link's query arguments as the browser sent them, so anybody may have
            written them.
        study: The run's study, as it was launched.
        url: The whole address as it was opened.
        at: When.
    """

    arguments: Mapping[str, str]
    study: Study
    url: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Acceptance:
    """The paid assignment with which somebody arrives.

    Attributes:
        assignment_id: What the platform calls it; a worker who returns the assignment and accepts
            it again gets another id.
        hit_id: What the platform calls the offer that it is of.
        submit_to: The platform's site to which it is submitted.
        offer_parameter: Which argument of the link names the offer, by the platform's name.
    """

    assignment_id: str
    hit_id: str
    submit_to: str
    offer_parameter: str = ""


@dataclass(frozen=True, slots=True)
class Arrival:
    """What a recruiter knows of somebody who opens the run's link.

    Attributes:
        platform_id: The platform's id of the person: people who arrive with the same id are the
            same participant. None if nothing is known.
        preview: Whether they only look: they see the real pages, and nothing is stored.
        link: The identifier in one of the run's own links, or an access code that was typed in;
            empty if there must be one and is none. None if the recruiter has no such links.
        acceptance: The paid work they come for; None where there is none.
        proven: Whether the platform has signed all this a moment ago, so that nobody else can have
            written it, and the platform need not be asked.
        parameters: Other values in the link that are kept, by the platform's own names. They go
            back to the platform at the end, and are in no export.
    """

    platform_id: str | None = None
    preview: bool = False
    link: str | None = None
    acceptance: Acceptance | None = None
    proven: bool = False
    parameters: Mapping[str, str] = field(default_factory=dict)


class ArrivalError(RequestError):
    """A link that no platform of the run would have made; it is noted with the run.

    Args:
        problem: What is wrong, in words a participant understands.
        code: ``bad_arrival`` or, where more is known, ``unfilled_link``, ``missing_id``,
            ``malformed_id`` or ``other_study``.
        parameter: The argument at fault, by the platform's name; empty where it is no single one.

    Attributes:
        kept: What the link says, where only its signature is wrong: nobody is let in on its word,
            and the platform may want them back.
    """

    def __init__(self, problem: str, *, code: str = "bad_arrival", parameter: str = "") -> None:
        super().__init__(problem, status=400, code=code)
        self.parameter = parameter
        self.kept: Mapping[str, str] = {}


def checked_id(arguments: Mapping[str, str], parameter: str, pattern: str = r"[\w.-]{1,64}") -> str:
    """Return the id that a link holds under a name.

    Args:
        arguments: The link's.
        parameter: The name.
        pattern: What the whole id looks like, as an ASCII regular expression.

    Raises:
        ArrivalError: It is missing, is still the placeholder that the platform should have
            replaced, or does not look like one.
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
    if len(value) <= LONGEST_VALUE and is_whole(pattern, value):
        return value
    if _PLACEHOLDER.search(value):
        raise ArrivalError(
            gettext(
                "This link was not filled in with your own id, so we cannot know who you are."
                " Please write to the researchers: the link they gave out must be corrected."
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
    """Return the error for a link that a platform made for another of its studies."""
    return ArrivalError(
        gettext(
            "This link belongs to another study. Please open the study once more from the page"
            " where you found it."
        ),
        code="other_study",
        parameter=parameter,
    )
