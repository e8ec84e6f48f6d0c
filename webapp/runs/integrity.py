"""The certificates of a run's sessions, made from what is stored, whenever somebody asks.

Nothing of them is stored: they follow from stored rows alone, so that a signal that is added later
says something of earlier runs, too. What an exclusion rule saw is in its verdict's evidence.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any

from sqlalchemy import Select, and_, func, select
from sqlalchemy.orm import Session, aliased

from experiment.exclusion.integrity import flags
from experiment.integrity.certificate import Certificate, certify
from experiment.integrity.norms import Norms
from experiment.integrity.observed import ObservedAnswer, ObservedSession
from experiment.participation import Ending, EventKind
from experiment.records import PAIR
from experiment.studies.study import Study
from experiment.trials.pauses import breaks_before, pages_before
from webapp.database.models import Device, Event, Participant, Response, Run, RunItem, Trial

_ROWS_AT_A_TIME = 2_000
_MS = timedelta(milliseconds=1)
_TEXTS = ("context", "good", "bad")


def certificates(
    session: Session, run: Run, study: Study, *, only: int | None = None
) -> Iterator[tuple[Participant, Certificate]]:
    """Yield everybody who answered a trial with their certificate, in order of arrival.

    Args:
        session: A reading session.
        run: The run.
        study: Its study, as it was launched.
        only: The id of the one participant who is asked about; None for all.
    """
    norms = Norms.from_sessions(_what_everybody_did(session, run))
    for person, seen in observed_sessions(session, run, study, only=only):
        yield person, certify(seen, norms.without(seen))


def observed_sessions(
    session: Session, run: Run, study: Study, *, only: int | None = None
) -> Iterator[tuple[Participant, ObservedSession]]:
    """Yield everybody who answered a trial with what the server saw of them, likewise."""
    facts = _Facts(session, run, study)
    answers = _answers(run)
    if only is not None:
        answers = answers.where(Participant.id == only)
    with session.execute(answers.execution_options(yield_per=_ROWS_AT_A_TIME)) as found:
        for person, rows in groupby(found, key=lambda row: row.Participant):
            yield person, facts.observed(person, list(rows))


def certificate_of(
    session: Session, run: Run, study: Study, participant: Participant
) -> Certificate | None:
    """Return one participant's certificate; None where they answered nothing."""
    found = next(certificates(session, run, study, only=participant.id), None)
    return found and found[1]


def flags_of(run: Run, certificate: Certificate) -> dict[str, str]:
    """Return a session's flags with their figures; of programs that shall answer there are none."""
    return {} if run.simulated else flags(certificate)


def integrity_rows(session: Session, run: Run, study: Study) -> Iterator[dict[str, object]]:
    """Yield the rows of the table ``integrity``."""
    for person, certificate in certificates(session, run, study):
        if person.ending == Ending.WITHDRAWN:
            continue
        row: dict[str, object] = {
            name: getattr(certificate, name)
            for name in Certificate.__dataclass_fields__
            if name != "signals"
        }
        signals = " ".join(f"{name}={nats:.2f}" for name, nats in certificate.signals)
        yield {
            "participant": person.ref,
            **row,
            "signals": signals,
            "flags": " ".join(flags_of(run, certificate)),
        }


class _Facts:
    """What is known of a run's sessions beside their answers."""

    def __init__(self, session: Session, run: Run, study: Study) -> None:
        self._study = study
        of_run = (Participant.run_id == run.id,)
        devices = select(Device).join(Participant, Participant.id == Device.participant_id)
        self._devices: dict[int, list[Device]] = {}
        for device in session.scalars(devices.where(*of_run).order_by(Device.id)):
            self._devices.setdefault(device.participant_id, []).append(device)
        events = (
            select(Event.participant_id, Event.kind, func.count(Event.id))
            .join(Participant, Participant.id == Event.participant_id)
            .where(*of_run, Event.kind.in_((EventKind.PREMATURE_PRESS, EventKind.PASTED)))
            .group_by(Event.participant_id, Event.kind)
        )
        self._events: Mapping[tuple[int, str], int] = {
            (who, kind): n for who, kind, n in session.execute(events)
        }
        self._shared = {tuple(row) for row in session.execute(_shared_times(run))}

    def observed(self, person: Participant, rows: list[Any]) -> ObservedSession:
        begun = person.consented_at or person.arrived_at
        devices = self._devices.get(person.id, [])
        blocks = [self._study.design.block_of.get(row.item["template"], "") for row in rows]
        pauses = {*breaks_before(self._study, blocks), *pages_before(self._study, blocks)}
        answers = tuple(_answer(row, row.Response, begun) for row in rows if row.Response)
        return ObservedSession(
            answers=answers,
            n_devices=len(devices),
            device_facts=_n_facts(devices[0]) if devices else 0,
            automated=_automated(devices),
            n_premature=self._events.get((person.id, EventKind.PREMATURE_PRESS), 0),
            n_pasted=self._events.get((person.id, EventKind.PASTED), 0),
            lockout_ms=self._study.trial.lockout_ms,
            gap_ms=self._study.trial.gap_ms,
            after_pauses=frozenset(rows[place - 1].position for place in pauses),
            n_copied=sum((one.rt_ms, one.release_ms) in self._shared for one in answers),
        )


def _answers(
    run: Run,
) -> Select[Participant, int, str, str | None, str, dict[str, str], Response]:
    answered = (
        select(Response.id)
        .join(Trial, Trial.id == Response.trial_id)
        .where(Trial.participant_id == Participant.id)
    )
    return (
        select(
            Participant,
            Trial.position,
            Trial.good_side,
            Trial.options,
            RunItem.item_id,
            RunItem.item,
            Response,
        )
        .join(Trial, Trial.participant_id == Participant.id)
        .join(RunItem, RunItem.id == Trial.run_item_id)
        .outerjoin(Response, Response.trial_id == Trial.id)
        .where(Participant.run_id == run.id, answered.exists())
        .order_by(Participant.id, Trial.position)
    )


def _shared_times(run: Run) -> Select[float | None, float | None]:
    """Select the pairs of times of press and release that answers of two people have."""
    return (
        select(Response.rt_ms, Response.release_ms)
        .join(Trial, Trial.id == Response.trial_id)
        .join(Participant, Participant.id == Trial.participant_id)
        .where(Participant.run_id == run.id, Response.release_ms.is_not(None))
        .group_by(Response.rt_ms, Response.release_ms)
        .having(func.count(Participant.id.distinct()) > 1)
    )


def same_times(session: Session, run: Run, person: Participant) -> list[tuple[str, int]]:
    """Return who else in the run has the very times of somebody's answers, and in how many.

    Returns:
        References and numbers of answers, the most first.
    """
    theirs, others = aliased(Response), aliased(Response)
    own_trial, other_trial = aliased(Trial), aliased(Trial)
    number = func.count(theirs.id.distinct())
    rows = session.execute(
        select(Participant.ref, number)
        .select_from(theirs)
        .join(own_trial, own_trial.id == theirs.trial_id)
        .join(others, and_(others.rt_ms == theirs.rt_ms, others.release_ms == theirs.release_ms))
        .join(other_trial, other_trial.id == others.trial_id)
        .join(Participant, Participant.id == other_trial.participant_id)
        .where(
            own_trial.participant_id == person.id,
            Participant.run_id == run.id,
            Participant.id != person.id,
            theirs.release_ms.is_not(None),
        )
        .group_by(Participant.ref)
        .order_by(number.desc(), Participant.ref)
    )
    return [(ref, n) for ref, n in rows]


def _what_everybody_did(session: Session, run: Run) -> Iterator[ObservedSession]:
    """Yield every session with its choices and times alone."""
    items = select(RunItem.id, RunItem.item_id, RunItem.item).where(RunItem.run_id == run.id)
    facts = {
        id_: (item_id, _kind(item), _n_characters(item))
        for id_, item_id, item in session.execute(items)
    }
    rows = (
        select(
            Trial.participant_id,
            Trial.position,
            Trial.run_item_id,
            Trial.good_side,
            Trial.options,
            Response.chosen_side,
            Response.rt_ms,
        )
        .join(Response, Response.trial_id == Trial.id)
        .join(Participant, Participant.id == Trial.participant_id)
        .where(Participant.run_id == run.id)
        .order_by(Trial.participant_id, Trial.position)
    )
    with session.execute(rows.execution_options(yield_per=_ROWS_AT_A_TIME)) as found:
        for _, of_one in groupby(found, key=lambda row: row.participant_id):
            answers = []
            for row in of_one:
                item, kind, n_characters = facts[row.run_item_id]
                answers.append(
                    ObservedAnswer(
                        position=row.position,
                        arrived_ms=0.0,
                        rt_ms=row.rt_ms,
                        item=item,
                        kind=kind,
                        n_characters=n_characters,
                        chose_good=_chose_good(row, row.chosen_side),
                    )
                )
            yield ObservedSession(tuple(answers))


def _kind(item: Mapping[str, str]) -> str:
    return f"{item['construction']}, {item['condition']}"


def _n_characters(item: Mapping[str, str]) -> int:
    return sum(len(item.get(name) or "") for name in _TEXTS)


def _chose_good(trial: Any, chosen_side: str) -> bool | None:  # noqa: ANN401
    """Return whether the expected one of two options was chosen; None for other trials."""
    pair = not trial.options or len(trial.options.split()) == len(PAIR)
    return chosen_side == trial.good_side if pair and chosen_side and trial.good_side else None


def _answer(row: Any, response: Response, begun: datetime) -> ObservedAnswer:  # noqa: ANN401
    return ObservedAnswer(
        position=row.position,
        arrived_ms=(response.recorded_at - begun) / _MS,
        rt_ms=response.rt_ms,
        release_ms=response.release_ms,
        waited_ms=response.waited_ms,
        input_method=response.input_method,
        side=response.chosen_side or str(response.rating),
        n_characters=_n_characters(row.item),
        item=row.item_id,
        kind=_kind(row.item),
        chose_good=_chose_good(row, response.chosen_side),
        has_onset=response.onset_source is not None,
        trusted=response.trusted,
        times_shown=response.times_shown,
        seen_before_ms=response.seen_before_ms,
        pointer_moves=response.pointer_moves,
        pointer_path_px=response.pointer_path_px,
        pointer_stopped_ms=response.pointer_stopped_ms,
        was_hidden=response.was_hidden,
        lost_focus=response.lost_focus,
    )


def _automated(devices: Sequence[Device]) -> bool | None:
    told = [device.automated for device in devices if device.automated is not None]
    return any(told) if told else None


def _n_facts(device: Device) -> int:
    return sum(
        (
            bool(device.user_agent_family),
            device.refresh_rate_hz is not None,
            device.time_zone_offset_min is not None,
            bool(device.language),
        )
    )
