"""What pages and server store about a participant's session, frozen with each run at its launch.

The tables' columns and the kinds of events are the declarations. A column or kind that a later
version adds is in the consent of the runs launched from then on, and is stored in these alone.
"""

import json
from collections.abc import Iterator, Mapping

from sqlalchemy import Table
from sqlalchemy.orm import Session

from experiment.participation import EventKind
from webapp.core.i18n import N_
from webapp.database.models import Device, Response, Run
from webapp.database.models.installation import set_stamp, stamp_of

# Names such as "response.rt_ms", "device.language" and "event.late_answer", and uses of them.
Collected = frozenset[str]

TABLES: tuple[Table, ...] = (Response.__table__, Device.__table__)  # type: ignore[assignment]
# What the consent page says of an event, if none of its other sentences does.
EVENT_SENTENCES: Mapping[EventKind, str] = {
    EventKind.LATE_ANSWER: N_("A second, different answer to the same choice."),
    EventKind.SHOWN_OTHERWISE: N_("Whether your screen showed something else than what was sent."),
}
# That participants of a run may be compared with those of other runs, which such people are told.
ACROSS_RUNS = "use.compared_across_runs"
_USE_SENTENCES: Mapping[str, str] = {
    ACROSS_RUNS: N_(
        "Your times and the length of your pointer's paths may be compared with those of other"
        " participants, also of other studies of this site, to find a session that repeats"
        " another. By itself this decides nothing: a person does."
    ),
}
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


def list_collected() -> Collected:
    """Return what a run that is launched now stores."""
    return frozenset(name for name, _ in _list_declarations())


def freeze_collected(session: Session, run: Run) -> None:
    """Store with a new run the list of the data that it collects."""
    set_stamp(session.connection(), _stamp_name(run), json.dumps(sorted(list_collected())))


def collected_of(session: Session, run: Run) -> Collected:
    """Return what a run stores, as frozen at its launch."""
    frozen = stamp_of(session.connection(), _stamp_name(run))
    return COLLECTED_BEFORE if frozen is None else frozenset(json.loads(frozen))


def list_uncollected_fields(collected: Collected) -> Collected:
    """Return the data that this version can store, but a run with this list does not."""
    missing_fields = list_collected() - collected
    return missing_fields.difference(_USE_SENTENCES)


def list_declared_sentences(collected: Collected) -> Iterator[str]:
    """Yield the English sentences of the declarations about what is stored."""
    for name, sentence in _list_declarations():
        if sentence and name in collected:
            yield sentence


def _list_declarations() -> Iterator[tuple[str, str]]:
    """Yield each declaration's name and sentence; empty if another sentence describes it."""
    for table in TABLES:
        for column in table.columns:
            yield f"{table.name}.{column.name}", column.info.get("told", "")
    for kind in EventKind:
        yield f"event.{kind}", EVENT_SENTENCES.get(kind, "")
    yield from _USE_SENTENCES.items()


def _stamp_name(run: Run) -> str:
    return f"collected {run.ref}"
