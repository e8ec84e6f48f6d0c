"""Apply the study's exclusion rules to decide which participants enter the analysis."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from experiment.exclusion.base import Answered, Everyone
from experiment.exclusion.rules import (
    assess_without_targets,
    load_rule,
    needs_certificate,
    needs_everyone,
    verdict,
)
from experiment.integrity.certificate import Certificate
from experiment.participation import State
from experiment.records import Judgment, Kind
from experiment.responses.base import ResponseType
from experiment.responses.registry import response_of
from experiment.studies.question import asked_questions
from experiment.studies.study import Study
from experiment.tables.schemas import ITEMS
from webapp.database.models import (
    Answer,
    Participant,
    Response,
    Run,
    RunItem,
    Trial,
    Verdict,
)
from webapp.errors import RunError
from webapp.runs.integrity import make_certificates
from webapp.runs.runs import load_launched_study
from webapp.runs.stored_answers import get_arrangement, get_given_answer
from webapp.sessions.assign import free_places


@dataclass(frozen=True, slots=True)
class ExclusionCounts:
    """The result of one pass of the exclusion rules over a run.

    Attributes:
        decided: How many participants got their verdict in this pass.
        kept: How many participants of the run are kept in the analysis.
        excluded: How many participants of the run are excluded.
    """

    decided: int
    kept: int
    excluded: int


def store_verdicts(session: Session, run: Run, now: datetime) -> ExclusionCounts:
    """Store a verdict, with its evidence, for every finished participant who has none.

    Participants whose data are restricted are skipped. A stored verdict never changes, so a second
    pass decides only about new participants. If the study replaces excluded participants, their
    places become free. A rule that compares all participants uses every finished participant,
    including those with a verdict.

    Raises:
        RunError: A rule compares all participants, and the run is open.
    """
    study = load_launched_study(session, run)
    # Two simultaneous passes would decide about the same participants. Arriving participants do not
    # wait for this lock.
    session.execute(select(Run.id).where(Run.id == run.id).with_for_update(key_share=True))
    waiting, excluded = _find_undecided_participants(session, run), list[int]()
    everyone, certificates_by_id = (
        _collect_everyone(session, run, study),
        _collect_certificates(session, run, study),
    )
    for participant in waiting:
        answers = _load_answers(session, participant, study).among(everyone)
        answers = replace(answers, certificate=certificates_by_id.get(participant.id))
        decided = verdict(study.exclusion, answers)
        if not decided.kept:
            excluded.append(participant.id)
        session.add(
            Verdict(
                participant_id=participant.id,
                kept=decided.kept,
                rule=decided.rule,
                evidence=decided.evidence,
                decided_at=now,
            )
        )
    if study.design.replace_excluded:
        free_places(session, excluded)
    session.flush()
    return ExclusionCounts(
        len(waiting),
        _count_verdicts(session, run, kept=True),
        _count_verdicts(session, run, kept=False),
    )


def judge_finished(session: Session, run: Run, study: Study) -> dict[int, bool]:
    """Return whether each finished participant is kept, by the participant's id.

    A stored verdict counts. Others are judged by the rules that look at one participant alone, and
    the result is not stored.
    """
    stored = select(Verdict.participant_id, Verdict.kept).join(
        Participant, Participant.id == Verdict.participant_id
    )
    kept = dict(session.execute(stored.where(Participant.run_id == run.id)).all())
    rules = [rule for rule in study.exclusion if not needs_everyone(load_rule(rule))]
    certificates = _collect_certificates(session, run, study)
    for participant in _find_undecided_participants(session, run):
        answers = _load_answers(session, participant, study)
        answers = replace(answers, certificate=certificates.get(participant.id))
        kept[participant.id] = verdict(rules, answers).kept
    return kept


def describe_without_targets(session: Session, participant: Participant, study: Study) -> str:
    """Return the evidence on a participant of the rules that read no target."""
    return assess_without_targets(study.exclusion, _load_answers(session, participant, study))


def _find_undecided_participants(session: Session, run: Run) -> Sequence[Participant]:
    return session.scalars(
        select(Participant)
        .outerjoin(Verdict, Verdict.participant_id == Participant.id)
        .where(Participant.run_id == run.id, Participant.state == State.FINISHED)
        .where(Verdict.id.is_(None), Participant.restricted_at.is_(None))
        .order_by(Participant.id)
    ).all()


def _collect_everyone(session: Session, run: Run, study: Study) -> Everyone:
    """Return the answers of all finished participants if a rule compares participants.

    Else none.
    """
    if not _list_comparing_rules(study):
        return Everyone(())
    check_rules_can_decide(run, study)
    finished = select(Participant).where(
        Participant.run_id == run.id,
        Participant.state == State.FINISHED,
        Participant.restricted_at.is_(None),
    )
    people = session.scalars(finished.order_by(Participant.id))
    return Everyone([_load_answers(session, person, study) for person in people.all()])


def check_rules_can_decide(run: Run, study: Study) -> None:
    """Check that the exclusion rules can decide now.

    Raises:
        RunError: A rule compares all participants, and the run is open.
    """
    comparing = _list_comparing_rules(study)
    if comparing and run.closed_at is None:
        raise RunError(
            f'the exclusion rule "{comparing[0]}" compares all participants, but the run'
            f' "{run.ref}" is open: later participants would change the verdicts',
            expected="a closed run",
            remedy=f"Close it with: parallax close {run.ref}",
        )


def _list_comparing_rules(study: Study) -> list[str]:
    return [rule.rule for rule in study.exclusion if needs_everyone(load_rule(rule))]


def _collect_certificates(session: Session, run: Run, study: Study) -> dict[int, Certificate]:
    """Return the certificates by participant id, if a rule reads them.

    A simulated run has none: its programs report times at which they did not wait.
    """
    if run.simulated or not any(needs_certificate(load_rule(rule)) for rule in study.exclusion):
        return {}
    return {
        person.id: certificate for person, certificate in make_certificates(session, run, study)
    }


def _load_answers(session: Session, participant: Participant, study: Study) -> Answered:
    of_these = study.of_list(participant.list).questionnaire
    query = select(Answer.field, Answer.value).where(Answer.participant_id == participant.id)
    stored_answers = dict(session.execute(query).all())
    unanswered = dict.fromkeys(asked_questions(of_these, stored_answers), "")
    n_trials = select(func.count(Trial.id)).where(Trial.participant_id == participant.id)
    return Answered(
        judgments=tuple(_load_judgments(session, participant, response_of(study))),
        questionnaire=unanswered | stored_answers,
        n_trials=session.execute(n_trials).scalar_one(),
    )


def _load_judgments(
    session: Session, participant: Participant, response: ResponseType
) -> Iterator[Judgment]:
    rows = session.execute(
        select(Trial, RunItem, Response)
        .join(RunItem, RunItem.id == Trial.run_item_id)
        .join(Response, Response.trial_id == Trial.id)
        .where(Trial.participant_id == participant.id)
        .order_by(Trial.position)
    )
    for trial, item, stored in rows:
        arrangement = get_arrangement(trial)
        judgment = response.score_answer(arrangement, get_given_answer(stored))
        yield Judgment(
            position=trial.position,
            item_id=item.item_id,
            kind=Kind(item.kind),
            construction=item.item["construction"],
            rt_ms=stored.rt_ms,
            condition=item.item["condition"],
            extra=tuple((k, v) for k, v in item.item.items() if k not in ITEMS.column_names),
            is_late=response.is_late(arrangement, stored.rt_ms, judgment.steps),
            **judgment.fields(),
        )


def _count_verdicts(session: Session, run: Run, *, kept: bool) -> int:
    return session.execute(
        select(func.count(Verdict.id))
        .join(Participant, Participant.id == Verdict.participant_id)
        .where(Participant.run_id == run.id, Verdict.kept.is_(kept))
        .where(Participant.restricted_at.is_(None))
    ).scalar_one()
