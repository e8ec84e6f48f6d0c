"""Which session of several a run is, where a study is taken in parts."""

from collections.abc import Collection

from sqlalchemy import select
from sqlalchemy.orm import Session

from experiment.studies.study import Study
from webapp.database.models import Run
from webapp.runs.runs import study_as_launched


def part_number(session: Session, run: Run, study: Study, seen: Collection[str] = ()) -> int | None:
    """Return the number of the session that a run's people take part in, from 1.

    One more than that of the latest of the parts that must be finished before it, each as it was
    last launched in the run's project; a part of which no run is known counts as a first one.

    Args:
        session: An open session.
        run: The run.
        study: Its study.
        seen: Studies that were looked at already: parts that name one another end there.

    Returns:
        None where no part comes before it: a first part does not say that others follow.
    """
    before = study.recruitment.after if study.recruitment else []
    if not before:
        return None
    known = {*seen, run.study}
    numbers = [1]
    for name in before:
        part = None if name in known else _latest(session, run, name)
        if part is not None:
            number = part_number(session, part, study_as_launched(session, part), known)
            numbers.append(number or 1)
    return 1 + max(numbers)


def _latest(session: Session, run: Run, study: str) -> Run | None:
    theirs = select(Run).where(Run.study == study, Run.simulated == run.simulated)
    theirs = theirs.where(Run.project_id.is_not_distinct_from(run.project_id), Run.id < run.id)
    return session.scalars(theirs.order_by(Run.id.desc()).limit(1)).first()
