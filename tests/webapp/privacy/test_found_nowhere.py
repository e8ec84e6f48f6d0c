"""What platforms call people, and a forgotten person, are found nowhere in any byte."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import httpx
import pytest
from click.testing import CliRunner
from sqlalchemy import select

import parallax
from experiment.studies.files import write_study_files
from experiment.studies.load import load_study
from tests.patience import PATIENCE_S
from tests.webapp.payments.conftest import (  # noqa: F401 - fixtures
    hit,
    pay_rewards,
    platform,
    worked,
)
from webapp.core.keys import read_keys
from webapp.core.sealing import Sealer
from webapp.core.tokens import Tokens
from webapp.database.engine import make_engine, reading
from webapp.database.models import (
    Base,
    Link,
    OutgoingReport,
    Participant,
    Payment,
    Recruitment,
)
from webapp.database.models.identity import SealedText, unlock
from webapp.payments.reconciliation.snapshot import take_snapshot
from webapp.recruitment.poll import poll_run
from webapp.server import server_control as server

# What somebody brings along, each unlike anything else; a platform's ids have its own form.
PERSON, SUBMISSION = "5d0f3c7a9b1e4d6f8a2c0b7e", "6e1a4d8b0c2f5e7a9b3d1c8f"
TYPED, BROWSER = "a-sentence-that-only-they-wrote", "TheBrowserOfTheirs"
IDS, MARKS = (PERSON, SUBMISSION), (TYPED, BROWSER)
WORKER = ("AWORKER1", "ASSIGNMENT1")
# What is stored with somebody's work and money, in the words of others.
NOTES = ("their-receipt", "their-label", "their-reason", "their-answer", "their-set-up")
OTHER, OTHERS_WORDS = "4c9e2b6f8a0d3c5e7f1b9a6d", "what-only-the-other-wrote"


@pytest.fixture
def prelaunched(request) -> bool:
    return "run" in request.fixturenames


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
            for mark in (*IDS, OTHER, *WORKER, *NOTES, *MARKS, OTHERS_WORDS)
        }

    return search


@pytest.fixture
def served(instance) -> Iterator[str]:
    """The address of a real server, with the log of one."""
    yield server.start(instance, workers=1).url
    if server.find_running_server(instance):
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
    take_part(served, run, OTHER, "7" * 24, OTHERS_WORDS, "Firefox")
    shell("db", "backup", str(instance / "backup"))
    shell("unblind", run, "--reason", "to see what an export holds")
    shell("export", run, "--out", str(instance / "export"))
    before = found()
    shutil.rmtree(instance / "export")
    (instance / "backup").rename(tmp_path / "backup")
    assert all(before[mark] for mark in (*MARKS, OTHERS_WORDS)), "the search finds what is there"
    assert not any(before[mark] for mark in (*IDS, OTHER)), "platforms' ids are sealed"

    # While the server goes on.
    said = shell("forget", PERSON, "--yes", "--although-unpaid")
    assert "Forgotten: 1 participation" in said and "may remain" not in said
    shell("export", run)
    shell("db", "backup", str(instance / "later_backup"))
    left = found()
    assert left.pop(OTHERS_WORDS), "the others are still there"
    assert not any(left.values())

    server.stop(instance)
    said = shell("db", "restore", str(tmp_path / "backup"), "--replace")
    assert "1 people who had withdrawn or had their data erased are taken out again" in said
    assert "may remain" not in said
    left = found()
    assert left.pop(OTHERS_WORDS)
    assert not any(left.values())


def test_who_is_paid_and_polled_is_in_no_byte_and_is_found_by_their_id(
    run,
    worked,  # noqa: F811
    pay_rewards,  # noqa: F811
    platform,  # noqa: F811
    sessions,
    shell,
    found,
    instance,
    clock,
):
    with sessions.begin() as session:
        session.add(
            Recruitment(
                run_id=run.id, endpoint="double", qualification_id=None, published_at=clock()
            )
        )
    receipt, label, reason, answer, set_up = NOTES
    worked(1, receipt=receipt)
    worked(2)
    pay_rewards()
    with sessions.begin() as session:
        link = Link(
            run_id=run.id, token="t" * 12, kind="single", list=None, label=label, made_at=clock()
        )
        session.add(link)
        payment = session.scalars(select(Payment).where(Payment.worker_id == "AWORKER1")).one()
        payment.reason, payment.answer, payment.set_up_id = reason, answer, set_up
        person = session.get_one(Participant, payment.participant_id)
        person.link_id = session.scalars(select(Link.id)).one()
        session.add(
            OutgoingReport(
                run_id=run.id,
                participant_id=person.id,
                ending="completed",
                state="done",
                made_at=clock(),
                answer=answer,
            )
        )
    poll_run(sessions, platform, run.ref, clock())
    snapshot = take_snapshot(sessions, platform, run, Tokens("k" * 32), clock())
    assert [account.participant.platform_id for account in snapshot.accounts]
    shell("db", "backup", str(instance / "backup"))
    stored = found()
    assert not any(stored[mark] for mark in (*WORKER, *NOTES))
    with reading(sessions) as session:
        payments = select(Payment.assignment).where(Payment.worker_id == "AWORKER1")
        assert session.scalars(payments).all() == ["ASSIGNMENT1"]

    # New keys seal it anew, and the old ones are not needed any more.
    shell("keys", "rotate", "sealing")
    shell("keys", "rotate", "pseudonyms")
    shell("keys", "drop", "2")
    shell("keys", "drop", "3")
    unlock(sessions.kw["bind"], Sealer(read_keys(instance)))
    with reading(sessions) as session:
        assert session.scalars(select(Link.label)).one() == label
    said = shell("forget", "AWORKER1", "--yes")
    assert "Forgotten: 1 participation" in said
    with reading(sessions) as session:
        texts = [column for table in Base.metadata.sorted_tables for column in table.columns]
        texts = [column for column in texts if isinstance(column.type, SealedText)]
        left = {text for column in texts for text in session.scalars(select(column))}
    assert not left & set(NOTES)


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
