"""Checks of the erasures that studies promise."""

from collections.abc import Iterator

from sqlalchemy import select

from webapp.database.engine import make_sessions, reading
from webapp.database.models import Run
from webapp.database.schema import revisions, stored_revision
from webapp.doctor.findings import Finding, Installation, Level
from webapp.errors import RunError
from webapp.privacy.retention import erase_at, is_due
from webapp.runs.runs import study_as_launched


def retention(at: Installation) -> Iterator[Finding]:
    """Check when identifying data are due for erasure, and whether they were erased."""
    if at.engine is None:
        return
    if stored_revision(at.engine) != revisions()[-1]:
        say = "not checked: the database does not have this version's schema"
        yield Finding("retention", Level.GOOD, say)
        return
    dates = []
    with reading(make_sessions(at.engine)) as session:
        for run in session.scalars(select(Run).where(Run.closed_at.is_not(None))).all():
            try:
                study = study_as_launched(session, run)
            except RunError:
                continue
            day = erase_at(run, study)
            if day is None:
                continue
            if is_due(run, study, at.now()):
                say = f"people of run {run.ref} should have been anonymised by {day:%Y-%m-%d}"
                remedy = (
                    f"Pay everyone who is still to be paid: parallax review {run.ref}; see "
                    "the check jobs"
                )
                yield Finding("retention", Level.WARNING, say, remedy)
                return
            if run.identities_erased_at is None or run.identities_erased_at < day:
                dates.append((day, run.ref))
    if dates:
        day, ref = min(dates)
        say = f"the next to be erased are the identities of run {ref}, on {day:%Y-%m-%d}"
        yield Finding("retention", Level.GOOD, say)
    else:
        yield Finding("retention", Level.GOOD, "no identities are scheduled to be erased")
