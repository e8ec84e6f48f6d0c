"""Nobody's pay is forgotten quietly: whoever closes, archives or forgets reads who is owed."""

from dataclasses import replace
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from click.testing import CliRunner
from sqlalchemy import select

import parallax
from tests.webapp.payments.conftest import REWARD_CENTS
from tests.webapp.researcher.conftest import (  # noqa: F401 - fixtures
    browser,
    password_hash,
    researcher,
)
from webapp.database.engine import reading
from webapp.database.models import Participant, Payment, Project, Recruitment, Run
from webapp.payments.accounts import load_accounts
from webapp.payments.debts import (
    OpenPayment,
    describe_debts,
    describe_open_payment,
    find_debts,
    find_open_payments,
)
from webapp.researcher.study_folders import find_editable_study
from webapp.runs.runs import load_launched_study
from webapp.users.projects import LIMITS
from webapp.users.roles import Role


@pytest.fixture
def four(run, sessions, worked, clock):
    """Four people worked in a published run: 1 and 2 wait for pay, 3 gave up, 4 is promised pay."""
    with sessions.begin() as session:
        session.add(Recruitment(run_id=run.id, endpoint="double", published_at=clock()))
    worked(1)
    worked(2, status=None)
    worked(3, state="working", status="returned")
    worked(4, state="working", status="returned")
    with sessions.begin() as session:
        person = session.scalars(select(Participant).where(Participant.ref == "ref4")).one()
        session.add(
            Payment(
                run_id=run.id, participant_id=person.id, worker_id="AWORKER4", kind="compensation",
                amount_minor=150, currency="USD", reason="The page broke", token="t4",
                state="intended", made_at=clock(), answer="",
            )
        )  # fmt: skip
    return run


@pytest.fixture
def shell(instance):
    """Return a function that gives a command, with what is answered to its questions."""
    runner = CliRunner(env={"PARALLAX_INSTANCE": str(instance)})
    return lambda *words, answers="": runner.invoke(parallax.cli, words, input=answers)


OWED = "3 people are still owed money: ref1 $0.20, ref2 $0.20, ref4 $1.50"


def words_of(sessions, run) -> str:
    with reading(sessions) as session:
        return describe_debts(find_debts(session, run))


def test_who_finished_or_was_promised_pay_is_owed_it_until_it_is_paid(
    four, sessions, pay_rewards, platform
):
    assert REWARD_CENTS == 20
    assert words_of(sessions, four) == OWED
    pay_rewards()
    assert "ref1" not in words_of(sessions, four)
    with sessions.begin() as session:
        for line in session.scalars(select(Payment)):
            line.state = "done"
    assert words_of(sessions, four) == "1 person is still owed money: ref2 $0.20"


def test_a_run_that_pays_nobody_owes_nobody(run, sessions, start):
    start(run).answer_all()
    assert words_of(sessions, run) == ""


def test_of_many_the_first_twenty_are_named(four, sessions, worked):
    for number in range(5, 30):
        worked(number)
    words = words_of(sessions, four)
    assert words.startswith("28 people are still owed money: ref1 $0.20, ")
    assert words.endswith("ref21 $0.20, and 8 more")


def test_closing_says_who_is_owed_what_and_asks(four, sessions, shell):
    asked = shell("close", four.ref, answers="n\n")
    assert OWED in asked.output and "Close it all the same?" in asked.output
    assert asked.exit_code == 1
    with reading(sessions) as session:
        assert session.get_one(Run, four.id).closed_at is None
    assert OWED in shell("close", four.ref, "--yes").output
    with reading(sessions) as session:
        assert session.get_one(Run, four.id).closed_at is not None


@pytest.mark.one_database
def test_the_pages_close_and_archive_only_who_says_so_although_people_are_owed_money(
    four,
    sessions,
    researcher,  # noqa: F811
):
    here, address = researcher(Role.RESEARCHER), f"/runs/{four.ref}"
    for act in ("close", "archive"):
        asked = here.post(f"{address}/{act}")
        assert asked.status_code == 200
        assert OWED in asked.text and "although people are owed money" in asked.text
        assert here.post(f"{address}/{act}", although_owed="yes").status_code == 303
    with reading(sessions) as session:
        run = session.get_one(Run, four.id)
        assert run.closed_at is not None and run.archived_at is not None


def test_ending_a_project_says_who_is_owed_what_and_asks(
    four,
    sessions,
    shell,
    clock,
    researcher,  # noqa: F811
):
    with sessions.begin() as session:
        session.add(project := Project(name="lab", made_at=clock(), **dict.fromkeys(LIMITS, 0)))
        session.flush()
        run = session.get_one(Run, four.id)
        run.project_id, run.closed_at = project.id, clock()
        for person in session.scalars(select(Participant)):
            person.state = "finished" if person.ref in ("ref1", "ref2") else "abandoned"
    asked = shell("projects", "end", "lab", answers="n\n")
    assert OWED in asked.output and asked.exit_code == 1
    here = researcher(Role.OWNER)
    refused = here.post("/projects/lab/end")
    assert refused.status_code == 409 and OWED in refused.text
    assert shell("projects", "end", "lab", "--yes").exit_code == 0


def test_forgetting_says_what_somebody_is_owed_asks_and_never_refuses(four, sessions, shell):
    asked = shell("forget", "ref1", answers="y\nn\n")
    assert "1 person is still owed money: ref1 $0.20. Somebody who is forgotten" in asked.output
    assert asked.exit_code == 1
    done = shell("forget", "ref1", answers="y\ny\n")
    assert "Forgotten: 1 participation(s)" in done.output
    unattended = shell("forget", "ref4", "--yes")
    assert "ref4 $1.50" in unattended.output and unattended.exit_code == 1
    with reading(sessions) as session:
        assert session.scalar(select(Participant.id).where(Participant.ref == "ref4"))
    at_once = shell("forget", "ref4", "--yes", "--although-unpaid")
    assert "ref4 $1.50" in at_once.output and at_once.exit_code == 0


def test_deleting_a_study_says_who_is_owed_what_and_asks(
    four,
    sessions,
    instance,
    researcher,  # noqa: F811
):
    here, project = researcher(Role.OWNER), None
    made = here.post("/studies/copy", study="minimal", name="mine")
    called = parse_qs(urlsplit(made.location).query)["study"][0]
    folder = find_editable_study(instance, project, called)
    with sessions.begin() as session:
        session.get_one(Run, four.id).study_folder = str(folder.resolve())
    refused = here.post("/studies/delete", study=called, sure="yes")
    assert refused.status_code == 409 and OWED in refused.text and folder.exists()
    assert "although people are owed money" in refused.text
    done = here.post("/studies/delete", study=called, sure="yes", although_owed="yes")
    assert done.status_code == 303 and not folder.exists()


def waiting_of(sessions, run, pays_after=None, most=100) -> dict[str, OpenPayment]:
    with reading(sessions) as session:
        study = load_launched_study(session, run)
        waiting, _ = find_open_payments(session, run, study, pays_after, most)
    return {each.payee: each for each in waiting}


def test_each_person_who_waits_is_listed_with_what_for_how_much_since_and_until_when(
    four, sessions, clock
):
    waiting = waiting_of(sessions, four, timedelta(days=21))
    assert list(waiting) == ["ref1", "ref2", "ref4"]
    assert waiting["ref1"] == OpenPayment(
        "ref1", "approval of the reward", 20, clock(), clock() + timedelta(days=21), True
    )
    assert "which the platform has not reported" in waiting["ref2"].waits_for
    assert (waiting["ref2"].amount_minor, waiting["ref2"].until) == (20, None)
    assert waiting["ref4"].waits_for == "their acceptance of the compensation"
    assert waiting["ref4"].amount_minor == 150


@pytest.mark.parametrize(
    ("state", "waits_for"),
    [
        ("unknown", "the outcome of their reward: compare with the platform"),
        ("refused", "another attempt to pay their reward: the platform refused it"),
        ("intended", "their reward, which was begun: pay it again"),
    ],
)
def test_a_payment_that_is_not_done_stays_on_the_list(
    four, sessions, pay_rewards, platform, state, waits_for
):
    pay_rewards()
    assert "ref1" not in waiting_of(sessions, four)
    with sessions.begin() as session:
        session.scalars(select(Payment).where(Payment.kind == "reward")).one().state = state
    assert waiting_of(sessions, four)["ref1"].waits_for == waits_for


def test_who_submitted_without_finishing_waits_for_a_decision(four, sessions, worked):
    worked(5, state="working")
    assert waiting_of(sessions, four)["ref5"].waits_for.startswith("your decision")


def test_a_payment_at_the_platform_alone_waits_for_its_record(four, sessions, worked):
    worked(5, status="approved")
    assert "the platform paid without Parallax" in waiting_of(sessions, four)["ref5"].waits_for


def test_a_bonus_that_is_not_decided_names_what_decides_it(four, sessions, pay_rewards, platform):
    pay_rewards()
    with reading(sessions) as session:
        study = load_launched_study(session, four)
        for bonus, waits_for, amount_minor in (
            ("kept", "the amount of their bonus: apply the exclusion rules", None),
            ("per_correct_catch_trial", "the amount of their bonus: unblind the run", None),
            ("everyone", "the bonus of the study's rule", 30),
        ):
            payment = study.payment.model_copy(update={"bonus": bonus, "bonus_amount": "0.30"})
            changed = study.model_copy(update={"payment": payment})
            if bonus == "per_correct_catch_trial":
                accounts = load_accounts(session, four)
                account = replace(accounts[0], kept=True, correct_catch_trials=None)
                waiting = describe_open_payment(account, changed, None)
            else:
                waiting = find_open_payments(session, four, changed, None, 100)[0][0]
            assert (waiting.payee, waiting.waits_for) == ("ref1", waits_for)
            assert waiting.amount_minor == amount_minor


def test_of_many_who_may_be_unpaid_the_first_are_asked(four, sessions):
    with reading(sessions) as session:
        study = load_launched_study(session, four)
        waiting, are_more = find_open_payments(session, four, study, None, 2)
    assert ([each.payee for each in waiting], are_more) == (["ref1", "ref2"], True)
