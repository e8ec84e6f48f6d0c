"""Eligibility for studies: some of the platform's filters, and how participants meet them."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import select

from marketplace.prolific.errors import RefusedError
from marketplace.prolific.people import Participant, find_group, members
from marketplace.prolific.store import Moment
from marketplace.prolific.tables import Study, Submission

COUNTRIES = {"0": "United Kingdom", "1": "United States", "2": "Ireland", "3": "Germany"}
_COUNTRY_CODES = {"GB": "0", "US": "1", "IE": "2", "DE": "3"}
_GROUP_FILTERS = {"participant_group_allowlist": True, "participant_group_blocklist": False}
_STUDY_FILTERS = {"previous_studies_allowlist": True, "previous_studies_blocklist": False}
_PERSON_FILTERS = {"custom_allowlist": True, "custom_blocklist": False}


def filter_list() -> list[dict[str, Any]]:
    """Return the supported filters."""
    return [
        {
            "filter_id": "age",
            "title": "Age",
            "description": "The participant's age in years.",
            "question": "What is your age?",
            "type": "range",
            "data_type": "integer",
            "min": 18,
            "max": 100,
        },
        _select("current-country-of-residence", "Current country of residence", COUNTRIES),
        *(
            {**_select(name, name.replace("_", " ").capitalize(), {}), "data_type": kind}
            for kind, names in (
                ("ParticipantGroupID", _GROUP_FILTERS),
                ("StudyID", _STUDY_FILTERS),
                ("ParticipantID", _PERSON_FILTERS),
            )
            for name in names
        ),
    ]


def _select(name: str, title: str, choices: Mapping[str, str]) -> dict[str, Any]:
    return {
        "filter_id": name,
        "title": title,
        "description": title,
        "question": title,
        "type": "select",
        "data_type": "ChoiceID",
        "choices": dict(choices),
    }


def refuse_unknown(filters: list[dict[str, Any]]) -> None:
    """Refuse unsupported filters.

    Raises:
        RefusedError: A filter is not supported.
    """
    known = {each["filter_id"] for each in filter_list()}
    unknown = [each.get("filter_id") for each in filters if each.get("filter_id") not in known]
    if unknown:
        raise RefusedError({"filters": [f"There is no filter {unknown[0]!r}."]})


def may_take(moment: Moment, participant: Participant, study: Study) -> bool:
    """Return whether a study is visible to a participant."""
    devices = study.fields["device_compatibility"]
    if devices and participant.device not in devices:
        return False
    return meets_all(moment, participant, study.fields["filters"])


def meets_all(moment: Moment, participant: Participant, filters: list[dict[str, Any]]) -> bool:
    """Return whether a participant passes every filter."""
    return all(_meets(moment, participant, each) for each in filters)


def _meets(moment: Moment, participant: Participant, wanted: Mapping[str, Any]) -> bool:
    name = str(wanted.get("filter_id"))
    if name == "age":
        span = wanted.get("selected_range", {})
        lower, upper = int(span.get("lower", 0)), int(span.get("upper", 200))
        return lower <= participant.age <= upper
    chosen = {str(value) for value in wanted.get("selected_values", [])}
    if name == "current-country-of-residence":
        return _COUNTRY_CODES.get(participant.country) in chosen
    if name in _GROUP_FILTERS:
        listed = any(
            participant.ref in {each.participant for each in members(moment, group)}
            for group in (find_group(moment, ref) for ref in chosen)
        )
        return listed == _GROUP_FILTERS[name]
    if name in _STUDY_FILTERS:
        been = select(Submission).where(
            Submission.participant == participant.ref,
            Submission.study.has(Study.ref.in_(chosen)),
        )
        return (moment.session.scalars(been).first() is not None) == _STUDY_FILTERS[name]
    if name in _PERSON_FILTERS:
        return (participant.ref in chosen) == _PERSON_FILTERS[name]
    return True
