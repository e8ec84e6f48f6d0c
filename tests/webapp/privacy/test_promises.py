"""What docs/privacy.md promises of people's rights over days, machines and versions."""

import shutil
import sqlite3
from contextlib import closing

import pytest
from click.testing import CliRunner
from sqlalchemy import select

import parallax
from tests.webapp.payments.conftest import hit, pay_rewards, platform, worked  # noqa: F401
from webapp import create_app
from webapp.database.engine import reading
from webapp.database.models import Answer, Participant, Run, StudyFile
from webapp.erasures.file import WishKind, read_record
from webapp.jobs.periodic_queue import PERIODIC_JOBS
from webapp.runs.runs import close_run

PROMISE = b'\n[privacy]\nkeep_identifying_days = 3\nidentifying_questions = ["native_language"]\n'
TYPED = "Klingon of Kronos"


@pytest.fixture
def shell(instance):
    runner = CliRunner(env={"PARALLAX_INSTANCE": str(instance)})

    def run(*arguments: str) -> str:
        return runner.invoke(parallax.cli, arguments, catch_exceptions=False).output

    return run


@pytest.fixture
def finished(visitor):
    visitor.answer_all()
    visitor.questionnaire(native_language=TYPED)
    return visitor


def everything_in(folder) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


@pytest.mark.one_database
def test_whose_data_may_not_be_used_is_paid_all_the_same(
    worked,  # noqa: F811
    pay_rewards,  # noqa: F811
    sessions,
    clock,
):
    worked(1)
    with sessions.begin() as session:
        session.scalars(select(Participant)).one().restricted_at = clock()
    [paid] = pay_rewards()
    assert (paid.kind, paid.state) == ("reward", "done")


def test_a_machine_s_start_adds_the_wishes_that_another_machine_heard(
    app, finished, instance, tmp_path, clock
):
    other = tmp_path / "other"
    shutil.copytree(instance, other, ignore=shutil.ignore_patterns("*.sqlite3*"))
    if not (other / "parallax.toml").exists():
        file = instance / "parallax.sqlite3"
        (other / "parallax.toml").write_text(f'database_url = "sqlite:///{file}"\n')
    assert read_record(other / "erasures") == []
    finished.client.post(f"{finished.home}withdraw", data={"wish": "erase"})
    assert read_record(other / "erasures") == []
    create_app(other, now=clock).extensions["parallax"].engine.dispose()
    assert [each.deed for each in read_record(other / "erasures")] == [WishKind.ERASED]
    assert read_record(other / "erasures") == read_record(instance / "erasures")


@pytest.mark.one_database
def test_what_a_long_reader_kept_in_the_log_is_gone_at_the_next_tick(app, finished, instance):
    job, services = PERIODIC_JOBS["empty_log"], app.extensions["parallax"]
    assert job.every_s == 60
    with closing(sqlite3.connect(instance / "parallax.sqlite3")) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM answer").fetchone()
        erased = finished.client.post(f"{finished.home}withdraw", data={"wish": "erase"})
        assert erased.status_code == 303
        assert job.do(services) is False and TYPED.encode() in everything_in(instance)
    assert job.do(services) is True
    assert TYPED.encode() not in everything_in(instance)


@pytest.mark.one_database
def test_a_restored_backup_is_brought_up_to_date_by_the_job_of_the_hour(
    app, finished, sessions, instance, shell, clock, tmp_path
):
    job = PERIODIC_JOBS["erase_identities"]
    assert job.every_s == 3600
    with sessions.begin() as session:
        toml = session.scalars(select(StudyFile).where(StudyFile.name == "study.toml")).one()
        toml.content += PROMISE
        close_run(session, session.get_one(Run, 1), clock())
    app.extensions["parallax"]._studies.clear()
    shell("db", "backup", str(tmp_path / "backup"))
    clock.go_on(days=4)
    for wanted in (0, 1):
        if wanted:
            sessions.kw["bind"].dispose()
            shell("db", "restore", str(tmp_path / "backup"), "--replace")
        restored = create_app(instance, now=clock).extensions["parallax"]
        with reading(restored.sessions) as session:
            assert session.scalar(select(Answer.value)) == TYPED
        assert job.do(restored) == 1
        with reading(restored.sessions) as session:
            assert session.scalar(select(Answer.value)) is None
        restored.engine.dispose()
