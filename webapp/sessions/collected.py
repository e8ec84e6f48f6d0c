"""What pages and server store about a participant's session, frozen with each run at its launch.

The tables' columns, the kinds of events, and the details of the response type are the
declarations. What a later version adds is in the consent of the runs launched from then on, and is
stored in these alone.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace

from sqlalchemy import Table
from sqlalchemy.orm import Session

from experiment.participation import EventKind
from experiment.responses.base import GivenAnswer, ResponseType
from webapp.core.i18n import N_
from webapp.database.models import Device, Response, Run
from webapp.database.models.installation import set_stamp, stamp_of

# Names such as "response.rt_ms", "device.language", "event.late_answer" and "details.typed.text",
# and uses of them.
Collected = frozenset[str]

TABLES: tuple[Table, ...] = (Response.__table__, Device.__table__)  # type: ignore[assignment]
# What the consent page says of an event, if none of its other sentences does.
EVENT_SENTENCES: Mapping[EventKind, str] = {
    EventKind.LATE_ANSWER: N_("A second, different answer to the same choice."),
    EventKind.SHOWN_OTHERWISE: N_("Whether your screen showed anything other than what we sent."),
}
# That participants of a run may be compared with those of other runs, which such people are told.
ACROSS_RUNS = "use.compared_across_runs"
_USE_SENTENCES: Mapping[str, str] = {
    ACROSS_RUNS: N_(
        "We may compare your times and the length of your mouse movements with those of other"
        " participants, also in other studies on this site, to find sessions that repeat one"
        " another. A person decides what that means."
    ),
}
# What Parallax's own response types say of their details; here for the catalogues.
DETAIL_SENTENCES = (
    N_(
        "What you type in a trial, as you typed it; when you began and ended; how often you deleted"
        " something; and whether you pasted it, your device put it in, or you typed it with an"
        " input method, as for Chinese."
    ),
    N_(
        "The list that you type in a trial, as you typed it; when you made each entry; how often"
        " you deleted something; and whether you pasted something."
    ),
)
# In the list of each run that was launched since the details of response types are in it.
_DETAILS = "details"
# Runs that were launched before the list was frozen with a run store exactly these.
_BEFORE = {
    "response": (
        "id trial_id client_uuid chosen_side rating rt_ms input_method viewport_width_px"
        " viewport_height_px was_hidden lost_focus client_time release_ms onset_source"
        " onset_uncertainty_ms times_shown seen_before_ms waited_ms trusted pointer_moves"
        " pointer_path_px pointer_stopped_ms hidden_ms frames_dropped pixel_ratio round_trip_ms"
        " recorded_at steps trace"
    ),
    "device": (
        "id participant_id mark user_agent_family refresh_rate_hz time_zone_offset_min language"
        " automated noted_at"
    ),
    "event": (
        "premature_press shown_otherwise late_answer second_device comprehension_wrong pasted"
        " assented left withdrawn erased forgotten corrected restricted released"
    ),
}
COLLECTED_BEFORE: Collected = frozenset(
    f"{table}.{name}" for table, names in _BEFORE.items() for name in names.split()
)


def list_collected(response: ResponseType) -> Collected:
    """Return what a run that is launched now stores.

    Args:
        response: The response type of its trials.
    """
    return frozenset(name for name, _ in _list_declarations(response))


def freeze_collected(session: Session, run: Run, response: ResponseType) -> None:
    """Store with a new run the list of the data that it collects."""
    collected = json.dumps(sorted(list_collected(response)))
    set_stamp(session.connection(), _stamp_name(run), collected)


def collected_of(session: Session, run: Run) -> Collected:
    """Return what a run stores, as frozen at its launch."""
    frozen = stamp_of(session.connection(), _stamp_name(run))
    return COLLECTED_BEFORE if frozen is None else frozenset(json.loads(frozen))


def list_uncollected_fields(collected: Collected, response: ResponseType) -> Collected:
    """Return the data that this version can store, but a run with this list does not."""
    missing_fields = list_collected(response) - collected
    return frozenset(name for name in missing_fields if not _covers(collected, name)).difference(
        _USE_SENTENCES
    )


def keep_collected_details(
    answer: GivenAnswer, response: ResponseType, left_out: Collected
) -> GivenAnswer:
    """Return an answer with those of its details that are declared and that the run stores.

    Args:
        answer: The answer, which has details.
        response: The response type of its trial.
        left_out: The fields that the run does not store.
    """
    stored = {
        key: value
        for key, value in (answer.details or {}).items()
        if key in response.details and _name_detail(response, key) not in left_out
    }
    return replace(answer, details=stored)


def list_declared_sentences(collected: Collected, response: ResponseType) -> Iterator[str]:
    """Yield the English sentences of the declarations about what is stored, each once."""
    yield from dict.fromkeys(
        sentence
        for name, sentence in _list_declarations(response)
        if sentence and _covers(collected, name)
    )


def _list_declarations(response: ResponseType) -> Iterator[tuple[str, str]]:
    """Yield each declaration's name and sentence; empty if another sentence describes it."""
    yield _DETAILS, ""
    yield from _list_details(response)
    for table in TABLES:
        for column in table.columns:
            yield f"{table.name}.{column.name}", column.info.get("told", "")
    for kind in EventKind:
        yield f"event.{kind}", EVENT_SENTENCES.get(kind, "")
    yield from _USE_SENTENCES.items()


def _covers(collected: Collected, name: str) -> bool:
    """Return whether a run's list has a field; lists from before have no details, but mean all."""
    return name in collected or (name.startswith(_DETAILS) and _DETAILS not in collected)


def _list_details(response: ResponseType) -> Iterator[tuple[str, str]]:
    """Yield the name and sentence of each detail of each task's answers."""
    for type_ in response.types.values() or (response,):
        for key, told in type_.details.items():
            yield _name_detail(type_, key), told


def _name_detail(response: ResponseType, key: str) -> str:
    return f"{_DETAILS}.{response.measured_name}.{key}"


def _stamp_name(run: Run) -> str:
    return f"collected {run.ref}"
