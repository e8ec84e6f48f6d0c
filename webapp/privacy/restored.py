"""Repeat, in a restored database, the erasures and corrections that came after the backup."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from experiment.participation import Ending, EventKind, State
from webapp.core.sealing import forgotten_id, is_forgotten
from webapp.database.engine import make_sessions, reading
from webapp.database.key_identity import renew_digests
from webapp.database.locks import advisory_lock
from webapp.database.models import Assignment, Event, Participant, Run
from webapp.database.models.identity import sealer_of
from webapp.erasures.file import (
    Entry,
    WishKind,
    append_entries,
    compute_digest_text,
    compute_mark,
    overwrite_erased_corrections,
    take_over_older_file,
)
from webapp.erasures.record import (
    ErasureRecord,
    group_amendments,
    load_entries,
    select_final_wishes,
    sign_record,
    store_entries,
)
from webapp.privacy.amendments import (
    apply_corrections,
    list_correctable_questions,
    load_answers,
    set_restriction,
)
from webapp.privacy.forget import find_participant, find_worker, forget_person
from webapp.runs.runs import load_launched_study
from webapp.sessions.leave import Wish, end_visit, erase_data, has_no_data, withdraw

# An arbitrary number that no other program uses as an advisory lock in the same database.
_LOCK_KEY = 0x7061_7261_6572_6173
_WISH_KINDS = {
    EventKind.WITHDRAWN: WishKind.WITHDRAWN,
    EventKind.ERASED: WishKind.ERASED,
    EventKind.FORGOTTEN: WishKind.FORGOTTEN,
}


# What identifies equal wishes: ``Entry.key``.
_Key = tuple[str, str, str]


def _remove_known(entries: Mapping[_Key, Entry], known: Mapping[_Key, Entry]) -> list[Entry]:
    """Return the entries whose keys are not among the known ones."""
    return [entry for key, entry in entries.items() if key not in known]


def repeat_wishes(instance: Path, engine: Engine, now: datetime) -> int:
    """Carry out the record's wishes that the database lacks; return the number of people affected.

    Wishes that only the database knows (received by another machine) are added to the record, so
    that both agree afterwards.

    Args:
        instance: The instance folder, which contains the record.
        engine: The installation's database, with the current schema.
        now: The time.

    Raises:
        WebappError: The record cannot be read or written, or needs a key that is missing.
    """
    renew_digests(engine)
    record = ErasureRecord(instance, sealer_of(engine.dialect))
    take_over_older_file(instance, sealer_of(engine.dialect))
    overwrite_erased_corrections(instance)
    sessions = make_sessions(engine)
    with reading(sessions) as session:
        record_entries = {entry.key: entry for entry in record.entries()}
        stored_entries = load_entries(session)
        # A database of an earlier version stores the wishes only as events.
        event_entries = (
            {} if stored_entries else {e.key: e for e in _read_entries_from_events(session, record)}
        )
        if record_entries.keys() == stored_entries.keys() and not event_entries:
            append_entries(instance, ())  # an empty record states that there are no wishes
            sign_record(instance, sealer_of(engine.dialect))
            return 0
    with sessions.begin() as session:
        if engine.dialect.name != "sqlite":
            # Every server process runs this at start-up.
            advisory_lock(session.connection(), _LOCK_KEY, wait=True)
        stored_entries = load_entries(session)
        known_entries = {**event_entries, **stored_entries}
        append_entries(instance, _remove_known(known_entries, record_entries))
        sign_record(instance, sealer_of(engine.dialect))
        overwrite_erased_corrections(instance)
        store_entries(session, _remove_known({**event_entries, **record_entries}, stored_entries))
        new_entries = _remove_known(record_entries, stored_entries)
        wishes, amendments = select_final_wishes(new_entries), group_amendments(new_entries)
        n_repeated = sum(_repeat_final_wishes(session, record, wishes, now)) if wishes else 0
        if amendments:
            # If a participant asked repeatedly, the newest wish counts.
            _repeat_amendments(
                session,
                record,
                amendments,
                group_amendments({**record_entries, **stored_entries}.values()),
                now,
            )
        return n_repeated


def _read_entries_from_events(session: Session, record: ErasureRecord) -> Iterator[Entry]:
    wish_events = select(Event.kind, Event.at, Participant.ref).join(
        Participant, Participant.id == Event.participant_id
    )
    digest = sealer_of(session.get_bind().dialect).digest
    for kind, at, ref in session.execute(wish_events.where(Event.kind.in_(_WISH_KINDS))):
        yield Entry(
            _WISH_KINDS[EventKind(kind)], digest(compute_digest_text(compute_mark(ref))), at
        )


def _repeat_final_wishes(
    session: Session, record: ErasureRecord, wishes: Mapping[str, Entry], now: datetime
) -> Iterator[int]:
    """Carry out the final wishes that the database lacks; yield 1 for each one carried out."""
    for id_, ref in session.execute(select(Participant.id, Participant.ref)).all():
        if entry := record.find_final_wish(compute_mark(ref), wishes):
            yield int(_repeat_wish(session, session.get_one(Participant, id_), entry, record, now))
    for assignment in session.scalars(select(Assignment)).all():
        if not is_forgotten(assignment.worker_id):
            mark = forgotten_id(assignment.platform_id, assignment.worker_id)
            if record.find_final_wish(mark, wishes):
                forget_person(session, find_worker(session, assignment), now, record)
                yield 1


def _repeat_amendments(
    session: Session,
    record: ErasureRecord,
    new_amendments: Mapping[str, Sequence[Entry]],
    all_amendments: Mapping[str, Sequence[Entry]],
    now: datetime,
) -> None:
    """Apply the record's corrections and restrictions again to a restored database."""
    for id_, ref in session.execute(select(Participant.id, Participant.ref)).all():
        mark = compute_mark(ref)
        if record.collect_amendments(mark, new_amendments) == ({}, None):
            continue
        participant = session.get_one(Participant, id_)
        corrections, use_entry = record.collect_amendments(mark, all_amendments)
        if corrections:
            study = load_launched_study(session, session.get_one(Run, participant.run_id))
            current_answers = load_answers(session, participant)
            # Participants whose answers the backup lacks are asked again, so nothing is corrected.
            correctable_fields = {
                question.name
                for question in list_correctable_questions(session, study, participant)
            }
            outdated = {
                k: v
                for k, v in corrections.items()
                if k in correctable_fields and v != current_answers.get(k, "")
            }
            apply_corrections(session, participant, outdated, now)
        if use_entry is not None and not has_no_data(participant):
            restricted_at = use_entry.at if use_entry.deed is WishKind.RESTRICTED else None
            if (restricted_at is None) != (participant.restricted_at is None):
                set_restriction(session, participant, restricted_at, use_entry.at or now)


def _repeat_wish(
    session: Session, participant: Participant, entry: Entry, record: ErasureRecord, now: datetime
) -> bool:
    """Carry out one wish; return whether the database did not have it yet."""
    event_kinds = select(Event.kind).where(Event.participant_id == participant.id)
    kinds = {_WISH_KINDS.get(EventKind(kind)) for kind in session.scalars(event_kinds)}
    if entry.deed in kinds or WishKind.FORGOTTEN in kinds:
        return False
    time = entry.at or now
    if entry.deed is WishKind.FORGOTTEN:
        forget_person(session, find_participant(session, participant), time, record)
    elif participant.state in (State.ARRIVED, State.DECLINED):
        # The participant had not begun when the backup was made.
        end_visit(session, participant, Ending.WITHDRAWN, time)
        erase_data(session, participant)
    else:
        wish = Wish.KEEP if entry.deed is WishKind.WITHDRAWN else Wish.ERASE
        withdraw(session, participant, wish, time, record)
    return True
