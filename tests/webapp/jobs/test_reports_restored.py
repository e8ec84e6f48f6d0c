"""A panel that was told of an ending is not told again because the database was put back."""

import pytest
from click.testing import CliRunner
from sqlalchemy import select

import parallax
from tests.webapp.restoring import copied
from webapp.database.engine import reading
from webapp.database.models import Participant
from webapp.gate.gate import find_blockers
from webapp.jobs.platforms import send_reports

pytestmark = pytest.mark.one_database
ONCE = "[panel.endings.completed.report]\nrepeatable = false"


def _die(*_: object) -> str:
    raise KeyboardInterrupt


@pytest.fixture
def instance(instance):
    with (instance / "parallax.toml").open("a") as file:
        file.write('[panel.secrets]\ncredit_token = "s3cret"\n')
    return instance


@pytest.fixture
def shell(instance):
    """Return a function that gives a command."""
    runner = CliRunner(env={"PARALLAX_INSTANCE": str(instance)})
    return lambda *command: runner.invoke(parallax.cli, command)


@pytest.fixture(params=["db restore", "copied file"])
def keep(request, sessions, shell, app, tmp_path, monkeypatch):
    """Return a function that keeps the database as it is, and returns what puts it back."""
    if request.param == "copied file":
        if sessions.kw["bind"].dialect.name != "sqlite":
            pytest.skip("there is no file to copy")
        return lambda: copied(sessions)

    def db(*command: str) -> None:
        app.extensions["parallax"].engine.dispose()
        result = shell("db", *command)
        assert result.exit_code == 0, (result.output, result.exception)

    def backup():
        file = str(tmp_path / "backup")
        db("backup", file)
        monkeypatch.setattr("webapp.commands.db.refuse_while_serving", lambda _: None)

        def restore() -> None:
            db("restore", file, "--replace", "--without-record")
            # A restored database starts without the right to pay and to report.
            taken = shell("paying-copy", "take-over", "--other-copy-is-gone", "--yes")
            assert taken.exit_code == 0, (taken.output, taken.exception)

        return restore

    return backup


@pytest.fixture
def said_everywhere(sessions):
    """Return a function that gives what every researcher page and the doctor say."""

    def read() -> str:
        with reading(sessions) as session:
            found = [each for name, each in find_blockers(session.connection()) if name == "told"]
        return " ".join(f"{each.problem}. {each.remedy}" for each in found)

    return read


@pytest.mark.both_databases
def test_what_must_not_be_told_twice_waits_for_a_person(
    finish, panel, services, stored, keep, clock, said_everywhere, shell
):
    run = finish(ONCE)
    put_back = keep()
    send_reports(services)
    assert (len(panel.asked), stored().state, said_everywhere()) == (1, "done", "")
    put_back()
    assert stored().state == "waiting"
    for _ in range(3):
        clock.go_on(hours=7)
        send_reports(services)
    assert (len(panel.asked), stored().state) == (1, "unknown")
    assert f"List the reports on hold with: parallax reconcile {run.ref}" in said_everywhere()
    for fix in ((), ("--fix",)):
        listed = shell("reconcile", run.ref, *fix)
        assert listed.exit_code == 1
        assert "held after a restore: the panel may know of it" in listed.output
        assert "the panel may know of endings that are held" in listed.output
    with reading(services.sessions) as session:
        ref = session.scalars(select(Participant.ref)).one()
    # The person saw it on the panel's pages; nothing is left to be sent, and the run goes on.
    assert shell("reconcile", run.ref, "--by-hand", ref).exit_code == 1
    assert "is clean" in shell("reconcile", run.ref, "--fix", "--again").output
    assert (len(panel.asked), stored().state, said_everywhere()) == (1, "done", "")


def test_a_person_who_saw_that_the_panel_was_not_told_has_it_sent(
    finish, panel, services, stored, keep, shell, monkeypatch
):
    run = finish(ONCE)
    put_back = keep()
    with monkeypatch.context() as patch:
        patch.setattr("webapp.recruiters.panel.recruiter.send_report", _die)
        with pytest.raises(KeyboardInterrupt):
            send_reports(services)
    put_back()
    send_reports(services)
    assert (panel.asked, stored().state) == ([], "unknown")
    assert shell("reconcile", run.ref, "--fix", "--again").exit_code == 0
    assert (len(panel.asked), stored().state) == (1, "done")


def test_what_is_harmless_to_repeat_goes_on(finish, panel, services, stored, keep, said_everywhere):
    finish()
    put_back = keep()
    send_reports(services)
    put_back()
    send_reports(services)
    assert (len(panel.asked), stored().state, said_everywhere()) == (2, "done", "")


def test_an_ending_that_the_older_copy_does_not_have_is_held_too(
    finish, panel, services, stored, keep, shell, said_everywhere, visit, client
):
    """Who finished after the backup, and finishes once more in the restored database."""
    kept = []
    run = finish(ONCE, at_work=lambda visitor: kept.append((keep(), visitor)))
    put_back, visitor = kept[0]
    send_reports(services)
    assert len(panel.asked) == 1
    put_back()
    send_reports(services)
    assert f"parallax reconcile {run.ref}" in said_everywhere()
    # A decision about the run says nothing of an ending that is not there yet.
    shell("reconcile", run.ref, "--fix", "--again")
    assert said_everywhere() == ""
    visitor.answer_all()
    for _ in range(2):
        visitor.questionnaire(native_language="English")
    send_reports(services)
    assert (len(panel.asked), stored().state) == (1, "unknown")
    assert f"parallax reconcile {run.ref}" in said_everywhere()
    # Whoever came afterwards is reported by itself.
    other = visit(
        client.post(f"/run/{run.ref}?survey_code=78", data={"decision": "accept"}).location
    )
    other.answer_all()
    for _ in range(2):
        other.questionnaire(native_language="English")
    send_reports(services)
    assert len(panel.asked) == 2
    assert "survey_code=78" in panel.asked[1]


def test_without_the_file_beside_it_nothing_tells_what_panels_know(
    finish, panel, services, stored, instance, sessions
):
    finish(ONCE)
    send_reports(services)
    with sessions.begin() as session:
        report = session.get_one(type(stored()), stored().id)
        report.state, report.next_at = "waiting", report.made_at
    (instance / "told").write_text("{")
    send_reports(services)
    assert (len(panel.asked), stored().state) == (1, "unknown")
