"""Serving: what the working page needs to know, and nothing more."""

from typing import NotRequired, TypedDict

from sqlalchemy import select
from sqlalchemy.orm import Session

from experiment.materials.read import item_from_row
from experiment.materials.render import render
from experiment.records import Item, Side
from experiment.studies.study import Study
from experiment.trials.practice import read_practice
from experiment.trials.presentations import Presentation, load_presentation
from webapp.models import Device, Participant, Response, Run, RunItem, Trial

_PREVIEWED_TRIALS = 3


class ShownTrial(TypedDict):
    """A trial as the browser gets it: its texts by name, the options each on its side."""

    position: int
    first: str
    second: str
    prefix: NotRequired[str]


class ShownPractice(ShownTrial):
    """A practice trial, which alone says which option is right."""

    correct: str
    feedback: str


class Work(TypedDict):
    """The working page's session, as its program reads it.

    Attributes:
        trials: Every trial, in order.
        answered: The positions whose answers are stored.
        practice: The practice trials, in order.
        presentation: The name of the presentation.
        keys: The keys that choose the first and the second option.
        lockout_ms: How long no press counts after the options are painted.
        break_every: Trials from one break page to the next; 0 for none.
        device_known: Whether the browser has told of its device.
        preview: Whether nothing is to be sent.
    """

    trials: list[ShownTrial]
    answered: list[int]
    practice: list[ShownPractice]
    presentation: str
    keys: list[str]
    lockout_ms: int
    break_every: int
    device_known: bool
    preview: bool


def serve(session: Session, participant: Participant, study: Study) -> Work:
    """Return what the participant's working page shows.

    Which option is good, and everything else known of an item, stays on the server; of practice
    trials alone it says which is right.
    """
    rows = session.execute(
        select(Trial.position, Trial.good_side, RunItem.item, Response.id)
        .join(RunItem, RunItem.id == Trial.run_item_id)
        .outerjoin(Response, Response.trial_id == Trial.id)
        .where(Trial.participant_id == participant.id)
        .order_by(Trial.position)
    ).all()
    device = select(Device.id).where(Device.participant_id == participant.id)
    screen = _Screen(study)
    return screen.work(
        [screen.trial(n, item_from_row(item), Side(side)) for n, side, item, _ in rows],
        answered=[position for position, _, _, response_id in rows if response_id is not None],
        device_known=session.scalar(device) is not None,
    )


def preview(session: Session, run: Run, study: Study) -> Work:
    """Return a working page as it looks to participants, of the first list's first trials."""
    items = session.scalars(
        select(RunItem.item)
        .where(RunItem.run_id == run.id, RunItem.list == 0)
        .order_by(RunItem.list_order)
        .limit(_PREVIEWED_TRIALS)
    )
    screen = _Screen(study)
    return screen.work(
        [
            screen.trial(position, item_from_row(item), tuple(Side)[position % 2])
            for position, item in enumerate(items, start=1)
        ],
        preview=True,
    )


class _Screen:
    """How a study's trials look.

    Args:
        study: The study.
    """

    def __init__(self, study: Study) -> None:
        self._study = study
        self._presentation: Presentation = load_presentation(
            study.presentation, study.trial.parameters
        )
        self._render = render(study.materials.shown_to_people)

    def trial(self, position: int, item: Item, good_side: Side) -> ShownTrial:
        """Return what the browser gets of a trial."""
        shown = self._presentation.show(item, good_side, self._render)
        trial = ShownTrial(position=position, first=shown.first, second=shown.second)
        if shown.prefix:
            trial["prefix"] = shown.prefix
        return trial

    def work(
        self,
        trials: list[ShownTrial],
        *,
        answered: list[int] | None = None,
        device_known: bool = False,
        preview: bool = False,
    ) -> Work:
        """Return a session of these trials under the study's settings."""
        practice = [
            ShownPractice(
                **self.trial(number, each.item, each.good_side),
                correct=each.good_side,
                feedback=each.feedback,
            )
            for number, each in enumerate(read_practice(self._study), start=1)
        ]
        return Work(
            trials=trials,
            answered=answered or [],
            practice=practice,
            presentation=self._presentation.name,
            keys=list(self._study.trial.keys),
            lockout_ms=self._study.trial.lockout_ms,
            break_every=self._study.trial.break_every,
            device_known=device_known,
            preview=preview,
        )
