"""Runs put together by hand, for shapes that no study here has."""

import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import select

from tests.webapp.sessions.people import NOW, People
from webapp import create_app
from webapp.database.engine import Sessions
from webapp.database.models import Place, Run, RunItem
from webapp.sessions import run_lists


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


@pytest.fixture(scope="session")
def by_hand(launched_sqlite: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sessions]:
    """Sessions of a database in which nothing is ever committed: one for all who put in rows."""
    folder = tmp_path_factory.mktemp("by-hand") / "instance"
    folder.mkdir(mode=0o700)
    (folder / "parallax.sqlite3").touch(mode=0o600)
    shutil.copyfile(launched_sqlite, folder / "parallax.sqlite3")
    services = create_app(folder, now=lambda: NOW).extensions["parallax"]
    yield services.sessions
    services.engine.dispose()


@pytest.fixture
def people(by_hand: Sessions) -> Iterator[People]:
    """Somebody to add rows of people to a run; at the end of the test they are taken back."""
    run_lists._LISTS.clear()
    with by_hand() as session:
        yield People(session, session.get_one(Run, 1))


@pytest.fixture
def places(people: People) -> list[Place]:
    """The places of that run, list by list."""
    of_run = select(Place).where(Place.run_id == people.run.id)
    return list(people.session.scalars(of_run.order_by(Place.list, Place.place)))
