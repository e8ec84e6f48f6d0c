"""Bonuses in two steps: told to pay at most once, whatever stands beside them or goes wrong."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

import pytest
from sqlalchemy import update

from experiment.payment.payment import Caps, PaymentItem, PaymentKind
from tests.webapp.payments.by_hand import written
from tests.webapp.payments.platform_double import (
    DIES_AFTER,
    DIES_BEFORE,
    LOST_REPLY,
    NO_CONNECTION,
    REFUSES,
    PlatformDouble,
    ProcessDied,
    Trouble,
)
from tests.webapp.test_transactions import OpenTransactions
from webapp.database.engine import reading
from webapp.database.models import Payment
from webapp.payments import non_idempotent_bonuses
from webapp.payments.ledger import Entry, load_payments
from webapp.payments.pay import pay_entries
from webapp.recruiters.platform import Bonus

pytestmark = pytest.mark.one_database
CAPS = Caps(per_participant_minor=500, per_run_minor=1_000, currency="USD")


@dataclass
class TwoSteps(PlatformDouble):
    """Pays a set-up each time it is told to; what else happens meanwhile is planted."""

    set_ups: dict[str, str] = field(default_factory=dict)
    meanwhile: dict[str, Callable[[], None]] = field(default_factory=dict)

    def set_up_bonus(self, offer_id: str, assignment_id: str, amount_minor: int) -> str:
        with self._call("set_up_bonus"):
            number = f"SETUP{len(self.set_ups)}"
            self.set_ups[number] = (assignment_id, amount_minor)
        self.meanwhile.pop("set_up_bonus", lambda: None)()
        return number

    def pay_bonus(self, set_up_id: str) -> None:
        with self._call("pay_bonus"):
            self.show(*self.set_ups[set_up_id])

    def bonuses_of(self, assignment_id: str) -> list[int]:
        with self._call("bonuses_of"):
            return [each.amount_minor for each in self.paid if each.assignment_id == assignment_id]

    def show(self, assignment_id: str, amount_minor: int) -> None:
        self.paid.append(Bonus("AWORKER1", assignment_id, amount_minor, "", self.now))


@pytest.fixture
def platform(app, clock) -> TwoSteps:
    engine = app.extensions["parallax"].engine
    return TwoSteps(now=clock(), refuse_open_transaction=OpenTransactions(engine).refuse)


@pytest.fixture
def pay(worked, sessions, run, platform, clock):
    """Return a function that pays somebody 50 cents, six minutes later, and tells what stands."""
    worked(1)
    item = PaymentItem("ref1", PaymentKind.BONUS, 50, "Fine.", "Fine.")
    entry = Entry(item, "AWORKER1", "ASSIGNMENT1", 1)

    def once():
        with suppress(ProcessDied):
            pay_entries(sessions, platform, run, [entry], CAPS, clock)
        clock.go_on(minutes=6)
        with reading(sessions) as session:
            [line] = [each for each in load_payments(session, run) if each.reason == "Fine."]
        return line.state, line.answer, line.ordered_at, line.shown_before

    return once


@pytest.mark.parametrize(
    ("trouble", "shown", "state", "set_ups"),
    [
        (Trouble(), 1, "done", 1),
        (LOST_REPLY, 1, "done", 1),
        (NO_CONNECTION, 0, "unknown", 1),
        (DIES_BEFORE, 0, "unknown", 1),
        (DIES_AFTER, 1, "done", 1),
        (REFUSES, 1, "done", 2),
    ],
)
def test_a_set_up_is_told_to_pay_once_whatever_becomes_of_the_call(
    pay, platform, trouble, shown, state, set_ups
):
    platform.trouble("pay_bonus", trouble)
    first = pay()
    if trouble is REFUSES:
        assert first[0] == "refused" and first[2:] == (None, None), "it can be tried anew"
    assert [pay()[0] for _ in range(2)] == [state] * 2
    assert len(platform.paid) == shown
    assert platform.calls.count("set_up_bonus") == platform.calls.count("pay_bonus") == set_ups


def test_a_bonus_of_the_same_amount_at_the_same_moment_takes_the_order_back(pay, platform):
    platform.meanwhile["set_up_bonus"] = lambda: platform.show("ASSIGNMENT1", 50)
    state, answer, *ordered = pay()
    assert state == "refused" and "paid for the same work at this moment" in answer
    assert ordered == [None, None] and "pay_bonus" not in platform.calls
    assert "missing from the ledger" in pay()[1] and "pay_bonus" not in platform.calls


def test_a_bonus_that_nobody_knows_of_stops_it_before_anything_is_set_up(pay, platform):
    platform.show("ASSIGNMENT1", 70)
    assert "missing from the ledger" in pay()[1]
    assert "set_up_bonus" not in platform.calls


def test_another_line_of_the_ledger_at_the_same_moment_waits_with_the_set_up(
    pay, platform, sessions, run, clock
):
    platform.meanwhile["set_up_bonus"] = lambda: written(
        sessions, run, state="done", called_at=clock()
    )
    state, answer, *_ = pay()
    assert state == "refused" and "was paid at the same moment" in answer
    assert platform.paid == []
    platform.show("ASSIGNMENT1", 50)
    assert pay()[0] == "done"
    assert len(platform.paid) == 2 and len(platform.set_ups) == 1, "what was set up is used"


def test_what_cannot_be_read_once_more_is_not_ordered(pay, platform):
    platform.trouble("bonuses_of", Trouble(), NO_CONNECTION)
    assert pay()[0] == "unknown" and "pay_bonus" not in platform.calls
    assert pay()[0] == "done"
    assert (len(platform.paid), len(platform.set_ups)) == (1, 1)


def test_what_another_process_ordered_is_only_read(pay, platform, sessions, clock):
    def order():
        with sessions.begin() as session:
            session.execute(update(Payment).values(ordered_at=clock()))

    platform.meanwhile["set_up_bonus"] = order
    assert pay()[0] == "unknown" and "pay_bonus" not in platform.calls


def test_two_steps_are_for_bonuses_alone(pay_rewards, worked, platform):
    worked(1)
    pay_rewards()
    assert platform.approvals == ["ASSIGNMENT1"] and not platform.set_ups


def test_a_bonus_is_paid_when_more_are_shown_than_before_or_than_other_lines_have(
    run, sessions, clock
):
    cases = [
        # shown before; the other lines; what is shown; whether that pays
        (None, [], [], False),
        (None, [], [60], False),
        (None, [], [50], True),
        (None, [{"state": "done"}], [50], False),
        (None, [{"state": "done"}], [50, 50], True),
        (None, [{"state": "done", "kind": "compensation"}], [50], False),
        (None, [{"state": "done", "kind": "reward"}], [50], True),
        (None, [{"state": "done", "assignment": "ELSEWHERE"}], [50], True),
        (None, [{"state": "done", "amount_minor": 60}], [50], True),
        (None, [{}], [50], True),
        (1, [], [50], False),
        (1, [], [50, 50], True),
        (0, [{"state": "done"}], [50], True),
    ]
    for number, (before, others, shown, paid) in enumerate(cases):
        on = {"assignment": f"WORK{number}"}
        beside = [written(sessions, run, **{**on, **each}) for each in others]
        ours = written(sessions, run, shown_before=before, answer="?", **on)
        assert non_idempotent_bonuses._settle_if_shown(sessions, ours, shown, clock) is paid, number
        with reading(sessions) as session:
            found = session.get_one(Payment, ours.id)
            assert (found.state, found.answer) == (("done", "") if paid else ("unknown", "?"))
            assert (found.settled_at == clock()) == paid
            assert [session.get_one(Payment, each.id).state for each in beside] == [
                each.state for each in beside
            ]
