"""Runs put together by hand, for shapes that no study here has."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.webapp.sessions.people import People
from webapp.database.engine import Sessions
from webapp.database.models import Place, Run, RunItem


def item(list_: int, number: int) -> dict[str, str]:
    return {
        "item_id": f"t-{list_}-{number}", "kind": "target", "construction": f"c{number}",
        "condition": "singular", "template": f"t{number}", "features": "number=singular",
        "frame": f"N=word{list_}", "context": "", "good": f"the author{list_} laughs",
        "bad": f"the author{list_} laugh", "distractor": "", "contrast": "bad",
    }  # fmt: skip


@pytest.fixture
def run_of(sessions: Sessions) -> Callable[..., Run]:
    """Return a function that stores a run with so many lists, and so many places in each."""

    def make(lists: int, places: int, ref: str = "") -> Run:
        with sessions() as session:
            run = Run(
                ref=ref or f"run{lists}x{places}", study="minimal", study_version="1.0",
                study_folder="minimal", materials_hash="h", seed=1, recruiter="direct",
                simulated=False, code_version="0", launched_at=datetime(2026, 1, 1, tzinfo=UTC),
            )  # fmt: skip
            session.add(run)
            session.flush()
            for list_ in range(lists):
                for place in range(places):
                    session.add(Place(run_id=run.id, list=list_, place=place))
                for number in range(2):
                    row = item(list_, number)
                    session.add(
                        RunItem(
                            run_id=run.id,
                            list=list_,
                            list_order=number,
                            kind="target",
                            item_id=row["item_id"],
                            item=row,
                        )
                    )
            session.commit()
        return run

    return make


@pytest.fixture
def people(session: Session, run: Run) -> People:
    """Somebody to add rows of people to the run."""
    return People(session, session.get_one(Run, run.id))


@pytest.fixture
def places(session: Session, run: Run) -> list[Place]:
    """The run's places, list by list."""
    of_run = select(Place).where(Place.run_id == run.id)
    return list(session.scalars(of_run.order_by(Place.list, Place.place)))
