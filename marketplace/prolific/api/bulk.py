"""Asynchronous calls: what they promise is done later, and the wallet takes one at a time."""

from collections.abc import Sequence
from datetime import timedelta

from sqlalchemy import select

from marketplace.prolific.api.door import Door, busy
from marketplace.prolific.store import Moment
from marketplace.prolific.tables import Job


def begin_job(moment: Moment, door: Door, operation: str, kind: str, what: Sequence[str]) -> None:
    """Promise something.

    Args:
        moment: The transaction.
        door: Where the faults are known.
        operation: The call's name.
        kind: ``bonus`` or ``approve``.
        what: Set-ups or submissions.

    Raises:
        RefusedError: An earlier promise is still being kept.
    """
    if moment.session.scalars(select(Job).where(Job.done.is_(False))).first() is not None:
        raise busy()
    if door.promised_nothing(operation):
        return
    due = moment.now + timedelta(seconds=moment.account.bulk_s)
    moment.session.add(Job(kind=kind, what=list(what), due_at=due))
