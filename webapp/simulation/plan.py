"""What simulated participants know beforehand: the researcher's side, never the pages."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from experiment.materials.read import item_from_row
from experiment.materials.render import render
from experiment.records import Kind, Side
from experiment.simulation.session import accuracy_of, assign_responders
from experiment.studies.published import read_published
from experiment.studies.study import Study
from experiment.trials.presentations import Arranged, Presentation, load_presentation
from webapp.database.models import Participant, Place, Run, RunItem
from webapp.errors import RunError

# A prefix, which may be empty, and the two options: Shown.texts.
Texts = tuple[str, frozenset[str]]
_UNPUBLISHED_ACCURACY = 0.9


@dataclass(frozen=True, slots=True)
class Pair:
    """The texts of one item as a screen shows them.

    Attributes:
        good: The expected text.
        kind: What the item is for.
        accuracy: How often an attentive person chooses ``good``, from 0 to 1.
    """

    good: str
    kind: Kind
    accuracy: float


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that decides what a run's simulated participants do.

    Attributes:
        run_ref: The run they come to.
        seed: The run's seed.
        study: The study, for its questionnaire and typical reaction time.
        responders: The responder of each participant of a full run, in order of arrival; who
            replaces others begins with the first again.
        came: How many participants had a place so far.
        free: How many more participants the run can take.
        pairs: The run's items by what the screen shows of them, whatever the sides.
        median_rt_ms: A typical reaction time, in milliseconds.
        points: Those of the scale on which texts are rated; None where one is chosen.
    """

    run_ref: str
    seed: int
    study: Study
    responders: tuple[str, ...]
    came: int
    free: int
    pairs: Mapping[Texts, Pair]
    median_rt_ms: float
    points: int | None = None


def plan(session: Session, run: Run, study: Study) -> Plan:
    """Return the plan of a simulated run's next participants.

    Args:
        session: A session of the database.
        run: The run they come to.
        study: Its study, as it was launched.

    Raises:
        RunError: The run is for people.
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
    came = session.execute(select(func.count(Participant.id)).where(*had_a_place)).scalar_one()
    # The whole run gets its responders at once: participants sent in several batches are who
    # they would have been in one.
    responders = tuple(assign_responders(study.simulation.mix, total, run.seed))
    presentation = load_presentation(study.presentation, study.trial.parameters)
    return Plan(
        run.ref,
        run.seed,
        study,
        responders,
        came,
        free,
        _pairs(session, run, study, presentation),
        study.simulation.median_rt_ms or presentation.typical_rt_ms,
        presentation.points if isinstance(presentation, Arranged) else None,
    )


def _pairs(
    session: Session, run: Run, study: Study, presentation: Presentation
) -> dict[Texts, Pair]:
    accuracy, rendering = _accuracy(study), render(study.materials.shown_to_people)
    pairs = {}
    items = select(RunItem).where(RunItem.run_id == run.id).order_by(RunItem.id)
    for row in session.scalars(items):
        item, kind = item_from_row(row.item), Kind(row.kind)
        shown = presentation.show(item, Side.FIRST, rendering)
        pair = Pair(shown.first, kind, accuracy(item.construction, item.condition))
        pairs[shown.texts] = pair
        if isinstance(presentation, Arranged) and presentation.points is not None:
            # Of two versions that are rated, one is on the screen at a time.
            pairs[presentation.show(item, Side.SECOND, rendering).texts] = pair
    return pairs


def _accuracy(study: Study) -> Callable[[str, str], float]:
    """Return what attentive people achieve, from a construction and a condition."""
    published = read_published(study)
    look_up = accuracy_of(published)
    known = {row.construction for row in published if row.judge == "people"}
    return lambda construction, condition: (
        look_up(construction, condition) if construction in known else _UNPUBLISHED_ACCURACY
    )
