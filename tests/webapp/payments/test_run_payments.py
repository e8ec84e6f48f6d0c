"""What a run would pay, what it pays, and what it writes in the log; and that the gate is asked."""

from dataclasses import dataclass, field, replace
from types import SimpleNamespace as Some

import pytest
from sqlalchemy import select

from experiment.payment.cost import Charge
from experiment.payment.payment import PaymentError, PaymentItem, PaymentKind
from experiment.studies.load import load_study
from tests.webapp.payments.by_hand import written
from tests.webapp.payments.platform_double import PlatformDouble
from tests.webapp.test_transactions import OpenTransactions
from webapp.database.engine import reading
from webapp.database.models import AuditEntry, Hit, Payment
from webapp.errors import RunError
from webapp.gate import gate
from webapp.gate.gate import GateError
from webapp.gate.installation import Blocker, Operation
from webapp.payments.compensate import build_compensation_entry
from webapp.payments.ledger import Entry
from webapp.payments.pay import make_payments
from webapp.payments.run_payments import RunPayments
from webapp.recruiters.platform import PlatformError

pytestmark = pytest.mark.one_database
LIMITS = Some(
    most_per_participant="5 USD", most_per_run="9 USD", least_per_hour="0 USD",
    most_per_hour="99 USD",
)  # fmt: skip


@dataclass
class Asking(PlatformDouble):
    """Notes what its fee is asked of; its offers pay what a test says."""

    charges: list[Charge] = field(default_factory=list)
    reward_minor: int | None = None

    def fees_minor(self, charges, audience):
        self.charges = list(charges)
        return super().fees_minor(charges, audience)

    def state(self, offer_id):
        return replace(super().state(offer_id), reward_minor=self.reward_minor)


@pytest.fixture
def platform(app, clock) -> Asking:
    engine = app.extensions["parallax"].engine
    return Asking(now=clock(), refuse_open_transaction=OpenTransactions(engine).refuse)


@pytest.fixture
def paying(worked, sessions, run, platform, clock) -> RunPayments:
    for number in range(1, 9):
        worked(number)
    return RunPayments(LIMITS, sessions, run, load_study("minimal"), platform, "ada", clock)


def entry(who: int, minor: int = 20, kind: str = "reward", reason: str = "Thanks.") -> Entry:
    item = PaymentItem(f"ref{who}", PaymentKind(kind), minor, reason, reason)
    return Entry(item, f"AWORKER{who}", f"ASSIGNMENT{who}", who)


def ledger(sessions) -> list[Payment]:
    with reading(sessions) as session:
        return list(session.scalars(select(Payment).order_by(Payment.id)))


def test_what_is_done_is_not_proposed_and_what_is_in_doubt_is(paying, sessions, run):
    for who, state in ((1, "done"), (2, "withdrawn"), (3, "unknown"), (4, "refused")):
        bonus = entry(who, 50, "bonus")
        written(
            sessions, run, state=state, token=bonus.item.token(run.ref), worker_id=f"AWORKER{who}"
        )
    found = paying.propose_payments([entry(who, 50, "bonus") for who in range(1, 6)])
    assert [each.item.payee for each in found.entries] == ["ref3", "ref4", "ref5"]
    assert (found.done, found.amount_minor, found.currency) == (2, 150, "USD")
    assert found.with_fees_minor == 180, "a fifth of each is the platform's"
    with pytest.raises(PaymentError, match="cannot become"):
        paying.propose_payments([entry(1, 51, "bonus")])


def test_caps_hold_before_anybody_is_asked(paying):
    assert paying.propose_payments([entry(1, 500, "bonus"), entry(2, 400, "bonus")]).entries
    with pytest.raises(PaymentError, match="most_per_participant"):
        paying.propose_payments([entry(1, 501, "bonus")])
    with pytest.raises(PaymentError, match="most_per_run"):
        paying.propose_payments([entry(1, 500, "bonus"), entry(2, 401, "bonus")])


def test_the_balance_must_hold_bonuses_with_their_fees_and_no_rewards(paying, platform):
    bonuses = [entry(1, 50, "bonus"), entry(2, 50, "bonus", "Fine.")]
    platform.balance = 120
    assert paying.propose_payments([*bonuses, entry(3)]).with_fees_minor == 144
    platform.balance = 119
    with pytest.raises(RunError, match=r"balance of \$1\.19 is too small") as caught:
        paying.propose_payments(bonuses)
    assert "at least $1.20" in str(caught.value)
    platform.balance = 0
    assert paying.propose_payments([entry(3)]).amount_minor == 20


def test_fees_are_asked_of_offers_as_large_as_the_platform_takes(paying, platform):
    paying.propose_payments([entry(1), entry(2), entry(3, 50, "bonus")])
    assert platform.charges == [Charge(20, 2, 9), Charge(50, 1, 9)]
    platform.most_places = None
    paying.propose_payments([entry(1)])
    assert platform.charges == [Charge(20, 1, 1)]
    platform.charges = []
    assert paying.propose_payments([entry(1, 0, "rejection")]).with_fees_minor == 0
    assert platform.charges == []


def test_a_reward_that_was_changed_on_the_platform_stops_rewards_alone(paying, platform):
    platform.reward_minor = 21
    with pytest.raises(RunError, match=r"an approval would pay \$0\.21"):
        paying.propose_payments([entry(1)])
    assert paying.propose_payments([entry(1, 50, "bonus")]).entries
    platform.reward_minor = 20
    assert paying.propose_payments([entry(1)]).entries


def test_what_became_of_each_is_told_once_and_by_the_alphabet(paying, platform, sessions, run):
    for who in range(3, 9):
        platform.submitted.pop(f"ASSIGNMENT{who}")
    words = iter("echdbf")
    platform._known = lambda work: platform.submitted.get(work) or _refuse(next(words))
    held = entry(2)
    written(
        sessions, run, state="calling", kind="reward", amount_minor=20, called_at=paying.now(),
        token=held.item.token(run.ref), assignment="ASSIGNMENT2", worker_id="AWORKER2",
    )  # fmt: skip
    found = paying.carry_out(paying.propose_payments([entry(who) for who in range(1, 9)]))
    assert dict(found.states) == {"done": 1, "calling": 1, "refused": 6}
    assert found.answers == ("another process is working on it", "b.", "c.", "d.", "e.", "f.", "h.")


def _refuse(word: str):
    raise PlatformError(word)


@pytest.mark.parametrize(
    ("entries", "what", "reason", "then"),
    [
        ([entry(1), entry(2)], "2 rewards ($0.40)", "Thanks.", "$0.60"),
        ([entry(1), entry(2, 50, "bonus", "Fine."), entry(3, 50, "bonus", "Fine.")],
         "2 bonuses ($1.00), 1 reward ($0.20)", None, "$1.40"),
    ],
)  # fmt: skip
def test_the_log_tells_what_was_paid_and_the_one_reason(
    paying, sessions, run, entries, what, reason, then
):
    written(sessions, run, kind="reward", state="done", amount_minor=20, assignment="ASSIGNMENT9")
    paying.carry_out(paying.propose_payments(entries))
    with reading(sessions) as session:
        told = session.scalars(select(AuditEntry).where(AuditEntry.act == "payment ordered")).one()
    assert told.after["what"] == what and told.after.get("reason") == reason
    assert told.before == {"paid in this run": "$0.20"}
    assert told.after["paid in this run then"] == then


def test_agreed_compensation_alone_is_paid_later(paying, sessions, run, platform):
    for who, kind, state in (
        (1, "compensation", "intended"), (2, "compensation", "done"), (3, "reward", "intended"),
        (4, "compensation", "withdrawn"), (5, "compensation", "refused"),
    ):  # fmt: skip
        on = {"assignment": f"ASSIGNMENT{who}", "worker_id": f"AWORKER{who}"}
        written(sessions, run, kind=kind, state=state, **on)
    platform.submitted.pop("ASSIGNMENT5")
    assert paying.pay_compensation() == (1, 2)
    assert platform.approvals == ["ASSIGNMENT1"]


def test_nothing_is_paid_or_written_down_where_the_gate_forbids_it(
    paying, sessions, run, platform, monkeypatch, clock
):
    waiting = written(sessions, run, kind="reward", state="intended", amount_minor=20)
    proposal = paying.propose_payments([entry(2), entry(3, 50, "bonus")])
    offered = replace(proposal, entries=(build_compensation_entry(None, "X", 50, "Sorry."),))
    shut = [Blocker("the ledger is old", "Reconcile", frozenset({Operation.PAY}))]
    monkeypatch.setattr(gate, "CHECKS", {"example": lambda *_: shut})
    for act in (
        lambda: paying.carry_out(proposal),
        lambda: paying.offer_compensation(offered, "http://x"),
        lambda: make_payments(sessions, platform, [waiting.id], clock),
        paying.pay_compensation,
    ):
        with pytest.raises(GateError, match="does not pay now"):
            act()
    assert [each.state for each in ledger(sessions)] == ["intended"]
    assert platform.approvals == platform.paid == [] and platform.posted == {}
    with reading(sessions) as session:
        assert [each.purpose for each in session.scalars(select(Hit))] == ["recruitment"]
