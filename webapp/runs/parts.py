"""A study in several parts: the session number of a run, and the same persons across runs."""

import hashlib
from collections.abc import Collection, Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from experiment.participation import ERASURE_EVENTS
from experiment.studies.study import Study
from webapp.database.models import Event, Identity, Participant, Run
from webapp.errors import RunError
from webapp.runs.runs import find_named_run, load_launched_study

_CODE_CHARS = 12


def join_parts(session: Session, run_refs: Sequence[str]) -> list[tuple[str, ...]]:
    """Return a row for each person: a code, and their participant's reference in each run.

    Joining the same runs always gives the same codes; joining other runs gives other codes. Without
    the database a code reveals nobody's identity. A reference is empty if the person did not take
    part. Participants without a platform id, and participants whose data were erased, have no row.

    Raises:
        RunError: There are fewer than two runs, or one is named twice.
    """
    if len(run_refs) < 2 or len({*run_refs}) < len(run_refs):
        raise RunError(
            "only two or more different runs can be joined as parts",
            expected="each run once, for example: parallax recruitment parts RUN1 RUN2",
        )
    runs = [find_named_run(session, ref).id for ref in run_refs]
    erased = select(Event.participant_id).where(Event.kind.in_(ERASURE_EVENTS))
    rows = session.execute(
        select(Identity.hash, Participant.run_id, Participant.ref)
        .join(Identity, Identity.id == Participant.person_key)
        .where(Participant.run_id.in_(runs), Identity.forgotten.is_(False))
        .where(Participant.list.is_not(None), Participant.id.not_in(erased))
        .order_by(Participant.id)
    ).all()
    people: dict[str, dict[int, str]] = {}
    for digest, run_id, ref in rows:
        people.setdefault(digest, {})[run_id] = ref
    joined = "\x1f".join(run_refs)
    rows_of_people = [
        (_make_person_code(f"{joined}\x1f{digest}"), *(refs.get(run, "") for run in runs))
        for digest, refs in people.items()
    ]
    return sorted(rows_of_people)


def _make_person_code(text: str) -> str:
    # The input is a digest made with the installation's key.
    return hashlib.sha256(text.encode()).hexdigest()[:_CODE_CHARS]


def find_part_number(
    session: Session, run: Run, study: Study, seen: Collection[str] = ()
) -> int | None:
    """Return the session number of a run in a study of several parts, from 1.

    It is one more than the number of the latest required earlier part, each as it was last launched
    in the run's project. A part without a known run counts as a first part.

    Args:
        session: An open session.
        run: The run.
        study: Its study.
        seen: Studies already visited, which stops the search if parts name one another.

    Returns:
        None if no part precedes it: a first part does not name the parts that follow.
    """
    before = study.recruitment.after if study.recruitment else []
    if not before:
        return None
    visited = {*seen, run.study}
    numbers = [1]
    for name in before:
        part = None if name in visited else _find_latest_run(session, run, name)
        if part is not None:
            number = find_part_number(session, part, load_launched_study(session, part), visited)
            numbers.append(number or 1)
    return 1 + max(numbers)


def _find_latest_run(session: Session, run: Run, study: str) -> Run | None:
    runs_of_study = select(Run).where(Run.study == study, Run.simulated == run.simulated)
    runs_of_study = runs_of_study.where(
        Run.project_id.is_not_distinct_from(run.project_id), Run.id < run.id
    )
    return session.scalars(runs_of_study.order_by(Run.id.desc()).limit(1)).first()
