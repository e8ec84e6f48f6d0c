"""A drill leaves nothing behind, and what a killed one left is removed by the next."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import Engine, text

from tests.programs.start import GIVEN
from webapp.database.backup.backup import back_up, rehearse_restore

KILLED = """
import os, sys
from webapp.database.backup.backup import _temporary_database
from webapp.database.engine import make_engine
with _temporary_database(make_engine(sys.argv[1])) as scratch, scratch.connect():
    os._exit(9)
"""


@pytest.fixture
def engine(app) -> Engine:
    return app.extensions["parallax"].engine


def scratch_databases(engine: Engine) -> list[str]:
    with engine.connect() as connection:
        like = text("SELECT datname FROM pg_database WHERE datname LIKE 'parallax_drill%'")
        return list(connection.scalars(like))


@pytest.mark.one_database("postgresql")
def test_what_a_killed_drill_left_is_removed_by_the_next(engine, tmp_path: Path):
    back_up(engine, tmp_path / "backup")
    url = engine.url.render_as_string(hide_password=False)
    assert subprocess.run([sys.executable, GIVEN, KILLED, url]).returncode == 9
    assert len(scratch_databases(engine)) == 1
    assert rehearse_restore(engine, tmp_path / "backup").content.rows
    assert scratch_databases(engine) == []


def test_two_drills_at_once_do_not_disturb_each_other(engine, tmp_path: Path):
    back_up(engine, tmp_path / "backup")
    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(lambda _: rehearse_restore(engine, tmp_path / "backup"), range(2)))
    assert done[0].content == done[1].content
