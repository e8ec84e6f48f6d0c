"""More places for a run: as many in each list, so that the lists stay balanced."""

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from webapp.database.models import Place, Run
from webapp.errors import RunError
from webapp.runs.static_mark import refuse_without_server

MOST_ADDED = 10_000


def grow(session: Session, run: Run, n_per_list: int) -> int:
    """Add places to each list of a run.

    Args:
        session: The session of a write transaction.
        run: The run; others who add places to it wait until the transaction ends.
        n_per_list: How many places each list gets.

    Returns:
        How many places the run has now.

    Raises:
        RunError: The number is not from 1 to `MOST_ADDED`, or the run is taken without a server.
    """
    refuse_without_server(session, run)
    if not 1 <= n_per_list <= MOST_ADDED:
        raise RunError(
            f"{n_per_list} places cannot be added to each list of the run {run.ref}",
            expected=f"a whole number from 1 to {MOST_ADDED:,}",
        )
    session.execute(select(Run.id).where(Run.id == run.id).with_for_update())
    lists = session.execute(
        select(Place.list, func.max(Place.place), func.count())
        .where(Place.run_id == run.id)
        .group_by(Place.list)
    ).all()
    session.add_all(
        Place(run_id=run.id, list=number, place=last + more)
        for number, last, _ in lists
        for more in range(1, n_per_list + 1)
    )
    session.flush()
    return sum(places for _, _, places in lists) + n_per_list * len(lists)
