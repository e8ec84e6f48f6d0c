"""Workers' profiles: their stated attributes, and their earlier record."""

import re
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from sqlalchemy import select
from sqlalchemy.orm import Session

from marketplace.mturk.tables import Worker


def _form(form: str, said: str) -> AfterValidator:
    """Return a validator that refuses text of another form, with a message."""

    def checked(text: str) -> str:
        if not re.fullmatch(form, text):
            raise ValueError(said)
        return text

    return AfterValidator(checked)


_WorkerId = Annotated[
    str,
    Field(max_length=64),
    _form("A[A-Z0-9]+", "a worker ID begins with A and goes on with capital letters and digits"),
]
_Country = Annotated[str, _form("([A-Z]{2})?", "a country is two capital letters, e.g. US")]
_Subdivision = Annotated[
    str, _form("([A-Z0-9]{2})?", "a state or province is two capital letters, e.g. CA")
]


class Profile(BaseModel):
    """The attributes of a worker; omitted fields keep their values.

    Attributes:
        worker_id: Letters and digits, the first an A.
        country: Two letters, e.g. US.
        subdivision: Two letters, e.g. CA; may be empty.
        approved_percent: The approval rate; null computes it from the work done here.
        approved_before: HITs approved before the worker came to this marketplace.
        masters: Whether the worker has the Masters qualification.
        adult: Whether the worker agreed to see adult content.
    """

    model_config = ConfigDict(extra="forbid")

    worker_id: _WorkerId
    country: _Country = "US"
    subdivision: _Subdivision = ""
    approved_percent: int | None = Field(default=None, ge=0, le=100)
    approved_before: int = Field(default=0, ge=0, le=10_000_000)
    masters: bool = False
    adult: bool = False


def keep_profile(session: Session, profile: Profile) -> Worker:
    """Create or update the profile's worker, and return them."""
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
    """Return the worker who signed in under that identifier, or None."""
    return session.scalar(select(Worker).where(Worker.worker_id == worker_id))
