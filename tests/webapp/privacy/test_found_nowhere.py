"""A forgotten person is found nowhere: every byte of the installation is searched."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import httpx
import pytest
from click.testing import CliRunner

import parallax
from experiment.studies.files import write_study_files
from experiment.studies.load import load_study
from tests.patience import PATIENCE_S
from webapp.database.engine import make_engine
from webapp.server import process as server

# What somebody brings along, each unlike anything else; a platform's ids have its own form.
PERSON, SUBMISSION = "5d0f3c7a9b1e4d6f8a2c0b7e", "6e1a4d8b0c2f5e7a9b3d1c8f"
TYPED, BROWSER = "a-sentence-that-only-they-wrote", "TheBrowserOfTheirs"
MARKS = (PERSON, SUBMISSION, TYPED, BROWSER)
OTHER = "4c9e2b6f8a0d3c5e7f1b9a6d"


@pytest.fixture
def prelaunched() -> bool:
    return False


@pytest.fixture
def shell(instance):
    runner = CliRunner(env={"PARALLAX_INSTANCE": str(instance)})

    def run(*arguments: str) -> str:
        return runner.invoke(parallax.cli, arguments, catch_exceptions=False).output

    return run


@pytest.fixture
def found(instance, database_url):
    """Return a function that gives where each mark stands: in files, and in PostgreSQL's dump."""

    def search(*more: Path) -> dict[str, list[str]]:
        files = (path for folder in (instance, *more) for path in folder.rglob("*"))
        places = {str(path): path.read_bytes() for path in files if path.is_file()}
        if database_url:
            url = database_url.replace("+psycopg", "")
            dump = subprocess.run(["pg_dump", "--dbname", url], capture_output=True, check=True)
            places["dump"] = dump.stdout
        return {
            mark: [name for name, content in places.items() if mark.encode() in content]
            for mark in (*MARKS, OTHER)
        }

    return search


@pytest.fixture
def served(instance) -> Iterator[str]:
    """The address of a real server, with the log of one."""
    yield server.start(instance).url
    if server.running(instance):
        server.stop(instance)


def take_part(url: str, run: str, person: str, submission: str, typed: str, browser: str) -> None:
    """Be a participant of Prolific from the link to the end."""
    arrival = {"PROLIFIC_PID": person, "STUDY_ID": "c" * 24, "SESSION_ID": submission}
    agent = {"User-Agent": f"Mozilla/5.0 ({browser}) Firefox/140.0"}
    with httpx.Client(base_url=url, timeout=PATIENCE_S, headers=agent, trust_env=False) as client:
        assert client.get(f"/run/{run}", params=arrival).status_code == 200
        came = client.post(f"/run/{run}", params=arrival, data={"decision": "accept"})
        home = came.headers["Location"]
        page = client.get(home).text
        session = json.loads(re.search(r'id="session">(.*?)</script>', page, re.DOTALL)[1])
        facts = {"user_agent_family": browser, "refresh_rate_hz": 60.0, "mark": "m" * 32}
        client.post(f"{home}device", json={**facts, "time_zone_offset_min": 60, "language": "en"})
        for trial in session["trials"]:
            body = {
                "uuid": str(uuid4()), "position": trial["position"], "side": "first",
                "rt_ms": 800.0, "input_method": "key", "client_time": "2026-03-01T09:00:01Z",
            }  # fmt: skip
            assert client.post(f"{home}answers", json=body).status_code == 200
        client.post(f"{home}questionnaire", data={"native_language": typed})
        client.get(f"/run/{run}", params={**arrival, "PROLIFIC_PID": f"{person}?"})


def launch(shell, folder: Path) -> str:
    """Launch the minimal study for people who come from Prolific by a link."""
    write_study_files(load_study("minimal"), folder)
    panel = '\n[panel]\npreset = "prolific"\ncodes = { completed = "DONE101" }\n'
    toml = (folder / "study.toml").read_text("utf-8")
    (folder / "study.toml").write_text(toml + panel, "utf-8")
    shell("launch", str(folder), "--seed", "1", "--recruiter", "panel")
    return shell("runs").splitlines()[-1].split()[0]


def test_a_forgotten_person_is_found_nowhere(shell, instance, found, served, tmp_path):
    run = launch(shell, tmp_path / "minimal")
    take_part(served, run, PERSON, SUBMISSION, TYPED, BROWSER)
    take_part(served, run, OTHER, "7" * 24, "nothing", "Firefox")
    shell("db", "backup", str(tmp_path / "backup"))
    assert all(found().values()), "the search finds what is there"

    # While the server goes on.
    said = shell("forget", PERSON, "--yes", "--although-unpaid")
    assert "Forgotten: 1 participation" in said and "may still lie" not in said
    shell("export", run)
    shell("db", "backup", str(instance / "later_backup"))
    left = found()
    assert left.pop(OTHER), "the others are still there"
    assert left == {mark: [] for mark in MARKS}

    server.stop(instance)
    said = shell("db", "restore", str(tmp_path / "backup"), "--replace")
    assert "1 who had asked to be forgotten are forgotten again" in said
    assert "may still lie" not in said
    left = found()
    assert left.pop(OTHER)
    assert left == {mark: [] for mark in MARKS}


@pytest.mark.one_database
def test_what_is_deleted_is_overwritten_in_an_sqlite_file_without_scrubbing(tmp_path):
    file = tmp_path / "any.sqlite3"
    engine = make_engine(f"sqlite:///{file}")
    for statement in (
        "CREATE TABLE given (typed TEXT)",
        f"INSERT INTO given VALUES ('{TYPED}'), ('something')",
        f"DELETE FROM given WHERE typed = '{TYPED}'",
    ):
        with engine.begin() as connection:
            connection.exec_driver_sql(statement)
    engine.dispose()  # the last to leave empties the log into the file
    assert b"something" in file.read_bytes()
    assert TYPED.encode() not in file.read_bytes()
