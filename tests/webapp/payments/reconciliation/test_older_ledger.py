"""What reconciling writes down where the ledger knew less than the platform."""

import pytest

from experiment.payment.payment import Caps, PaymentItem, PaymentKind
from experiment.studies.load import load_study
from tests.webapp.payments.conftest import CAPS
from webapp.database.engine import reading
from webapp.database.models import Payment
from webapp.payments.accounts import load_accounts
from webapp.payments.bonuses import build_bonus_entries
from webapp.payments.ledger import load_payments
from webapp.payments.pay import pay_entries
from webapp.payments.reconciliation.reconcile import fix_discrepancies
from webapp.payments.reconciliation.snapshot import take_snapshot

pytestmark = pytest.mark.one_database
BONUS = 25


@pytest.fixture
def look(app, sessions, platform, run, clock):
    tokens = app.extensions["parallax"].tokens
    return lambda: take_snapshot(sessions, platform, run, tokens, clock())


@pytest.fixture
def fix(sessions, platform, run, clock):
    """Return a function that mends by what was seen, be it long ago."""
    study = load_study("minimal")
    return lambda seen: fix_discrepancies(sessions, platform, run, study, "http://x", seen, clock)


@pytest.fixture
def pay_bonus(sessions, run, platform, clock):
    """Return a function that pays the bonus of everybody."""

    def pay(caps: Caps = CAPS) -> None:
        with reading(sessions) as session:
            found = load_accounts(session, run)
        items = [
            PaymentItem(each.participant.ref, PaymentKind.BONUS, BONUS, "Thank you.")
            for each in found
        ]
        pay_entries(sessions, platform, run, build_bonus_entries(found, items)[0], caps, clock)

    return pay


@pytest.fixture
def ledger(sessions, run):
    def read() -> list[tuple[str, str, int]]:
        with reading(sessions) as session:
            return [(p.kind, p.state, p.amount_minor) for p in load_payments(session, run)]

    return read


def test_a_bonus_of_ours_that_an_older_backup_had_lost_is_one_line_again(
    sessions, worked, pay_rewards, pay_bonus, platform, look, fix, ledger
):
    worked(1)
    pay_rewards()
    pay_bonus()
    with sessions.begin() as session:
        session.query(Payment).filter_by(kind="bonus").delete()
    fix(look())
    assert ("bonus", "done", BONUS) in ledger()
    # The most that may be paid leaves no room for a second line.
    pay_bonus(Caps(20 + BONUS, 20 + BONUS, "USD"))
    assert [line for line in ledger() if line[0] == "bonus"] == [("bonus", "done", BONUS)]
    assert len(list(platform.bonuses("HIT1"))) == 1


def test_a_database_that_is_put_back_between_looking_and_mending_is_no_failure(
    sessions, worked, pay_rewards, pay_bonus, platform, look, fix, ledger
):
    worked(1)
    pay_rewards()
    pay_bonus()
    seen = look()
    with sessions.begin() as session:
        session.query(Payment).delete()
    fix(seen)
    assert ledger() == [("bonus", "done", BONUS)]
    assert len(list(platform.bonuses("HIT1"))) == 1


def test_what_another_process_pays_while_the_platform_is_read_is_no_payment_by_hand(
    worked, pay_rewards, pay_bonus, platform, look, fix, ledger, monkeypatch
):
    worked(1)
    pay_rewards()
    listed = type(platform).bonuses

    def bonuses_after_another_process_paid(self, offer_id):
        monkeypatch.setattr(type(platform), "bonuses", listed)
        pay_bonus()
        return listed(self, offer_id)

    monkeypatch.setattr(type(platform), "bonuses", bonuses_after_another_process_paid)
    # The ledger was read before, the platform's list after that bonus.
    fix(look())
    assert [line for line in ledger() if line[0] == "bonus"] == [("bonus", "done", BONUS)]
    assert len(list(platform.bonuses("HIT1"))) == 1
