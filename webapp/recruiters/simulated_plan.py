"""What simulated participants know in advance, and no page shows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from experiment.exclusion.rules import load_rule
from experiment.materials.item_rows import item_from_row
from experiment.materials.render import render
from experiment.records import Kind
from experiment.responses.base import Known, ResponseType
from experiment.responses.registry import response_of
from experiment.responses.responders import assign_responders
from experiment.responses.simulated import find_expected_accuracy, list_accepted_answers
from experiment.studies.study import Study
from webapp.database.models import Participant, Place, Run, RunItem
from webapp.errors import RunError

# A task, a prefix (possibly empty), and the options: Shown.texts.
Texts = tuple[str, str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class Plan:
    """The complete behaviour of a run's simulated participants.

    Attributes:
        run_ref: The run.
        seed: The run's seed.
        study: The study, for its questionnaire and typical reaction time.
        responders: The response strategy of each participant of a full run, in order of arrival;
            replacements start again with the first.
        n_arrived: How many participants have had a place so far.
        n_free: How many more participants the run can take.
        response: The response type of the trials.
        items: The run's items by their content on the screen, regardless of sides.
        accepted: Answers to questions for which the exclusion rules keep a participant. Programs
            give these, because a rehearsal is about the trials.
    """

    run_ref: str
    seed: int
    study: Study
    responders: tuple[str, ...]
    n_arrived: int
    n_free: int
    response: ResponseType
    items: Mapping[Texts, Known]
    accepted: Mapping[str, Sequence[str]] = field(default_factory=dict)


def make_plan(session: Session, run: Run, study: Study) -> Plan:
    """Return the plan of a simulated run's next participants.

    Args:
        session: A session of the database.
        run: The run.
        study: Its study, as it was launched.

    Raises:
        RunError: The run is for real participants.
    """
    if not run.simulated:
        raise RunError(
            f'the run "{run.ref}" is for people (recruiter "{run.recruiter}")',
            expected='a run launched with the recruiter "simulator"',
            remedy=(
                "Simulated answers are never mixed with people's: launch a separate run for them"
            ),
        )
    places = select(func.count()).select_from(Place).where(Place.run_id == run.id)
    total = session.execute(places).scalar_one()
    free = session.execute(places.where(Place.participant_id.is_(None))).scalar_one()
    had_a_place = (Participant.run_id == run.id, Participant.place.is_not(None))
    n_came = session.execute(select(func.count(Participant.id)).where(*had_a_place)).scalar_one()
    # The strategies of the whole run are assigned at once, so that several batches give the same
    # participants as one.
    responders = tuple(assign_responders(study.simulation.mix, total, run.seed))
    response = response_of(study)
    return Plan(
        run.ref,
        run.seed,
        study,
        responders,
        n_came,
        free,
        response,
        _known_items(session, run, study, response),
        list_accepted_answers(map(load_rule, study.exclusion)),
    )


def _known_items(
    session: Session, run: Run, study: Study, response: ResponseType
) -> dict[Texts, Known]:
    accuracy = find_expected_accuracy(study)
    rendering = render(study.materials.shown_to_people)
    by_texts = dict[Texts, Known]()
    items = select(RunItem).where(RunItem.run_id == run.id).order_by(RunItem.id)
    for row in session.scalars(items):
        # A list may show a target as a catch trial.
        item = replace(item_from_row(row.item), kind=Kind(row.kind))
        screens = response.screens(item, rendering)
        known_item = Known(item, screens[0].first, accuracy(item.construction, item.condition))
        by_texts |= {screen.texts: known_item for screen in screens}
    return by_texts
