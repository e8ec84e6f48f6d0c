"""Where a run was published, and its HITs there."""

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from webapp.database.models import Hit, Recruitment, Run
from webapp.errors import RunError

RECRUITMENT = "recruitment"


def require_recruitment(session: Session, run: Run, endpoint: str) -> Recruitment:
    """Return where a run was published.

    Raises:
        RunError: It was not published, or was published elsewhere.
    """
    recruitment = find_recruitment(session, run)
    if recruitment is None:
        raise RunError(
            f'the run "{run.ref}" is not published', remedy=f"parallax publish {run.ref}"
        )
    refuse_other_endpoint(run, recruitment, endpoint)
    return recruitment


def find_recruitment(session: Session, run: Run) -> Recruitment | None:
    """Return where a run was published; None if it was not."""
    return session.scalar(select(Recruitment).where(Recruitment.run_id == run.id))


def load_recruitment_hits(session: Session, run: Run) -> Sequence[Hit]:
    """Return the HITs of a run, in the order they were made."""
    return session.scalars(
        select(Hit).where(Hit.run_id == run.id, Hit.purpose == RECRUITMENT).order_by(Hit.id)
    ).all()


def refuse_other_endpoint(run: Run, publication: Recruitment, endpoint: str) -> None:
    """Check that the run was published on this endpoint.

    Raises:
        RunError: It was published elsewhere.
    """
    if publication.endpoint != endpoint:
        raise RunError(
            f'the run "{run.ref}" is published at "{publication.endpoint}", not at "{endpoint}"',
            where=f"the settings of {run.recruiter}",
            remedy="Restore that setting, or launch another run for the other platform",
        )
