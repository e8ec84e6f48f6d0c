"""Serving: what the working page needs to know, and nothing more."""

from dataclasses import dataclass
from typing import TypedDict

from sqlalchemy import select
from sqlalchemy.orm import Session

from experiment.materials.read import item_from_row
from experiment.materials.render import render
from experiment.records import Kind, Side
from experiment.records import Trial as ComposedTrial
from experiment.studies.study import Study
from experiment.trials.presentations import load_presentation
from webapp.models import Participant, Response, RunItem, Trial


class ShownTrial(TypedDict):
    """A trial as the browser gets it: the texts, each on its side."""

    position: int
    first: str
    second: str


@dataclass(frozen=True, slots=True)
class Work:
    """A participant's whole sequence and how far they are.

    Attributes:
        trials: Every trial, in order.
        answered: The positions whose answers are stored.
    """

    trials: list[ShownTrial]
    answered: list[int]


def serve(session: Session, participant: Participant, study: Study) -> Work:
    """Return what the participant's working page shows.

    Which option is good, and everything else known of an item, stays on the server.
    """
    rows = session.execute(
        select(Trial, RunItem, Response.id)
        .join(RunItem, RunItem.id == Trial.run_item_id)
        .outerjoin(Response, Response.trial_id == Trial.id)
        .where(Trial.participant_id == participant.id)
        .order_by(Trial.position)
    ).all()
    return Work(
        trials=[_shown(trial, run_item, study) for trial, run_item, _ in rows],
        answered=[trial.position for trial, _, response_id in rows if response_id is not None],
    )


def _shown(trial: Trial, run_item: RunItem, study: Study) -> ShownTrial:
    composed = ComposedTrial(
        trial.position, run_item.item_id, Kind(run_item.kind), Side(trial.good_side)
    )
    present = load_presentation(study.presentation)
    rendering = render(study.materials.shown_to_people)
    first, second = present(composed, item_from_row(run_item.item), rendering)
    return {"position": trial.position, "first": first, "second": second}
