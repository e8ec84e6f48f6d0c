"""Workers' profiles: who they say they are, and the record they come with."""

from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import select
from sqlalchemy.orm import Session

from marketplace.mturk.tables import Worker


class Profile(BaseModel):
    """What is known of a worker; a name left out stays as it was.

    Attributes:
        worker_id: Begins with A; letters and digits.
        country: Two letters, e.g. US.
        subdivision: Two letters, e.g. CA; may be empty.
        approved_percent: The approval rate; null has it counted from the work done here.
        approved_before: How many HITs were approved before this marketplace.
        masters: Whether they have the Masters qualification.
        adult: Whether they agreed to see adult content.
    """

    model_config = ConfigDict(extra="forbid")

    worker_id: str = Field(pattern="^A[A-Z0-9]+$", max_length=64)
    country: str = Field(default="US", pattern="^([A-Z]{2})?$")
    subdivision: str = Field(default="", pattern="^([A-Z0-9]{2})?$")
    approved_percent: int | None = Field(default=None, ge=0, le=100)
    approved_before: int = Field(default=0, ge=0, le=10_000_000)
    masters: bool = False
    adult: bool = False


def keep_profile(session: Session, profile: Profile) -> Worker:
    """Return the worker, made or changed as the profile says."""
    worker = find_worker(session, profile.worker_id)
    facts = profile.model_dump(exclude_unset=worker is not None)
    if worker is None:
        worker = Worker()
        session.add(worker)
    for name, value in facts.items():
        setattr(worker, name, value)
    session.flush()
    return worker


def find_worker(session: Session, worker_id: str) -> Worker | None:
    """Return the worker who signed in under that identifier, if any ever did."""
    return session.scalar(select(Worker).where(Worker.worker_id == worker_id))
