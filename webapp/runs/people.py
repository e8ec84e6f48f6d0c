"""Rows of a run's participants, and the complete record of one participant."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from experiment.integrity.certificate import Certificate
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
    SessionSummary,
    Trial,
    Verdict,
)


@dataclass(frozen=True, slots=True)
class Plausibility:
    """How plausible a session is, compared with all sessions.

    Attributes:
        certificate: The certificate.
        twins: The other participants whose answers have exactly the same times, and the number of
            such answers, in decreasing order.
    """

    certificate: Certificate
    twins: Sequence[tuple[str, int]]


def parse_plausibility(stored: Mapping[str, Any] | None) -> Plausibility | None:
    """Return a summary's plausibility; None if missing or made by another version of Parallax."""
    if stored is None:
        return None
    figures = stored["certificate"]
    if set(figures) != set(Certificate.__dataclass_fields__):
        return None
    signals = tuple((name, nats) for name, nats in figures["signals"])
    twins = [(ref, n) for ref, n in stored["twins"]]
    return Plausibility(Certificate(**{**figures, "signals": signals}), twins)


@dataclass(frozen=True, slots=True)
class AnswerStatistics:
    """Statistics of one participant's answers.

    Attributes:
        answered: The number of answered trials.
        median_rt_ms: The median reaction time; None if none was stored.
        fast: The number of answers in under 200 ms.
        same_side: The share of answers on the side that was chosen more often.
        hidden: The number of trials during which the page was hidden or lost the focus.
        waited_s: The longest time that an answer waited in the browser before it was stored; None
            if no page reported it.
    """

    answered: int = 0
    median_rt_ms: float | None = None
    fast: int = 0
    same_side: float | None = None
    hidden: int = 0
    waited_s: float | None = None


@dataclass(frozen=True, slots=True)
class ParticipantRow:
    """One row of the table of participants.

    Attributes:
        participant: The participant.
        verdict: The verdict of the exclusion rules; None before it.
        signals: The statistics of the participant's answers.
        events: The number of recorded events of each kind.
        judged: The session's plausibility in the last summary; None without a summary.
    """

    participant: Participant
    verdict: Verdict | None
    signals: AnswerStatistics
    events: Mapping[str, int]
    judged: Plausibility | None

    @property
    def minutes(self) -> float | None:
        """The duration from consent to the end."""
        begun, end = self.participant.consented_at, self.participant.finished_at
        return (end - begun) / timedelta(minutes=1) if begun and end else None


_TOO_FAST_MS = 200


def list_people(session: Session, ids: Sequence[int]) -> list[ParticipantRow]:
    """Return the rows of some participants, in the order given, reading only their data.

    Args:
        session: A reading session.
        ids: The participants' ids.
    """
    chosen = (
        select(Participant, Verdict, SessionSummary.judged)
        .outerjoin(Verdict, Verdict.participant_id == Participant.id)
        .outerjoin(SessionSummary, SessionSummary.participant_id == Participant.id)
        .where(Participant.id.in_(ids))
    )
    # For participants whose data are restricted, only the arrival is shown.
    of_use = Participant.id.in_(ids), Participant.restricted_at.is_(None)
    used = session.scalars(select(Participant.id).where(*of_use)).all()
    signals, events = compute_answer_statistics(session, used), count_events(session, used)
    people_by_id = {
        person.id: ParticipantRow(
            person,
            verdict if person.restricted_at is None else None,
            signals.get(person.id, AnswerStatistics()),
            events.get(person.id, {}),
            parse_plausibility(stored) if person.restricted_at is None else None,
        )
        for person, verdict, stored in session.execute(chosen)
    }
    return [people_by_id[id_] for id_ in ids if id_ in people_by_id]


def compute_answer_statistics(session: Session, ids: Sequence[int]) -> dict[int, AnswerStatistics]:
    """Return the answer statistics of those of the participants who answered a trial."""
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
        .where(Trial.participant_id.in_(ids))
        .order_by(Trial.participant_id, Response.rt_ms)
    )
    answers: dict[int, list[_AnswerFacts]] = {}
    for participant_id, rt_ms, side, was_hidden, lost_focus, waited_ms in rows:
        answer = (rt_ms, side, bool(was_hidden or lost_focus), waited_ms)
        answers.setdefault(participant_id, []).append(answer)
    return {who: _summarise_answers(answer) for who, answer in answers.items()}


# Reaction time, side, whether the page lost the focus, and the answer's waiting time.
_AnswerFacts = tuple[float | None, str, bool, float | None]


def _summarise_answers(given: Sequence[_AnswerFacts]) -> AnswerStatistics:
    times = [rt_ms for rt_ms, _, _, _ in given if rt_ms is not None]
    sides = [side for _, side, _, _ in given]
    waited = [waited_ms for _, _, _, waited_ms in given if waited_ms is not None]
    n_most_frequent = max(map(sides.count, set(sides)))
    return AnswerStatistics(
        answered=len(given),
        median_rt_ms=times[len(times) // 2] if times else None,
        fast=sum(rt_ms < _TOO_FAST_MS for rt_ms in times),
        same_side=n_most_frequent / len(sides),
        hidden=sum(away for _, _, away, _ in given),
        waited_s=max(waited) / 1000 if waited else None,
    )


def count_events(session: Session, ids: Sequence[int]) -> dict[int, dict[str, int]]:
    """Return the number of events of each kind for some participants."""
    rows = session.execute(
        select(Event.participant_id, Event.kind, func.count())
        .where(Event.participant_id.in_(ids))
        .group_by(Event.participant_id, Event.kind)
        .order_by(Event.participant_id, Event.kind)
    )
    counts: dict[int, dict[str, int]] = {}
    for participant_id, kind, number in rows:
        counts.setdefault(participant_id, {})[kind] = number
    return counts


@dataclass(frozen=True, slots=True)
class AnsweredTrial:
    """A trial of one participant; the response is None if the trial was not answered."""

    trial: Trial
    item: RunItem
    response: Response | None


@dataclass(frozen=True, slots=True)
class ParticipantRecord:
    """All stored data of one participant.

    Attributes:
        participant: The participant.
        consent: The text of the consent.
        trials: The trials, by position.
        answers: The questionnaire's answers.
        events: The events, in the order of recording.
        devices: The devices that opened the session, the first one first.
        verdict: The verdict of the exclusion rules; None before it.
        payments: The ledger's lines.
        judged: The session's plausibility in the last summary; None without a summary.
        before: The reference of the previous participant of the run; None for the first.
        after: The reference of the next participant; None for the last.
    """

    participant: Participant
    consent: ConsentText | None
    trials: Sequence[AnsweredTrial]
    answers: Sequence[Answer]
    events: Sequence[Event]
    devices: Sequence[Device]
    verdict: Verdict | None
    payments: Sequence[Payment]
    judged: Plausibility | None
    before: str | None
    after: str | None


def load_participant_record(session: Session, run: Run, ref: str) -> ParticipantRecord | None:
    """Return all stored data of a run's participant; None if there is no such participant."""
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
    plausibility = select(SessionSummary.judged).where(SessionSummary.participant_id == person.id)
    devices = select(Device).where(Device.participant_id == person.id).order_by(Device.id)
    neighbours = select(Participant.ref).where(Participant.run_id == run.id).limit(1)
    query_before = neighbours.where(Participant.id < person.id).order_by(Participant.id.desc())
    query_after = neighbours.where(Participant.id > person.id).order_by(Participant.id)
    return ParticipantRecord(
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
        judged=parse_plausibility(session.scalar(plausibility)),
        before=session.scalar(query_before),
        after=session.scalar(query_after),
    )
