"""Deciding who enters the analysis, by the study's rules."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from experiment.exclusion.verdict import verdict
from experiment.participation import State
from experiment.records import Judgment, Kind, Side
from webapp.flow.assign import free_places
from webapp.flow.runs import study_as_launched
from webapp.models import Participant, Response, Run, RunItem, Trial, Verdict


@dataclass(frozen=True, slots=True)
class Exclusion:
    """What a pass over a run decided.

    Attributes:
        decided: Participants who got their verdict in this pass.
        kept: Participants of the run who enter the analysis.
        excluded: Participants of the run who do not.
    """

    decided: int
    kept: int
    excluded: int


def exclude(session: Session, run: Run, now: datetime) -> Exclusion:
    """Give every participant who finished and has no verdict yet one, with its evidence.

    A verdict once stored stays as it is, so a second pass decides about newcomers only. Where the
    study replaces the excluded, their places become free.
    """
    study = study_as_launched(session, run)
    # Two passes at once would decide about the same people; whoever arrives does not wait for this.
    session.execute(select(Run.id).where(Run.id == run.id).with_for_update(key_share=True))
    waiting, excluded = _waiting(session, run), list[int]()
    for participant in waiting:
        decided = verdict(study.exclusion, _judgments(session, participant))
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
    return Exclusion(
        len(waiting), _count(session, run, kept=True), _count(session, run, kept=False)
    )


def _waiting(session: Session, run: Run) -> Sequence[Participant]:
    return session.scalars(
        select(Participant)
        .outerjoin(Verdict, Verdict.participant_id == Participant.id)
        .where(Participant.run_id == run.id, Participant.state == State.FINISHED)
        .where(Verdict.id.is_(None))
        .order_by(Participant.id)
    ).all()


def _judgments(session: Session, participant: Participant) -> list[Judgment]:
    rows = session.execute(
        select(Trial.position, Trial.good_side, RunItem, Response.chosen_side, Response.rt_ms)
        .join(RunItem, RunItem.id == Trial.run_item_id)
        .join(Response, Response.trial_id == Trial.id)
        .where(Trial.participant_id == participant.id)
        .order_by(Trial.position)
    )
    return [
        Judgment(
            position=position,
            item_id=item.item_id,
            kind=Kind(item.kind),
            construction=item.item["construction"],
            chose_good=chosen_side == good_side,
            chosen_side=Side(chosen_side),
            rt_ms=rt_ms,
        )
        for position, good_side, item, chosen_side, rt_ms in rows
    ]


def _count(session: Session, run: Run, *, kept: bool) -> int:
    return session.execute(
        select(func.count(Verdict.id))
        .join(Participant, Participant.id == Verdict.participant_id)
        .where(Participant.run_id == run.id, Verdict.kept.is_(kept))
    ).scalar_one()
