"""How each panel fills in the link of a study, in its own words and shapes of ids."""

import hashlib
from collections.abc import Mapping
from urllib.parse import urlencode

# What each panel replaces in the link that a researcher pasted.
_REPLACED: Mapping[str, Mapping[str, str]] = {
    "prolific": {
        "{{%PROLIFIC_PID%}}": "person",
        "{{%STUDY_ID%}}": "study",
        "{{%SESSION_ID%}}": "visit",
    },
    "sona": {"%SURVEY_CODE%": "number"},
    "sona_redirect": {"%SURVEY_CODE%": "number"},
}
# What each panel adds to it.
_ADDED: Mapping[str, Mapping[str, str]] = {
    "connect": {"participantId": "upper", "assignmentId": "visit", "projectId": "study"},
    "toloka": {"worker_id": "long", "assignment_id": "visit"},
    "respondent": {
        "respondent_profile_id": "profile",
        "respondent_user_id": "person",
        "respondent_project_id": "study",
        "respondent_screener_response_id": "visit",
    },
    "besample": {"response_id": "long", "assignment_id": "visit"},
    "testable": {"mindID": "number"},
    "classroom": {"link": "code"},
    "direct": {"link": "code"},
}
PLATFORMS = (*_REPLACED, *_ADDED)


def ids_of(study: str, person: str, visit: int) -> dict[str, str]:
    """Return what panels call a person, a study and a visit; the same person always the same."""
    of_person = hashlib.sha256(f"{study} {person}".encode()).hexdigest()
    return {
        "person": of_person[:24],
        "profile": of_person[24:48],
        "long": of_person[:32],
        "upper": of_person[:32].upper(),
        "number": str(int(of_person[:12], 16)),
        "study": hashlib.sha256(study.encode()).hexdigest()[:24],
        "visit": hashlib.sha256(f"{study} {person} {visit}".encode()).hexdigest()[:24],
    }


def filled_link(platform: str, link: str, ids: Mapping[str, str]) -> str:
    """Return the link by which a person comes."""
    for placeholder, name in _REPLACED.get(platform, {}).items():
        link = link.replace(placeholder, ids[name])
    added = {name: ids[which] for name, which in _ADDED.get(platform, {}).items()}
    if not added:
        return link
    return f"{link}{'&' if '?' in link else '?'}{urlencode(added)}"


def person_key(platform: str) -> str:
    """Return which of its ids a panel knows a person by."""
    return {
        "prolific": "person", "respondent": "person", "sona": "number", "sona_redirect": "number",
        "connect": "upper", "testable": "number", "classroom": "code", "direct": "code",
    }.get(platform, "long")  # fmt: skip
