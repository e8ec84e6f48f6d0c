"""Score the answers to a run's humanness block by its study's published rates."""

from collections.abc import Generator, Iterator
from dataclasses import asdict
from itertools import groupby

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from experiment.integrity.humanness import HumannessScore, load_rates, score_answers
from experiment.studies.study import Study
from experiment.tables.column import JUDGE, PERSON, PROGRAM
from webapp.database.models import Participant, Response, Run, RunItem, Trial

_ROWS_AT_A_TIME = 2_000


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
    rows = session.execute(_select_answers(run, only).execution_options(yield_per=_ROWS_AT_A_TIME))
    for ref, answers in groupby(rows, key=lambda row: row.ref):
        n_passed = {
            row.item_id: bool(row.passed)
            for row in answers
            if row.passed is not None and row.item["construction"] in block
        }
        if n_passed:
            yield ref, score_answers(n_passed, rates)


def _select_answers(run: Run, only: int | None) -> Select[str, str, dict[str, str], bool]:
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
