"""A researcher's mistakes with money: nobody is paid twice or not at all, and it is said."""

import shutil
from urllib.parse import parse_qs, urlsplit

import pytest

from experiment.payment.payment import PaymentError
from experiment.studies.load import STUDIES_FOLDER, load_study
from tests.webapp.recruiters.mturk.conftest import accept_compensation, compensations
from webapp.core.clock import utc_now
from webapp.database.models import Run
from webapp.errors import RunError, WebappError
from webapp.runs.launch import launch_run

pytestmark = pytest.mark.one_database

RULE_MINOR = 30


@pytest.fixture
def run(sessions, tmp_path) -> Run:
    """A run whose study gives everyone who finishes a bonus."""
    folder = tmp_path / "studies" / "minimal"
    shutil.copytree(STUDIES_FOLDER / "minimal", folder)
    with (folder / "study.toml").open("a", encoding="utf-8") as file:
        file.write('\n[payment]\nbonus = "everyone"\nbonus_amount = "0.30"\n')
    with sessions.begin() as session:
        study = load_study(str(folder))
        return launch_run(session, study, 1, "mturk", now=utc_now(), code_version="0")


@pytest.fixture
def jo(publish_run, worker):
    """Somebody who finished, and gave the assignment back before it could be handed in."""
    publish_run()
    jo = worker("AJO")
    jo.finish(jo.consent(jo.accept()))
    jo.give_back()
    return jo


@pytest.fixture
def ann(publish_run, worker):
    """Somebody who finished and handed it in."""
    publish_run()
    ann = worker("AANN")
    ann.take_part()
    return ann


@pytest.fixture
def take(client):
    """Return a function by which a worker takes up compensation and hands it in."""

    def hand_in(worker) -> None:
        page = client.get(accept_compensation(worker))
        assignment = parse_qs(urlsplit(page.request.url).query)["assignmentId"][0]
        form = {"assignmentId": assignment, "receipt": "compensation"}
        assert worker.site.post("/mturk/externalSubmit", data=form).status_code == 200

    return hand_in


def offer(shell, ref: str, amount: str, *more: str):
    return shell("compensate", ref, "--amount", amount, "--reason", "It broke.", "--yes", *more)


def test_who_was_compensated_is_owed_the_bonus_of_the_rule_until_it_is_paid(
    jo, shell, ref_of, take, problems, paid
):
    offer(shell, ref_of("AJO"), "0.20")
    assert "once their reward or compensation is paid" in shell("bonus", "--yes").output
    take(jo)
    shell("approve", "--yes")
    assert problems() == [("paid_too_little", False)]
    assert "1 done" in shell("bonus", "--yes").output
    assert paid("AJO") == [("reward", 20), ("bonus", RULE_MINOR)]
    assert problems() == []
    clean = shell("reconcile").output
    assert clean.count("$0.50") == 3  # owed, ledger, platform


def test_a_mistaken_rejection_is_undone_by_the_command_that_every_refusal_names(
    ann, shell, ref_of, problems, paid
):
    ref = ref_of("AANN")
    shell("reject", ref, "--reason", "The wrong line was read", "--yes")
    refused = shell("approve", "--only", ref, "--yes")
    assert f"--only {ann.assignment_id} --undo-rejection" in str(refused.exception)
    assert shell("approve", "--undo-rejection", "--yes").exit_code == 2  # of whom?
    assert "1 done" in shell("approve", "--only", ref, "--undo-rejection", "--yes").output
    assert paid("AANN") == [("reward", 20)]
    assert problems() == [("paid_too_little", False)]
    shell("bonus", "--yes")
    assert problems() == []
    again = shell("approve", "--only", ref, "--undo-rejection", "--yes")
    assert "There is nothing left" in again.output
    assert isinstance(shell("reject", ref, "--reason", "No", "--yes").exception, PaymentError)
    assert paid("AANN") == [("reward", 20), ("bonus", RULE_MINOR)]


def test_too_low_a_compensation_is_amended_before_it_is_taken_up(
    jo, shell, ref_of, take, problems, paid
):
    ref = ref_of("AJO")
    offer(shell, ref, "0.02")
    refused = offer(shell, ref, "0.20")
    assert isinstance(refused.exception, PaymentError)
    assert "--amend" in str(refused.exception)
    amended = offer(shell, ref, "0.20", "--amend")
    assert "The offer of $0.02 was withdrawn" in amended.output
    assert offer(shell, ref, "0.20", "--amend").exit_code == 0  # twice makes no second offer
    assert len(compensations(jo)) == 1
    take(jo)
    shell("approve", "--yes")
    shell("bonus", "--yes")
    assert paid("AJO") == [("reward", 20), ("bonus", RULE_MINOR)]
    assert problems() == []


def test_a_compensation_is_withdrawn_and_offered_to_nobody_any_more(
    jo, shell, ref_of, problems, paid
):
    ref = ref_of("AJO")
    nothing = shell("compensate", ref, "--withdraw")
    assert isinstance(nothing.exception, RunError)
    assert "--amount must be more than 0." in offer(shell, ref, "0.00").output
    offer(shell, ref, "0.20")
    assert "was withdrawn" in shell("compensate", ref, "--withdraw").output
    assert compensations(jo) == []
    assert problems() == [("finished_not_submitted", False)]
    assert "There is nothing left" in shell("approve", "--yes").output
    assert paid("AJO") == []


def test_a_compensation_that_is_accepted_already_is_not_withdrawn(
    jo, shell, ref_of, client, problems
):
    ref = ref_of("AJO")
    offer(shell, ref, "0.02")
    client.get(accept_compensation(jo))
    refused = shell("compensate", ref, "--withdraw")
    assert str(refused.exception) == (
        "the compensation cannot be withdrawn: its worker has accepted it. Wait until the worker"
        " submits or returns it; pay any further amount as a bonus."
    )


def test_spaces_and_capitals_in_a_reason_pay_nothing_twice(ann, shell, bonus_file, paid):
    shell("approve", "--yes")
    for reason in ("Very good", "Very good ", " very  Good"):
        shell("bonus", "--file", bonus_file("AANN", "0.50", reason), "--yes")
    assert paid("AANN") == [("reward", 20), ("bonus", 50)]


def test_another_amount_for_a_paid_reason_is_said_not_dropped(ann, shell, bonus_file, paid):
    shell("approve", "--yes")
    shell("bonus", "--file", bonus_file("AANN", "0.50", "Very good"), "--yes")
    changed = shell("bonus", "--file", bonus_file("AANN", "0.70", "Very good"), "--yes")
    assert isinstance(changed.exception, PaymentError)
    assert "was paid as $0.50, and cannot become $0.70" in str(changed.exception)
    assert paid("AANN") == [("reward", 20), ("bonus", 50)]


def test_the_same_amount_for_another_reason_is_asked_about(ann, shell, bonus_file, paid):
    shell("approve", "--yes")
    shell("bonus", "--file", bonus_file("AANN", "0.50", "Very good"), "--yes")
    alike = shell("bonus", "--file", bonus_file("AANN", "0.50", "Verry good"), "--yes")
    assert isinstance(alike.exception, PaymentError)
    assert "may have been paid before" in str(alike.exception)
    assert paid("AANN") == [("reward", 20), ("bonus", 50)]
    shell("bonus", "--file", bonus_file("AANN", "0.50", "Second part"), "--additional", "--yes")
    assert paid("AANN") == [("reward", 20), ("bonus", 50), ("bonus", 50)]


def test_whom_the_platform_did_not_write_to_is_said(jo, shell, ref_of):
    # The marketplace, as the service does, writes only to workers whose work was decided on.
    assert (
        "The platform sent no message: write to the person yourself."
        in offer(shell, ref_of("AJO"), "0.20").output
    )


@pytest.mark.parametrize(
    ("setting", "value", "said"),
    [
        ("most_per_participant", "0.40 USD", "a participant would get $0.50"),
        ("most_per_run", "0.60 USD", "the run would cost"),
        ("most_per_hour", "6 USD", "$12.00 an hour"),
        ("least_per_hour", "13 USD", "$12.00 an hour"),
    ],
)
def test_terms_beyond_the_limits_are_not_published(
    shell, monkeypatch, platform, setting, value, said
):
    monkeypatch.setenv(f"PARALLAX_{setting.upper()}", value)
    monkeypatch.setenv("PARALLAX_PUBLIC_URL", "http://127.0.0.1:8000")
    balance = platform.balance_minor()
    refused = shell("publish", "--yes")
    assert isinstance(refused.exception, PaymentError), refused.output
    assert said in str(refused.exception)
    assert platform.balance_minor() == balance


@pytest.mark.parametrize(
    ("setting", "value", "said"),
    [
        ("most_per_participant", "0.10 USD", "a participant would get $0.20 in all"),
        ("most_per_run", "0.10 USD", "the run would cost $0.20"),
    ],
)
def test_rewards_beyond_the_limits_are_not_paid_either(
    ann, shell, monkeypatch, paid, setting, value, said
):
    monkeypatch.setenv(f"PARALLAX_{setting.upper()}", value)
    refused = shell("approve", "--yes")
    assert isinstance(refused.exception, PaymentError), refused.output
    assert said in str(refused.exception)
    assert f"The setting {setting}" in str(refused.exception)
    assert paid("AANN") == []
    monkeypatch.delenv(f"PARALLAX_{setting.upper()}")
    assert "1 done" in shell("approve", "--yes").output
    assert paid("AANN") == [("reward", 20)]


def test_an_answer_that_is_cut_off_is_said_in_words(ann, shell, platform, paid):
    original = platform._repeating.meta.events
    original.register("before-parse.mturk.*", cut_off)
    try:
        result = shell("approve", "--yes")
    finally:
        original.unregister("before-parse.mturk.*", cut_off)
    assert isinstance(result.exception, WebappError), result.exception
    assert "the answer was cut off" in str(result.exception)
    assert "1 done" in shell("approve", "--yes").output
    assert paid("AANN") == [("reward", 20)]


def cut_off(response_dict, **_):
    """Cut an answer of the platform off in the middle."""
    response_dict["body"] = response_dict["body"][: len(response_dict["body"]) // 2]
