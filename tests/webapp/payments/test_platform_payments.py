"""What the platform lists decides whether a payment is made, and what is written down of it."""

from dataclasses import replace

import pytest

from experiment.payment.payment import Caps, PaymentItem, PaymentKind
from tests.webapp.payments.by_hand import account, line, snapshot, study, work, written
from tests.webapp.payments.platform_double import REFUSES, PlatformDouble
from webapp.database.engine import reading
from webapp.payments.ledger import Entry, load_payments
from webapp.payments.pay import pay_entries
from webapp.payments.platform_payments import get_bonus_mark, is_made_on_platform
from webapp.payments.reconciliation import reconcile
from webapp.payments.reconciliation.reconcile import _build_decision_entries, report_comparison
from webapp.payments.reconciliation.snapshot import _sum_platform_payments
from webapp.recruiters.platform import Bonus
from webapp.recruiters.statuses import AssignmentStatus

pytestmark = pytest.mark.one_database
CAPS = Caps(per_participant_minor=500, per_run_minor=5_000, currency="USD")


def bonus(reason: str, on: str = "WORK1") -> Bonus:
    return Bonus("AWORKER1", on, 50, reason)


@pytest.mark.parametrize(
    ("kind", "status", "made"),
    [
        ("reward", "approved", True),
        ("reward", "submitted", False),
        ("reward", "rejected", False),
        ("compensation", "approved", True),
        ("rejection", "rejected", True),
        ("rejection", "approved", False),
        ("bonus", "approved", False),
    ],
)
def test_a_decision_is_made_where_the_platform_says_so(kind, status, made):
    platform = PlatformDouble()
    platform.add("WORK1", "AWORKER1")
    found = platform.submitted["WORK1"]
    platform.submitted["WORK1"] = replace(found, status=AssignmentStatus(status))
    assert is_made_on_platform(platform, line(kind)) is made


def test_a_bonus_is_made_where_its_mark_stands_on_its_own_work():
    platform, ours = PlatformDouble(), line("bonus", id=7)
    for number in (1, 2):
        platform.add(f"WORK{number}", "AWORKER1")
    platform.paid = [bonus("Fine."), bonus(f"Fine. {get_bonus_mark(ours)}", "WORK2")]
    assert not is_made_on_platform(platform, ours)
    platform.paid.append(bonus(f"Fine. {get_bonus_mark(ours)}"))
    assert is_made_on_platform(platform, ours)


@pytest.fixture
def pay(worked, sessions, run, platform, clock):
    """Return a function that pays somebody a bonus or a reward, and tells what stands."""
    worked(1)

    def once(kind="bonus", **options):
        item = PaymentItem("ref1", PaymentKind(kind), 50, "Fine.")
        entry = Entry(item, "AWORKER1", "ASSIGNMENT1", 1)
        pay_entries(sessions, platform, run, [entry], CAPS, clock, **options)
        with reading(sessions) as session:
            [found] = (each for each in load_payments(session, run) if each.reason == "Fine.")
        return found.state, found.answer

    return once


@pytest.mark.parametrize("ours", [True, False])
def test_beside_a_bonus_stand_only_lines_of_the_run_with_their_marks(
    pay, platform, sessions, run, ours
):
    on = {"token": f"a{1:063d}"}
    other = written(sessions, run, **on) if ours else line("bonus", **on)
    written(sessions, run, state="done", kind="reward", assignment="OTHER")
    platform.paid = [bonus(f"Sorry. {get_bonus_mark(other)}", "ASSIGNMENT1")]
    state, answer = pay()
    assert state == ("done" if ours else "refused")
    assert ("missing from the ledger" in answer) != ours
    assert len(platform.paid) == 1 + ours


def test_what_is_paid_by_hand_keeps_no_reward_from_being_paid(pay, platform):
    platform.paid = [bonus("By hand.", "ASSIGNMENT1")]
    assert pay("reward")[0] == "done"


def test_a_refused_bonus_on_approved_work_stays_owed(pay, platform):
    platform.approve("ASSIGNMENT1")
    platform.trouble("send_bonus", REFUSES)
    assert pay() == ("refused", "not enough money.")


@pytest.mark.parametrize(
    ("later", "listed", "state"),
    [(True, True, "done"), (True, False, "unknown"), (False, False, "done"), (False, True, "done")],
)
def test_where_payments_take_their_time_they_are_in_doubt_until_they_are_listed(
    pay, platform, monkeypatch, later, listed, state
):
    platform.settles_later = later
    if not listed:
        monkeypatch.setattr(platform, "approve", lambda *_, **__: None)
    assert pay("reward")[0] == state


def test_what_the_platform_decided_is_written_down_of_each_submission():
    works = [
        work(hit_id=1), work("approved", 2, 1, hit_id=2), work("rejected", 3, 3, hit_id=None),
        work("approved", 4, 4, hit_id=None),
    ]  # fmt: skip
    seen = snapshot(
        works=works, accounts=[account(), account(id=3), account(id=4)],
        platform_rewards={0: 77, 1: 30, 2: 15},
    )  # fmt: skip
    assert [
        (each.item.payee, each.item.kind, each.item.amount_minor, each.assignment)
        for each in _build_decision_entries(seen, study())
    ] == [
        ("ref1", "reward", 30, "WORK1"),
        ("WORK2", "reward", 15, "WORK2"),
        ("ref3", "rejection", 0, "WORK3"),
        ("ref4", "reward", 77, "WORK4"),
    ]


def test_what_the_platform_paid_is_summed_by_payee():
    works = [work(hit_id=1), work("approved", 2, hit_id=None), work("rejected", 3, hit_id=1)]
    found = _sum_platform_payments(works, {1: 30}, [bonus("x"), bonus("y")], study())
    assert found == {"AWORKER1": 130, "AWORKER2": 20, "AWORKER3": 0}


@pytest.mark.parametrize(
    ("works", "elsewhere", "noted"),
    [([], [], True), ([work()], [], False), ([], [(bonus("x"), None)], False)],
)
def test_the_gate_learns_of_a_comparison_that_left_nothing_unwritten(
    sessions, monkeypatch, works, elsewhere, noted
):
    told = []
    monkeypatch.setattr(reconcile, "record_reconciliation", lambda *_: told.append(True))
    monkeypatch.setattr(reconcile, "find_unrecorded_bonuses", lambda _: iter(elsewhere))
    report_comparison(sessions, snapshot(works=works))
    assert bool(told) is noted
