"""Participants' scores in the yes/no word tests of a run."""

from collections import defaultdict

from sqlalchemy import select
from sqlalchemy.orm import Session

from experiment.materials.read import item_from_row
from experiment.records import Side
from experiment.responses.registry import response_of
from experiment.responses.yes_no.word_test import score_words
from experiment.responses.yes_no.yes_no import YesNo
from experiment.studies.study import Study
from webapp.database.models import Participant, Response, Run, RunItem, Trial

_ROWS_AT_A_TIME = 2_000


def score_participants(session: Session, run: Run, study: Study) -> dict[str, dict[str, float]]:
    """Return each score of a run's word tests, by its name and the participant's reference.

    Args:
        session: A reading session.
        run: The run.
        study: Its study, as it was launched.
    """
    response = response_of(study)
    names = [column.name for column in response.score_columns]
    if not names:
        return {}
    query = (
        select(Participant.ref, RunItem.item, Trial.good_side, Response.chosen_side)
        .join(Trial, Trial.participant_id == Participant.id)
        .join(RunItem, RunItem.id == Trial.run_item_id)
        .join(Response, Response.trial_id == Trial.id)
        .where(Participant.run_id == run.id, Participant.restricted_at.is_(None))
    )
    answers: dict[tuple[str, str], list[tuple[Side, bool]]] = defaultdict(list)
    rows = session.execute(query.execution_options(yield_per=_ROWS_AT_A_TIME))
    for ref, item, good_side, chosen_side in rows:
        type_ = response.of_item(item_from_row(item))
        if isinstance(type_, YesNo) and type_.score and good_side:
            answers[type_.score, ref].append((Side(good_side), chosen_side == good_side))
    scores: dict[str, dict[str, float]] = {name: {} for name in names}
    for (name, ref), given in answers.items():
        if (score := score_words(given)) is not None:
            scores[name][ref] = score
    return scores
