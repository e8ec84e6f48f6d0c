"""Launching a study: checking, building, auditing and freezing its lists; adding places later."""

from collections.abc import Iterator
from datetime import datetime

from sqlalchemy import func, insert, select
from sqlalchemy.orm import Session

from experiment.authoring.check import require_sound
from experiment.authoring.plan import refuse_silent_change
from experiment.design.lists import BuiltLists
from experiment.materials.item_rows import item_row
from experiment.responses.registry import response_of
from experiment.studies.files import study_files
from experiment.studies.study import Study
from webapp.core.tokens import new_reference
from webapp.database.models import Place, Run, RunItem, StudyFile
from webapp.errors import RunError
from webapp.recruiters.registry import recruiter_class
from webapp.recruiters.terms import refuse_unknown_terms
from webapp.runs.runs import check_served_here
from webapp.sessions.collected import freeze_collected
from webapp.users.limits import check_run_limit
from webapp.users.projects import find_open_project


def check_responsible_people(study: Study) -> None:
    """Check that a study informs participants who is responsible for it.

    Raises:
        RunError: The study's ``[study]`` table lacks a key; the message names each missing key.
    """
    missing = study.study.unnamed
    if missing:
        raise RunError(
            f'the study "{study.name}" does not say who is responsible for it:'
            f" study.toml lacks {', '.join(missing)}",
            expected="contact, institution and ethics under [study], which the consent page shows",
            remedy=(
                "Fill them in, and launch the study again. Simulated runs and previews do "
                "not need them"
            ),
        )


_SEEDS = range(2**63)
MOST_ADDED_PLACES = 5_000


def launch_run(
    session: Session,
    study: Study,
    seed: int,
    recruiter: str,
    *,
    now: datetime,
    code_version: str,
    simulated: bool = False,
    project: str = "",
) -> Run:
    """Return a new run of the study, with its files, lists and places (participant slots).

    Args:
        session: An open session; nothing is written if a check fails.
        study: The study.
        seed: The seed of the lists, sides and orders.
        recruiter: The name of the recruiter that brings the participants.
        now: The time of the launch.
        code_version: The version of the code that launches the run.
        simulated: Whether programs take part although the recruiter brings real participants.
        project: The project that the run belongs to; empty for none.

    Raises:
        UnknownNameError: The recruiter or the study's response type is unknown.
        StudyError: A trial cannot be shown, a file is damaged, or the frozen plan differs.
        DesignError: The lists cannot be built, or fail a check of the audit.
        ParallaxError: Any other fault that ``experiment.authoring.check`` finds.
        RunError: The seed is out of range, or the recruiter does not support the study's terms.
        ProjectError: There is no such project, or it has reached its limit of open runs.
    """
    if seed not in _SEEDS:
        raise RunError(f"{seed} is not a valid seed", expected="a whole number from 0 to 2^63 - 1")
    recruiter_type = recruiter_class(recruiter)
    refuse_unknown_terms(recruiter, recruiter_type.terms, study)
    sound = require_sound(study, seed)
    refuse_silent_change(sound)
    run = Run(
        ref=new_reference(),
        study=study.name,
        study_version=study.study.version,
        study_folder=str(study.folder.resolve()),
        materials_hash=sound.built.materials_hash,
        seed=seed,
        recruiter=recruiter,
        simulated=simulated or recruiter_type.simulated,
        code_version=code_version,
        launched_at=now,
        language=study.study.language,
        lease_minutes=study.design.lease_minutes,
        currency=study.currency,
        project_id=find_project_id(session, project, change=True),
    )
    session.add(run)
    session.flush()
    freeze_collected(session, run, response_of(study))
    session.add_all((*_make_study_files(run, study), *_make_run_items(run, sound.built)))
    session.add_all(_make_places(run, study))
    session.flush()
    return run


def find_project_id(session: Session, name: str, *, change: bool = False) -> int | None:
    """Return the id of the project of that name; None for no name.

    Args:
        session: An open session.
        name: The project's name, or empty.
        change: Whether a run is about to open in it: the project is then locked against others.

    Raises:
        ProjectError: There is no such project, or it has reached its limit of open runs.
    """
    if not name:
        return None
    project = find_open_project(session, name, change=change)
    check_run_limit(session, project)
    return project.id


def _make_study_files(run: Run, study: Study) -> Iterator[StudyFile]:
    for name, content in study_files(study).items():
        yield StudyFile(run_id=run.id, name=name, content=content)


def _make_run_items(run: Run, built: BuiltLists) -> Iterator[RunItem]:
    for number, entries in enumerate(built.lists):
        for position_in_list, entry in enumerate(entries):
            yield RunItem(
                run_id=run.id,
                list=number,
                list_order=position_in_list,
                item_id=entry.item.item_id,
                kind=entry.kind,
                item={name: str(value) for name, value in item_row(entry.item).items()},
            )


def _make_places(run: Run, study: Study) -> Iterator[Place]:
    for number in range(study.design.n_lists):
        for place in range(study.design.places(number)):
            yield Place(run_id=run.id, list=number, place=place)


def add_places_to_run(session: Session, run: Run, n_per_list: int) -> int:
    """Add places to each list of a run.

    Args:
        session: The session of a write transaction.
        run: The run; it is locked until the transaction ends.
        n_per_list: How many places each list gets.

    Returns:
        The run's new number of places.

    Raises:
        RunError: The number is less than 1 or makes more than `MOST_ADDED` places, or the run is
            taken without a server.
    """
    check_served_here(session, run)
    if not 1 <= n_per_list <= MOST_ADDED_PLACES:
        raise RunError(
            f"{n_per_list} places cannot be added to each list of the run {run.ref}",
            expected=f"a whole number from 1 to {MOST_ADDED_PLACES:,}",
        )
    session.execute(select(Run.id).where(Run.id == run.id).with_for_update())
    lists = session.execute(
        select(Place.list, func.max(Place.place), func.count())
        .where(Place.run_id == run.id)
        .group_by(Place.list)
    ).all()
    if n_per_list > 1 and n_per_list * len(lists) > MOST_ADDED_PLACES:
        raise RunError(
            f"{n_per_list:,} places on each of {len(lists)} lists are too many to be added at once",
            expected=f"a whole number from 1 to {max(1, MOST_ADDED_PLACES // len(lists)):,}",
            remedy="Add some of them, and then the others",
        )
    session.execute(
        insert(Place),
        [
            {"run_id": run.id, "list": number, "place": last + offset}
            for number, last, _ in lists
            for offset in range(1, n_per_list + 1)
        ],
    )
    return sum(places for _, _, places in lists) + n_per_list * len(lists)
