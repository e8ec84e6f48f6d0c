"""The certificates of a run's sessions and the scores of its humanness block, from stored rows.

Certificates are not stored. They are computed from stored rows alone, so that a signal added later
also applies to earlier runs. The values that an exclusion rule used are in its verdict's evidence.
"""

from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any

from sqlalchemy import Select, and_, func, select
from sqlalchemy.orm import Session

from experiment.design.practice import breaks_before, pages_before
from experiment.exclusion.integrity import flags
from experiment.integrity.certificate import Certificate, certify
from experiment.integrity.humanness import HumannessScore, load_rates, score_answers
from experiment.integrity.observed import ObservedAnswer, ObservedSession
from experiment.integrity.replays import ReplayPair, find_replays
from experiment.materials.render import replace_pictures
from experiment.participation import Ending, EventKind
from experiment.responses.base import Gives, ResponseType
from experiment.responses.registry import response_of
from experiment.studies.study import Study
from experiment.tables.column import JUDGE, PERSON, PROGRAM
from webapp.database.models import Device, Event, Participant, Response, Run, RunItem, Trial
from webapp.errors import RunError
from webapp.runs.runs import load_launched_study
from webapp.runs.stored_answers import get_given_answer
from webapp.sessions.collected import ACROSS_RUNS, collected_of

_ROWS_AT_A_TIME = 2_000
_N_FIRST = 20
_MS = timedelta(milliseconds=1)
_TEXTS = ("context", "good", "bad")


def make_certificates(
    session: Session, run: Run, study: Study, *, only: int | None = None
) -> Iterator[tuple[Participant, Certificate]]:
    """Yield each participant who answered a trial, with a certificate, in order of arrival.

    Participants whose data are restricted are left out, unless ``only`` names one of them.

    Args:
        session: A reading session.
        run: The run.
        study: Its study, as it was launched.
        only: The id of the only participant to yield; None for all.
    """
    for person, observed in load_observed_sessions(session, run, study, only=only):
        yield person, certify(observed)


def load_observed_sessions(
    session: Session, run: Run, study: Study, *, only: int | None = None
) -> Iterator[tuple[Participant, ObservedSession]]:
    """Yield each participant who answered a trial, with the server's observations.

    Order and selection are those of ``certificates``.
    """
    facts = _SessionObservations(session, run, study)
    answers = _select_answers(run)
    # Participants who request their own data get all of it, restricted or not.
    chosen = Participant.restricted_at.is_(None) if only is None else Participant.id == only
    answers = answers.where(chosen)
    with session.execute(answers.execution_options(yield_per=_ROWS_AT_A_TIME)) as result:
        for person, rows in groupby(result, key=lambda row: row.Participant):
            yield person, facts.observed(person, list(rows))


def get_flags(run: Run, certificate: Certificate) -> dict[str, str]:
    """Return a session's flags with their figures; none for a simulated run."""
    return {} if run.simulated else flags(certificate)


def stream_integrity_rows(session: Session, run: Run, study: Study) -> Iterator[dict[str, object]]:
    """Yield the rows of the table ``integrity``."""
    for person, certificate in make_certificates(session, run, study):
        if person.ending == Ending.WITHDRAWN:
            continue
        row: dict[str, object] = {
            name: getattr(certificate, name)
            for name in Certificate.__dataclass_fields__
            if name not in ("signals", "counting", "methods", "is_measured")
        }
        signals = " ".join(f"{name}={nats:.2f}" for name, nats in certificate.signals)
        yield {
            "participant": person.ref,
            **row,
            "signals": signals,
            "flags": " ".join(get_flags(run, certificate)),
        }


class _SessionObservations:
    """The data of a run's sessions other than answers: devices, events, and shared times."""

    def __init__(self, session: Session, run: Run, study: Study) -> None:
        self._study = study
        self._type = response_of(study)
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
            (participant_id, kind): n for participant_id, kind, n in session.execute(events)
        }
        self._shared = {
            (rt_ms, release_ms): first
            for rt_ms, release_ms, first in session.execute(_select_shared_times(run))
        }

    def observed(self, person: Participant, rows: list[Any]) -> ObservedSession:
        begun = person.consented_at or person.arrived_at
        devices = self._devices.get(person.id, [])
        blocks = [self._study.design.block_of.get(row.item["template"], "") for row in rows]
        pauses = {*breaks_before(self._study, blocks), *pages_before(self._study, blocks)}
        answers = tuple(self._answer(row, begun) for row in rows if row.Response)
        return ObservedSession(
            answers=answers,
            n_devices=len(devices),
            device_facts=_count_device_facts(devices[0]) if devices else 0,
            automated=_is_automated(devices),
            n_premature=self._events.get((person.id, EventKind.PREMATURE_PRESS), 0),
            n_pasted=self._events.get((person.id, EventKind.PASTED), 0),
            lockout_ms=self._study.trial.lockout_ms,
            gap_ms=self._study.trial.gap_ms,
            after_pauses=frozenset(rows[place - 1].position for place in pauses),
            n_copied=sum(self._is_copy(row.Response) for row in rows if row.Response),
        )

    def _answer(self, row: Any, begun: datetime) -> ObservedAnswer:  # noqa: ANN401
        return _make_observed_answer(row, row.Response, begun, self._type.of_options(row.options))

    def _is_copy(self, response: Response) -> bool:
        """Return whether another answer had exactly the same times before this one."""
        first = self._shared.get((response.rt_ms, response.release_ms))
        return first is not None and response.recorded_at > first


def _select_answers(run: Run) -> Select[Participant, int, str | None, dict[str, str], Response]:
    has_answer = (
        select(Response.id)
        .join(Trial, Trial.id == Response.trial_id)
        .where(Trial.participant_id == Participant.id)
    )
    return (
        select(Participant, Trial.position, Trial.options, RunItem.item, Response)
        .join(Trial, Trial.participant_id == Participant.id)
        .join(RunItem, RunItem.id == Trial.run_item_id)
        .outerjoin(Response, Response.trial_id == Trial.id)
        .where(Participant.run_id == run.id, has_answer.exists())
        .order_by(Participant.id, Trial.position)
    )


def _select_shared_times(run: Run) -> Select[float | None, float | None, datetime]:
    """Select the pairs of press and release times that several participants share.

    Each pair comes with the time at which it was first recorded.
    """
    return (
        select(Response.rt_ms, Response.release_ms, func.min(Response.recorded_at))
        .join(Trial, Trial.id == Response.trial_id)
        .join(Participant, Participant.id == Trial.participant_id)
        .where(Participant.run_id == run.id, Response.release_ms.is_not(None))
        .where(Participant.restricted_at.is_(None))
        .group_by(Response.rt_ms, Response.release_ms)
        .having(func.count(Participant.id.distinct()) > 1)
    )


def find_shared_times(session: Session, run: Run) -> dict[int, list[tuple[str, int]]]:
    """Return which participants share exact times, and the number of answers they share.

    If many participants share an answer's times, only the first to arrive are named.

    Returns:
        By participant id: the other participants' references and numbers of shared answers, in
        decreasing order.
    """
    shared = _select_shared_times(run).subquery()
    rows = session.execute(
        select(Response.rt_ms, Response.release_ms, Participant.id, Participant.ref)
        .join(Trial, Trial.id == Response.trial_id)
        .join(Participant, Participant.id == Trial.participant_id)
        .join(
            shared,
            and_(shared.c.rt_ms == Response.rt_ms, shared.c.release_ms == Response.release_ms),
        )
        .where(Participant.run_id == run.id, Participant.restricted_at.is_(None))
        .order_by(Response.rt_ms, Response.release_ms, Participant.id)
    )
    n_shared: dict[int, Counter[str]] = {}
    for _, of_one in groupby(rows, key=lambda row: (row.rt_ms, row.release_ms)):
        refs_by_id = {row.id: row.ref for row in of_one}
        first = list(refs_by_id.items())[:_N_FIRST]
        for id_ in refs_by_id:
            n_shared.setdefault(id_, Counter()).update(
                ref for other_id, ref in first if other_id != id_
            )
    return {
        id_: sorted(counts.items(), key=lambda ref_and_count: (-ref_and_count[1], ref_and_count[0]))
        for id_, counts in n_shared.items()
    }


def find_run_replays(session: Session, run: Run, others: Sequence[Run] = ()) -> list[ReplayPair]:
    """Return the pairs of a run's sessions that are too similar to come from two people.

    Sessions of people who withdrew, or whose data are restricted, are left out.

    Args:
        session: A reading session.
        run: The run.
        others: Further runs, whose sessions are compared with those of the run.

    Raises:
        RunError: The consent page of one of several runs does not mention the comparison.
    """
    untold = [
        compared_run.ref
        for compared_run in (run, *others)
        if others and ACROSS_RUNS not in collected_of(session, compared_run)
    ]
    if untold:
        raise RunError(
            "the consent pages of these runs do not say that times are compared with those of"
            f" other runs: {', '.join(untold)}",
            where="--other",
            expected="runs whose consent page says so, as of every run that is launched now",
            remedy="Leave --other out: sessions are then compared within their run alone",
        )
    return find_replays(
        _name_sessions(session, run),
        *(_name_sessions(session, other, f"{other.ref}/") for other in others),
    )


def _name_sessions(session: Session, run: Run, prefix: str = "") -> dict[str, ObservedSession]:
    observed = load_observed_sessions(session, run, load_launched_study(session, run))
    return {
        f"{prefix}{person.ref}": seen
        for person, seen in observed
        if person.ending != Ending.WITHDRAWN
    }


def _count_characters(item: Mapping[str, str]) -> int:
    return sum(len(replace_pictures(item.get(name) or "")) for name in _TEXTS)


def _make_observed_answer(
    row: Any,  # noqa: ANN401
    response: Response,
    begun: datetime,
    type_: ResponseType,
) -> ObservedAnswer:
    answer = get_given_answer(response)
    return ObservedAnswer(
        position=row.position,
        arrived_ms=(response.recorded_at - begun) / _MS,
        rt_ms=response.rt_ms,
        outside_rt_ms=type_.time_outside_rt_ms(answer),
        one_press=Gives.ONE_PRESS in type_.gives,
        type_name=type_.measured_name,
        release_ms=response.release_ms,
        waited_ms=response.waited_ms,
        input_method=response.input_method,
        item=row.item["item_id"],
        side=answer.place,
        n_characters=_count_characters(row.item),
        has_onset=response.onset_source is not None,
        trusted=response.trusted,
        times_shown=response.times_shown,
        seen_before_ms=response.seen_before_ms,
        pointer_moves=response.pointer_moves,
        pointer_path_px=response.pointer_path_px,
        was_hidden=response.was_hidden,
        lost_focus=response.lost_focus,
    )


def _is_automated(devices: Sequence[Device]) -> bool | None:
    reports = [device.automated for device in devices if device.automated is not None]
    return any(reports) if reports else None


def _count_device_facts(device: Device) -> int:
    return sum(
        (
            bool(device.user_agent_family),
            device.refresh_rate_hz is not None,
            device.time_zone_offset_min is not None,
            bool(device.language),
        )
    )


def score_humanness(
    session: Session, run: Run, study: Study, *, only: int | None = None
) -> Iterator[tuple[str, HumannessScore]]:
    """Yield the reference and score of each participant who answered an item of the block.

    The order is the order of arrival.

    Args:
        session: A reading session.
        run: The run.
        study: Its study, as it was launched.
        only: The id of the only participant to score; None for all whose data may be used.
    """
    if study.humanness is None:
        return
    block, rates = set(study.humanness.constructions), load_rates(study)
    rows = session.execute(
        _select_block_answers(run, only).execution_options(yield_per=_ROWS_AT_A_TIME)
    )
    for ref, answers in groupby(rows, key=lambda row: row.ref):
        n_passed = {
            row.item_id: bool(row.passed)
            for row in answers
            if row.passed is not None and row.item["construction"] in block
        }
        if n_passed:
            yield ref, score_answers(n_passed, rates)


def _select_block_answers(run: Run, only: int | None) -> Select[str, str, dict[str, str], bool]:
    chosen = Participant.restricted_at.is_(None) if only is None else Participant.id == only
    right = func.nullif(Response.chosen_side, "") == func.nullif(Trial.good_side, "")
    return (
        select(Participant.ref, RunItem.item_id, RunItem.item, right.label("passed"))
        .join(Trial, Trial.participant_id == Participant.id)
        .join(RunItem, RunItem.id == Trial.run_item_id)
        .join(Response, Response.trial_id == Trial.id)
        .where(Participant.run_id == run.id, chosen)
        .order_by(Participant.id, Trial.position)
    )


def describe_own_score(
    session: Session, run: Run, study: Study, participant_id: int
) -> dict[str, object] | None:
    """Return what a participant is told about their own answers, without the expected answers."""
    ref_and_score = next(score_humanness(session, run, study, only=participant_id), None)
    if ref_and_score is None:
        return None
    rates = load_rates(study)
    values = {name: value for name, value in asdict(ref_and_score[1]).items() if name != "answers"}
    return {**values, "source": rates.source if rates else None, "decides_nothing_by_itself": True}


def stream_humanness_rows(
    session: Session, run: Run, study: Study, exported: set[str]
) -> Generator[dict[str, object]]:
    """Yield the rows of the table ``humanness``.

    Args:
        session: A reading session.
        run: The run.
        study: Its study, as it was launched.
        exported: The references of the participants whose answers may be exported.
    """
    judge = PROGRAM if run.simulated else PERSON
    for ref, participant_score in score_humanness(session, run, study):
        for item_answer in participant_score.answers if ref in exported else ():
            yield {
                "participant": ref,
                "item_id": item_answer.item,
                "passed": item_answer.passed,
                "people_rate": item_answer.people,
                "programs_rate": item_answer.programs,
                "nats": item_answer.nats,
                JUDGE.name: judge,
            }
