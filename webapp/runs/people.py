"""A run's participants as a table, and one of them with everything that is stored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from experiment.participation import State
from webapp.database.models import (
    Answer,
    ConsentText,
    Device,
    Event,
    Participant,
    Payment,
    Response,
    Run,
    RunItem,
    Trial,
    Verdict,
)


@dataclass(frozen=True, slots=True)
class Person:
    """One row of the table.

    Attributes:
        participant: Who.
        verdict: What the exclusion rules decided; None where they have not.
        answered: How many trials they answered.
        median_rt_ms: Their median reaction time; None if none was stored.
        fast: How many of their answers came in under 200 ms.
        same_side: The share of their answers on the side that they chose more often.
        hidden: During how many trials the page was hidden or lost the focus.
        waited_s: The longest that an answer waited in the browser before it was stored; None where
            no page told.
        events: How many events of each kind were noted.
        flags: The flags of how plausible the session is, if they were asked for.
    """

    participant: Participant
    verdict: Verdict | None
    answered: int
    median_rt_ms: float | None
    fast: int
    same_side: float | None
    hidden: int
    waited_s: float | None
    events: Mapping[str, int]
    flags: Sequence[str] = ()

    @property
    def minutes(self) -> float | None:
        """How long they took from consent to the end."""
        begun, end = self.participant.consented_at, self.participant.finished_at
        return (end - begun) / timedelta(minutes=1) if begun and end else None


_TOO_FAST_MS = 200


def people(
    session: Session, run: Run, *, state: State | None = None, search: str = ""
) -> list[Person]:
    """Return a run's participants in order of arrival.

    Args:
        session: A reading session.
        run: The run.
        state: Only those in this state; None for all.
        search: Only whose reference or own code begins with it.
    """
    chosen = (
        select(Participant, Verdict)
        .outerjoin(Verdict, Verdict.participant_id == Participant.id)
        .where(Participant.run_id == run.id)
        .order_by(Participant.id)
    )
    if state is not None:
        chosen = chosen.where(Participant.state == state)
    if search:
        chosen = chosen.where(
            or_(
                Participant.ref.startswith(search, autoescape=True),
                Participant.code.startswith(search, autoescape=True),
            )
        )
    found = session.execute(chosen).all()
    signals = _signals(session, run)
    events = _events(session, run)
    return [
        Person(person, verdict, *signals.get(person.id, _NO_SIGNALS), events.get(person.id, {}))
        for person, verdict in found
    ]


_Signals = tuple[int, float | None, int, float | None, int, float | None]
_NO_SIGNALS: _Signals = (0, None, 0, None, 0, None)


def _signals(session: Session, run: Run) -> dict[int, _Signals]:
    rows = session.execute(
        select(
            Trial.participant_id,
            Response.rt_ms,
            Response.chosen_side,
            Response.was_hidden,
            Response.lost_focus,
            Response.waited_ms,
        )
        .join(Response, Response.trial_id == Trial.id)
        .join(Participant, Participant.id == Trial.participant_id)
        .where(Participant.run_id == run.id)
        .order_by(Trial.participant_id, Response.rt_ms)
    )
    answers: dict[int, list[_Given]] = {}
    for participant_id, rt_ms, side, was_hidden, lost_focus, waited_ms in rows:
        given = (rt_ms, side, bool(was_hidden or lost_focus), waited_ms)
        answers.setdefault(participant_id, []).append(given)
    return {who: _signals_of(given) for who, given in answers.items()}


# Reaction time, side, whether the page was away, and how long the answer waited.
_Given = tuple[float | None, str, bool, float | None]


def _signals_of(given: Sequence[_Given]) -> _Signals:
    times = [rt_ms for rt_ms, _, _, _ in given if rt_ms is not None]
    sides = [side for _, side, _, _ in given]
    waited = [waited_ms for _, _, _, waited_ms in given if waited_ms is not None]
    most = max(map(sides.count, set(sides)))
    return (
        len(given),
        times[len(times) // 2] if times else None,
        sum(rt_ms < _TOO_FAST_MS for rt_ms in times),
        most / len(sides),
        sum(away for _, _, away, _ in given),
        max(waited) / 1000 if waited else None,
    )


def _events(session: Session, run: Run) -> dict[int, dict[str, int]]:
    rows = session.execute(
        select(Event.participant_id, Event.kind, func.count())
        .join(Participant, Participant.id == Event.participant_id)
        .where(Participant.run_id == run.id)
        .group_by(Event.participant_id, Event.kind)
        .order_by(Event.participant_id, Event.kind)
    )
    found: dict[int, dict[str, int]] = {}
    for participant_id, kind, number in rows:
        found.setdefault(participant_id, {})[kind] = number
    return found


@dataclass(frozen=True, slots=True)
class AnsweredTrial:
    """A trial of one participant; the response is None where it was not answered."""

    trial: Trial
    item: RunItem
    response: Response | None


@dataclass(frozen=True, slots=True)
class Record:
    """Everything that is stored of one participant.

    Attributes:
        participant: Who.
        consent: The text they agreed to.
        trials: By position.
        answers: To the questionnaire.
        events: As they were noted.
        devices: On which the session was opened, the first one first.
        verdict: What the exclusion rules decided.
        payments: The ledger's lines.
        before: The reference of who arrived before them in the run; None for the first.
        after: The reference of who arrived after them; None for the last.
    """

    participant: Participant
    consent: ConsentText | None
    trials: Sequence[AnsweredTrial]
    answers: Sequence[Answer]
    events: Sequence[Event]
    devices: Sequence[Device]
    verdict: Verdict | None
    payments: Sequence[Payment]
    before: str | None
    after: str | None


def record_of(session: Session, run: Run, ref: str) -> Record | None:
    """Return everything that is stored of a run's participant; None where there is none."""
    person = session.scalar(
        select(Participant).where(Participant.run_id == run.id, Participant.ref == ref)
    )
    if person is None:
        return None
    trials = session.execute(
        select(Trial, RunItem, Response)
        .join(RunItem, RunItem.id == Trial.run_item_id)
        .outerjoin(Response, Response.trial_id == Trial.id)
        .where(Trial.participant_id == person.id)
        .order_by(Trial.position)
    ).all()
    answers = select(Answer).where(Answer.participant_id == person.id).order_by(Answer.id)
    events = select(Event).where(Event.participant_id == person.id).order_by(Event.id)
    payments = select(Payment).where(Payment.participant_id == person.id).order_by(Payment.id)
    devices = select(Device).where(Device.participant_id == person.id).order_by(Device.id)
    neighbours = select(Participant.ref).where(Participant.run_id == run.id).limit(1)
    before = neighbours.where(Participant.id < person.id).order_by(Participant.id.desc())
    after = neighbours.where(Participant.id > person.id).order_by(Participant.id)
    return Record(
        participant=person,
        consent=session.get(ConsentText, person.consent_text_id)
        if person.consent_text_id
        else None,
        trials=[AnsweredTrial(*row) for row in trials],
        answers=session.scalars(answers).all(),
        events=session.scalars(events).all(),
        devices=session.scalars(devices).all(),
        verdict=session.scalar(select(Verdict).where(Verdict.participant_id == person.id)),
        payments=session.scalars(payments).all(),
        before=session.scalar(before),
        after=session.scalar(after),
    )
