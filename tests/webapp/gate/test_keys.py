"""Keys that are not the database's: whatever happened to them, each way in says so and lets nobody
take part a second time."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import product
from pathlib import Path

import pytest

from tests.webapp.gate.key_matrix import (
    FAULTS,
    WAYS,
    Fault,
    House,
    arrive,
    postgresql_house,
    running,
    sqlite_house,
)
from webapp import create_app
from webapp.core.keys import Purpose, make_keys
from webapp.database.key_identity import read_fingerprints
from webapp.errors import WebappError


@pytest.fixture(params=["sqlite", "postgresql"])
def build(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[str], House]]:
    """A function that gives an installation of its own, on each kind of database."""
    with ExitStack() as until_the_end:

        def built(name: str) -> House:
            if request.param == "sqlite":
                launched = request.getfixturevalue("launched_sqlite")
                made = sqlite_house(tmp_path / name, launched)
            else:
                launched = request.getfixturevalue("launched_postgresql")
                server = request.getfixturevalue("postgres")
                made = postgresql_house(tmp_path / name, server, launched)
            return until_the_end.enter_context(made)

        yield built


@pytest.fixture
def house(build) -> House:
    return build("house")


@pytest.fixture
def other(build) -> Callable[[], House]:
    """A function that gives another installation, which few of the tests need."""
    return lambda: build("other")


# Each way and each fault on both databases; every crossing on one.
CROSSINGS = [("sqlite", *each) for each in product(FAULTS, WAYS)]
CROSSINGS += [("postgresql", *each) for each in zip(FAULTS, WAYS, strict=True)]


@pytest.mark.parametrize(("build", "fault", "way"), CROSSINGS, indirect=["build"])
def test_no_way_in_is_silent_about_keys_that_are_not_the_database_s(
    house, other, fault: Fault, way: Callable[[House], str]
):
    fault(house, other)
    said = way(house)
    assert "key" in said
    try:
        assert arrive(house.app) == 1
    except WebappError as error:
        assert "key" in str(error)


def test_a_new_database_gets_keys_and_keeps_their_fingerprints_and_nothing_secret(house):
    engine = house.app.extensions["parallax"].engine
    with engine.connect() as connection:
        known = read_fingerprints(connection)
    assert {purpose for purpose, _ in known} == set(Purpose)
    secrets = house.key.read_text().split()
    assert not set(known.values()) & set(secrets)


def test_a_rotated_key_is_noted_and_a_dropped_one_forgotten(house):
    assert house.shell("keys", "rotate", "signing").exit_code == 0
    with running(house.folder):
        assert house.shell("keys", "drop", "1").exit_code == 0
    with (
        running(house.folder) as app,
        app.extensions["parallax"].engine.connect() as connection,
    ):
        assert [id_ for purpose, id_ in read_fingerprints(connection) if purpose == "signing"] == [
            4
        ]


def test_keys_that_are_lost_for_ever_are_replaced_only_where_no_name_needs_them(house):
    house.key.unlink()
    make_keys(house.folder)
    assert "add --lost" in str(house.shell("keys", "adopt").exception)
    refused = house.shell("keys", "adopt", "--lost")
    assert "encrypted with other keys" in str(refused.exception)
    with house.app.extensions["parallax"].engine.begin() as connection:
        connection.exec_driver_sql("UPDATE participant SET person_key = NULL")
        connection.exec_driver_sql("DELETE FROM identity")
    assert house.shell("keys", "adopt", "--lost").exit_code == 0
    with running(house.folder):
        pass


def test_a_database_of_an_earlier_version_takes_the_keys_that_open_its_names(house, other):
    engine = house.app.extensions["parallax"].engine
    with engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM stamp")
    engine.dispose()
    mine = house.key.read_text()
    shutil.copy(other().key, house.key)
    with pytest.raises(WebappError, match="encrypted with other keys"):
        create_app(house.folder)
    house.key.write_text(mine)
    with running(house.folder) as app:
        assert arrive(app) == 1
