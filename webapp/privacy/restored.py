"""Carry out again, in a restored database, the wishes that participants made after the backup."""

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
from webapp.erasures.file import Deed, Entry, append, blank, content, mark_of, take_over_older_file
from webapp.erasures.record import Record, by_digest, furthest, known_entries, sign, store
from webapp.privacy.amendments import answers_of, apply_corrections, correctable, mark_restricted
from webapp.privacy.forget import find_participant, find_worker, forget
from webapp.runs.runs import study_as_launched
from webapp.sessions.leave import Wish, erase_data, leave, nothing_is_stored, withdraw

# An arbitrary number that no other program uses as an advisory lock in the same database.
_LOCK = 0x7061_7261_6572_6173
_DEEDS = {
    EventKind.WITHDRAWN: Deed.WITHDRAWN,
    EventKind.ERASED: Deed.ERASED,
    EventKind.FORGOTTEN: Deed.FORGOTTEN,
}


def carry_out_again(instance: Path, engine: Engine, now: datetime) -> int:
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
    record = Record(instance, sealer_of(engine.dialect))
    take_over_older_file(instance, sealer_of(engine.dialect))
    blank(instance)
    sessions = make_sessions(engine)
    with reading(sessions) as session:
        filed = {each.key: each for each in record.entries()}
        known = known_entries(session)
        # A database of an earlier version stores the wishes only as events.
        older = {} if known else {e.key: e for e in _of_events(session, record)}
        if filed.keys() == known.keys() and not older:
            append(instance, ())  # an empty record states that there are no wishes
            sign(instance, sealer_of(engine.dialect))
            return 0
    with sessions.begin() as session:
        if engine.dialect.name != "sqlite":
            # Every server process runs this at start-up.
            advisory_lock(session.connection(), _LOCK, wait=True)
        known = known_entries(session)
        append(instance, [e for key, e in {**older, **known}.items() if key not in filed])
        sign(instance, sealer_of(engine.dialect))
        blank(instance)
        store(session, [e for key, e in {**older, **filed}.items() if key not in known])
        new = [each for key, each in filed.items() if key not in known]
        wishes, amended = furthest(new), by_digest(new)
        done = sum(_carry_out(session, record, wishes, now)) if wishes else 0
        if amended:
            # If a participant asked repeatedly, the newest wish counts.
            _amend(session, record, amended, by_digest({**filed, **known}.values()), now)
        return done


def _of_events(session: Session, record: Record) -> Iterator[Entry]:
    noted = select(Event.kind, Event.at, Participant.ref).join(
        Participant, Participant.id == Event.participant_id
    )
    digest = sealer_of(session.get_bind().dialect).digest
    for kind, at, ref in session.execute(noted.where(Event.kind.in_(_DEEDS))):
        yield Entry(_DEEDS[EventKind(kind)], digest(content(mark_of(ref))), at)


def _carry_out(
    session: Session, record: Record, wishes: Mapping[str, Entry], now: datetime
) -> Iterator[int]:
    """Carry out the final wishes that the database lacks; yield 1 for each one carried out."""
    for id_, ref in session.execute(select(Participant.id, Participant.ref)).all():
        if entry := record.deed_of(mark_of(ref), wishes):
            yield int(_done(session, session.get_one(Participant, id_), entry, record, now))
    for assignment in session.scalars(select(Assignment)).all():
        if not is_forgotten(assignment.worker_id):
            mark = forgotten_id(assignment.platform_id, assignment.worker_id)
            if record.deed_of(mark, wishes):
                forget(session, find_worker(session, assignment), now, record)
                yield 1


def _amend(
    session: Session,
    record: Record,
    new: Mapping[str, Sequence[Entry]],
    every: Mapping[str, Sequence[Entry]],
    now: datetime,
) -> None:
    """Apply the record's corrections and restrictions again to a restored database."""
    for id_, ref in session.execute(select(Participant.id, Participant.ref)).all():
        mark = mark_of(ref)
        if record.amendments_of(mark, new) == ({}, None):
            continue
        participant = session.get_one(Participant, id_)
        corrections, use = record.amendments_of(mark, every)
        if corrections:
            study = study_as_launched(session, session.get_one(Run, participant.run_id))
            before = answers_of(session, participant)
            # Participants whose answers the backup lacks are asked again, so nothing is corrected.
            asked = {each.name for each in correctable(session, study, participant)}
            stale = {k: v for k, v in corrections.items() if k in asked and v != before.get(k, "")}
            apply_corrections(session, participant, stale, now)
        if use is not None and not nothing_is_stored(participant):
            since = use.at if use.deed is Deed.RESTRICTED else None
            if (since is None) != (participant.restricted_at is None):
                mark_restricted(session, participant, since, use.at or now)


def _done(
    session: Session, participant: Participant, entry: Entry, record: Record, now: datetime
) -> bool:
    """Carry out one wish; return whether the database did not have it yet."""
    noted = select(Event.kind).where(Event.participant_id == participant.id)
    kinds = {_DEEDS.get(EventKind(kind)) for kind in session.scalars(noted)}
    if entry.deed in kinds or Deed.FORGOTTEN in kinds:
        return False
    at = entry.at or now
    if entry.deed is Deed.FORGOTTEN:
        forget(session, find_participant(session, participant), at, record)
    elif participant.state in (State.ARRIVED, State.DECLINED):
        # The participant had not begun when the backup was made.
        leave(session, participant, Ending.WITHDRAWN, at)
        erase_data(session, participant)
    else:
        wish = Wish.KEEP if entry.deed is Deed.WITHDRAWN else Wish.ERASE
        withdraw(session, participant, wish, at, record)
    return True
