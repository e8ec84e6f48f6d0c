"""Pastes into the questionnaire: into which answers, and how much; never the text."""

import json
from collections.abc import Collection, Mapping
from datetime import datetime

from experiment.participation import EventKind
from webapp.database.models import Event

# The form's field in which the page tells of it; no question's name begins so.
PASTED_FIELD = "_pasted"


def pasted_events(
    participant_id: int, answered: Collection[str], given: Mapping[str, str], now: datetime
) -> list[Event]:
    """Return an event for each answer into which something was pasted.

    What cannot be read is left out: it never keeps an answer from being stored.

    Args:
        participant_id: Whose they are.
        answered: The questions that have an answer.
        given: The form's fields.
        now: The time.
    """
    try:
        told = json.loads(given.get(PASTED_FIELD) or "{}")
    except (ValueError, RecursionError):
        return []
    if not isinstance(told, dict):
        return []
    return [
        Event(
            participant_id=participant_id,
            kind=EventKind.PASTED,
            detail={"question": name, "n_characters": str(told[name])},
            at=now,
        )
        for name in answered
        if type(told.get(name)) is int and 0 < told[name] < 10**9
    ]
