"""The right to pay: one copy of an installation has it, and it moves only when somebody says so."""

import json
import re
import shutil
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import select, text

import parallax
from experiment.payment.payment import PaymentItem, PaymentKind
from tests.webapp.payments.conftest import (  # noqa: F401 - fixtures
    CAPS,
    hit,
    pay_rewards,
    platform,
    worked,
)
from tests.webapp.payments.platform_double import DIES_AFTER, ProcessDied, Trouble
from webapp import create_app
from webapp.core.settings import Settings
from webapp.database.engine import make_engine, reading
from webapp.database.locks import FileLock
from webapp.database.models import Payment, Recruitment
from webapp.gate import panel_call_counter, paying_copy
from webapp.gate.gate import (
    GateError,
    attach_installation,
    find_blockers,
    record_reconciliation,
)
from webapp.gate.installation import Installation, Operation
from webapp.payments.accounts import load_accounts
from webapp.payments.ledger import Entry
from webapp.payments.pay import make_payments, pay_entries
from webapp.recruiters import registry
from webapp.recruiters.platform import PlatformError
from webapp.services import Services


def parallax_(*command: str) -> Result:
    return CliRunner().invoke(parallax.cli, [str(part) for part in command])


def why_not(sessions, instance) -> list[str]:
    """Return what the check says of the right to pay."""
    with reading(sessions) as session:
        # Tests share dialects, so the gate knows the folder that was opened last.
        found = paying_copy.check_paying_copy(
            session.connection(), Installation(instance, Settings())
        )
        return [each.problem for each in found]


@pytest.fixture
def published(sessions, run, clock):
    """The run stands on a platform."""
    with sessions.begin() as session:
        session.add(Recruitment(run_id=run.id, endpoint="x", published_at=clock()))
    return run


@pytest.fixture
def second(app, instance, tmp_path):
    """A backup of the installation, restored into another folder with the same keys."""
    folder = tmp_path / "second"
    folder.mkdir(mode=0o700)
    shutil.copy(instance / "secret_key", folder)
    assert parallax_("db", "backup", tmp_path / "kept", "--instance", instance).exit_code == 0
    restored = parallax_("db", "restore", tmp_path / "kept", "--instance", folder)
    assert restored.exit_code == 0, restored.output
    assert "A restored database does not pay or publish before you give" in restored.output
    assert "What nobody can exclude" in restored.output
    return folder


def test_a_new_installation_has_the_right_to_pay(app, sessions, instance):
    assert why_not(sessions, instance) == []
    with reading(sessions) as session:
        holder = paying_copy.find_holder(session.connection())
    card = paying_copy.read_card(instance)
    assert (card.state, card.copy, card.folder) == ("paying", holder.copy, str(instance))
    assert holder.folder == str(instance)
    assert "has the right" in parallax_("paying-copy", "show", "--instance", instance).output


def test_one_of_an_earlier_version_has_it_unless_its_ledger_is_in_doubt(
    app,
    sessions,
    instance,
    run,
    hit,  # noqa: F811
    clock,
):
    def of_earlier_version() -> None:
        (instance / paying_copy.FILE).unlink()
        with sessions.begin() as session:
            session.execute(text("DELETE FROM stamp WHERE name = 'paying copy'"))

    of_earlier_version()
    create_app(instance).extensions["parallax"].engine.dispose()
    assert why_not(sessions, instance) == []
    of_earlier_version()
    with sessions.begin() as session:
        session.add(Recruitment(run_id=run.id, endpoint="x", published_at=clock()))
    (instance / "ledger").unlink()
    create_app(instance).extensions["parallax"].engine.dispose()
    assert why_not(sessions, instance) == [
        "another copy of this installation may have the right to pay"
    ]


def test_a_copied_folder_does_not_have_it(app, sessions, instance, tmp_path):
    shutil.copytree(instance, tmp_path / "copy")
    assert paying_copy.read_card(tmp_path / "copy") is None
    copy = create_app(tmp_path / "copy").extensions["parallax"]
    [why] = why_not(copy.sessions, tmp_path / "copy")
    assert f"in {instance} has the right to pay: this folder or its file paying_copy" in why
    copy.engine.dispose()


def test_a_card_is_good_in_its_own_file_folder_and_machine_alone(
    app, sessions, instance, monkeypatch
):
    file = instance / paying_copy.FILE
    shutil.copy(file, instance / "kept")
    shutil.move(instance / "kept", file)  # the same content, in another file
    assert paying_copy.read_card(instance) is None
    assert "copied or moved" in why_not(sessions, instance)[0]
    paying_copy._write_card(instance, paying_copy.CardState.PAYING)
    assert paying_copy.read_card(instance) is not None
    monkeypatch.setattr(paying_copy, "machine_id", lambda: "another")
    assert paying_copy.read_card(instance) is None


@pytest.mark.one_database
def test_a_database_that_was_copied_does_not_have_it_in_the_same_folder(
    app, instance, tmp_path, monkeypatch
):
    made = parallax_("db", "backup", instance / "copy.sqlite3", "--instance", instance)
    assert made.exit_code == 0
    monkeypatch.setenv("PARALLAX_DATABASE_URL", "sqlite:///copy.sqlite3")
    copy = create_app(instance).extensions["parallax"]
    assert "the copy of this installation in" in why_not(copy.sessions, instance)[0]
    copy.engine.dispose()


@pytest.mark.one_database("postgresql")
def test_another_machine_of_a_shared_database_has_it_and_a_copied_database_does_not(
    app, sessions, instance, tmp_path, monkeypatch
):
    other = tmp_path / "other"
    other.mkdir(mode=0o700)
    shutil.copy(instance / "secret_key", other)
    shutil.copy(instance / "parallax.toml", other)
    beside = create_app(other).extensions["parallax"]
    assert why_not(beside.sessions, other) == why_not(sessions, instance) == []
    beside.engine.dispose()
    engine = app.extensions["parallax"].engine
    engine.dispose()
    url, name = engine.url, f"{engine.url.database}_copy"
    server = make_engine(url.set(database="postgres").render_as_string(hide_password=False))
    with server.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text(f'CREATE DATABASE "{name}" TEMPLATE "{url.database}"'))
        copied = url.set(database=name).render_as_string(hide_password=False)
        monkeypatch.setenv("PARALLAX_DATABASE_URL", copied)
        for folder in (instance, other):
            copy = create_app(folder).extensions["parallax"]
            assert "the copy of this installation in" in why_not(copy.sessions, folder)[0]
            copy.engine.dispose()
        connection.execute(text(f'DROP DATABASE "{name}"'))
    server.dispose()


@pytest.mark.one_database
def test_a_restored_copy_gets_it_by_being_handed_it_and_the_first_one_loses_it(
    app, sessions, instance, published, second, tmp_path
):
    copy = create_app(second).extensions["parallax"]
    assert (
        "another copy" in why_not(copy.sessions, second)[0]
        or "has the right to pay" in why_not(copy.sessions, second)[0]
    )
    refused = parallax_("paying-copy", "take-over", "--instance", second)
    assert "the copy that has the right to pay is alive" in str(refused.exception)
    request = re.search(r"--to (\w+)", str(refused.exception))[1]
    handed = parallax_("paying-copy", "hand-over", "--to", request, "--instance", instance)
    code = re.search(r"--code (\w+)", handed.output)[1]
    assert why_not(sessions, instance) == [
        "the right to pay was handed over to another copy of this installation"
    ]
    again = parallax_("paying-copy", "hand-over", "--to", request, "--instance", instance)
    assert "does not have the right to pay" in str(again.exception)
    wrong = parallax_("paying-copy", "take-over", "--code", "0" * 24, "--instance", second)
    assert "the code is not for this copy" in str(wrong.exception)
    taken = parallax_("paying-copy", "take-over", "--code", code, "--instance", second)
    assert taken.output.startswith("This copy has the right to pay and publish.")
    assert why_not(copy.sessions, second) == []
    # What the first one paid since must be looked for.
    with reading(copy.sessions) as session:
        attach_installation(copy.engine, Installation(second, copy.settings))
        assert [name for name, _ in find_blockers(session.connection())] == ["ledger"]
    # The code is of this request alone.
    third = tmp_path / "third"
    shutil.copytree(second, third)
    used = parallax_("paying-copy", "take-over", "--code", code, "--instance", third)
    assert "the code is not for this copy" in str(used.exception)
    # Nor does the first one get it back by its own word.
    back = parallax_("paying-copy", "take-over", "--instance", instance)
    assert "It was handed over to another copy" in str(back.exception)
    copy.engine.dispose()


@pytest.mark.one_database
def test_a_copied_folder_that_takes_over_holds_reports_that_the_other_one_may_have_made(
    app, instance, tmp_path
):
    folder = tmp_path / "copy"
    shutil.copytree(instance, folder)
    copy = create_app(folder).extensions["parallax"]
    shown = parallax_("paying-copy", "show", "--instance", folder).output
    request = re.search(r"--to (\w+)", shown)[1]
    handed = parallax_("paying-copy", "hand-over", "--to", request, "--instance", instance)
    code = re.search(r"--code (\w+)", handed.output)[1]

    def is_doubtful() -> bool:
        with reading(copy.sessions) as session:
            installation = Installation(folder, copy.settings)
            return panel_call_counter.is_doubtful(session.connection(), installation)

    assert not is_doubtful()
    taken = parallax_("paying-copy", "take-over", "--code", code, "--instance", folder)
    assert taken.exit_code == 0
    assert is_doubtful()
    copy.engine.dispose()


@pytest.mark.one_database
def test_taking_over_makes_every_open_run_be_compared_anew(
    app,
    sessions,
    instance,
    run,
    hit,  # noqa: F811
    clock,
):
    with sessions.begin() as session:
        session.add(Recruitment(run_id=run.id, endpoint="x", published_at=clock()))
    app.extensions["parallax"].engine.dispose()
    paying_copy.mark_card_restored(instance)
    [why] = why_not(sessions, instance)
    assert "a restored database starts without the right to pay" in why
    taken = parallax_("paying-copy", "take-over", "--instance", instance)
    assert f"parallax reconcile {run.ref} --fix" in taken.output
    with reading(sessions) as session:
        [(name, found)] = find_blockers(session.connection())
        assert (name, "restored" in found.problem) == ("ledger", True)


def test_a_database_that_is_restored_in_its_own_folder_takes_it_back_at_once(
    app, sessions, instance, tmp_path
):
    assert parallax_("db", "backup", tmp_path / "kept", "--instance", instance).exit_code == 0
    app.extensions["parallax"].engine.dispose()
    command = ("db", "restore", tmp_path / "kept", "--replace", "--instance", instance)
    assert parallax_(*command).exit_code == 0
    assert "a restored database starts without" in why_not(sessions, instance)[0]
    app.extensions["parallax"].engine.dispose()
    taken = parallax_("paying-copy", "take-over", "--instance", instance)
    assert taken.exit_code == 0, taken.exception
    assert why_not(sessions, instance) == []


@pytest.mark.one_database
def test_from_a_copy_that_is_gone_it_is_taken_over_by_somebody_s_word(
    app, sessions, instance, second
):
    command = ("paying-copy", "take-over", "--other-copy-is-gone", "--instance", second)
    alive = parallax_(*command, "--yes")
    assert f"the copy that has the right to pay is alive: {instance}" in str(alive.exception)
    app.extensions["parallax"].engine.dispose()
    shutil.rmtree(instance)
    plain = parallax_("paying-copy", "take-over", "--instance", second)
    assert "another copy of this installation may still pay" in str(plain.exception)
    asked = CliRunner().invoke(parallax.cli, [str(part) for part in command], input="n\n")
    assert "an order that does not show yet would be paid again" in asked.output
    assert asked.exit_code == 1
    assert parallax_(*command, "--yes").exit_code == 0


@pytest.mark.one_database
def test_a_panel_answers_no_questions_about_another_copy(app, sessions, instance, run, second):
    with create_app(second).extensions["parallax"].sessions.begin() as session:
        session.execute(text("UPDATE run SET recruiter = 'panel'"))
    shown = parallax_("paying-copy", "show", "--instance", second)
    assert f"another copy may have reported to them: {run.ref}." in shown.output


@pytest.mark.one_database
def test_a_copy_on_another_machine_is_found_alive_by_its_address(app, sessions, instance, second):
    with reading(sessions) as session:
        holder = paying_copy.find_holder(session.connection())

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Paying-Copy", paying_copy.compute_mark(holder.copy))
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Answer) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        address = f"http://127.0.0.1:{server.server_port}"
        copy = create_app(second).extensions["parallax"]
        with copy.sessions.begin() as session:
            far = json.dumps(
                {
                    "copy": holder.copy,
                    "machine": "another",
                    "folder": "/srv/parallax",
                    "database": "x",
                    "address": address,
                }
            )
            session.execute(
                text("UPDATE stamp SET value = :far WHERE name = 'paying copy'"), {"far": far}
            )
        copy.engine.dispose()
        command = ("paying-copy", "take-over", "--other-copy-is-gone", "--yes")
        found = parallax_(*command, "--instance", second)
        server.shutdown()
        thread.join()
    assert f"is alive: {address}" in str(found.exception)


def test_the_health_check_shows_who_pays_and_nobody_else(app, client, instance):
    card = paying_copy.read_card(instance)
    shown = client.get("/healthz").headers["Paying-Copy"]
    assert shown == paying_copy.compute_mark(card.copy)
    assert card.copy not in shown
    (instance / paying_copy.FILE).unlink()
    assert "Paying-Copy" not in client.get("/healthz").headers


def test_it_is_not_handed_over_while_a_payment_is_in_doubt(
    app,
    sessions,
    instance,
    worked,  # noqa: F811
    pay_rewards,  # noqa: F811
):
    worked(1)
    pay_rewards()
    with sessions.begin() as session:
        session.execute(text("UPDATE payment SET state = 'unknown'"))
    command = ("paying-copy", "hand-over", "--to", "x", "--instance", instance)
    refused = parallax_(*command)
    assert "a payment or an offer is in doubt" in str(refused.exception)
    assert why_not(sessions, instance) == []
    with sessions.begin() as session:
        session.execute(text("UPDATE payment SET state = 'done'"))
    assert parallax_(*command).exit_code == 0
    with pytest.raises(GateError, match="was handed over"):
        pay_rewards()


def test_a_round_of_payments_ends_where_the_right_is_lost_in_its_middle(
    app,
    sessions,
    instance,
    worked,  # noqa: F811
    pay_rewards,  # noqa: F811
    platform,  # noqa: F811
    clock,
    monkeypatch,
):
    worked(1)
    worked(2)
    approve = platform.approve

    def and_lose(*given: object, **named: object) -> None:
        approve(*given, **named)
        with paying_copy.block_platform_calls(instance), sessions.begin() as session:
            paying_copy.give_up_right(session.connection(), instance)

    monkeypatch.setattr(platform, "approve", and_lose)
    with pytest.raises(GateError, match="was handed over"):
        pay_rewards()
    with reading(sessions) as session:
        states = session.scalars(select(Payment.state).order_by(Payment.id)).all()
        ids = session.scalars(select(Payment.id)).all()
    assert states == ["done", "intended"]
    with pytest.raises(GateError):
        make_payments(sessions, platform, ids, clock)


@pytest.mark.one_database
def test_two_copies_of_which_one_is_killed_while_it_pays_pay_everybody_once(
    app,
    sessions,
    instance,
    published,
    worked,  # noqa: F811
    platform,  # noqa: F811
    clock,
    request,
):
    for number in (1, 2, 3):
        worked(number)
    first, folder = app.extensions["parallax"], request.getfixturevalue("second")
    copy = create_app(folder).extensions["parallax"]

    def pay(services: Services, place: Path) -> None:
        # Tests share dialects, so the gate knows the folder that was opened last.
        attach_installation(services.engine, Installation(place, services.settings))
        with reading(services.sessions) as session:
            entries = [
                Entry(
                    PaymentItem(
                        account.participant.ref, PaymentKind.BONUS, 50, "Well done.", "Well done."
                    ),
                    account.assignment.worker_id,
                    account.assignment.platform_id,
                    account.participant.id,
                )
                for account in load_accounts(session, published)
            ]
        pay_entries(services.sessions, platform, published, entries, CAPS, clock)

    def note_comparison() -> None:
        with copy.sessions.begin() as session:
            record_reconciliation(session.connection(), published.ref)

    platform.trouble("send_bonus", Trouble(), DIES_AFTER)
    with pytest.raises(ProcessDied):
        pay(first, instance)
    with pytest.raises(GateError, match="was restored from a backup"):
        pay(copy, folder)
    note_comparison()
    with pytest.raises(GateError, match="right to pay"):
        pay(copy, folder)
    first.engine.dispose()
    shutil.rmtree(instance)
    gone = parallax_(
        "paying-copy", "take-over", "--other-copy-is-gone", "--yes", "--instance", folder
    )
    assert gone.exit_code == 0, gone.exception
    with pytest.raises(GateError, match="parallax reconcile"):
        pay(copy, folder)
    note_comparison()
    pay(copy, folder)
    assert sorted(bonus.worker_id for bonus in platform.paid) == [
        "AWORKER1", "AWORKER2", "AWORKER3",
    ]  # fmt: skip
    with reading(copy.sessions) as session:
        assert session.scalars(select(Payment.state)).all() == ["done"] * 3
    copy.engine.dispose()


@pytest.mark.one_database
def test_whatever_moves_money_or_places_is_called_by_the_paying_copy_alone(
    app,
    instance,
    platform,  # noqa: F811
):
    assert registry._methods_of_paying_copy() == {
        *("post", "expire", "approve", "reject", "send_bonus", "set_up_bonus", "pay_bonus"),
        *("launch", "grow", "grow_lists", "notify", "write", "request_return"),
        *("add_screen_outs", "stop"),
    }
    platform.add("A1", "W1")
    registry._let_paying_copy_alone_act(platform, instance)
    platform.approve("A1")
    assert platform.submission("A1").status == "approved"
    paying_copy.mark_card_restored(instance)
    platform.add("A2", "W2")
    with pytest.raises(PlatformError, match="does not have the right to pay"):
        platform.approve("A2")
    assert platform.submission("A2").status == "submitted"


@pytest.mark.one_database
def test_it_is_not_lost_while_a_call_is_being_made(app, instance):
    with (
        paying_copy.allow_platform_call(instance) as first,
        paying_copy.allow_platform_call(instance) as beside,
    ):
        assert first
        assert beside
        assert not FileLock(instance / "paying_copy.lock").acquire()
    with paying_copy.block_platform_calls(instance):
        assert not FileLock(instance / "paying_copy.lock", shared=True).acquire()


def test_without_it_nothing_is_paid_published_or_told_and_participants_go_on(
    app, client, run, sessions, instance, start
):
    paying_copy.mark_card_restored(instance)
    with reading(sessions) as session:
        [(name, found)] = find_blockers(session.connection())
    assert (name, found.forbids) == (
        "paying_copy",
        {Operation.PAY, Operation.PUBLISH, Operation.TELL_PANELS},
    )
    start(run).answer(1)
    assert Path(instance / "paying_copy").exists()
