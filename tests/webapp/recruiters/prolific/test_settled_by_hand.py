"""Settling a payment in doubt on the run's page: whatever is pressed, one person is paid once."""

import re
from dataclasses import dataclass
from itertools import product

import pytest
from sqlalchemy import select, update

from experiment.payment.payment import PaymentState
from tests.webapp.researcher.conftest import (  # noqa: F401 - fixtures
    Researcher,
    browser,
    password_hash,
    researcher,
)
from tests.webapp.researcher.test_money import Payer
from webapp.database.models import AuditEntry, Payment
from webapp.users.roles import Role

pytestmark = pytest.mark.one_database
REWARD, IN_DOUBT = "1", "2"
NO_LINE = ("3", "0", "-2", "²", "", "9" * 5_000)


@dataclass
class Desk:
    """Somebody at the run's page of money, as they opened it."""

    here: Researcher
    ref: str
    looked: str = ""

    def look(self) -> str:
        page = self.here.get(f"/runs/{self.ref}/money").text
        found = re.search(r'name="looked" value="([^"]+)"', page)
        self.looked = found[1] if found else ""
        return page

    def say(self, seen: str, number: str = IN_DOUBT):
        form = {"payment": number, "seen": seen, "looked": self.looked}
        return self.here.post(f"/runs/{self.ref}/money/settle", **form)


@pytest.fixture
def desk(lab, browser, researcher):  # noqa: F811
    """Return a function that lets somebody open the page in a browser of their own."""
    for role in (Role.RESEARCHER, Role.OWNER):
        researcher(role)

    def open_page(name: str = "researcher") -> Desk:
        opened = Desk(browser(), lab.run.ref)
        opened.here.sign_in(name)
        opened.look()
        return opened

    return open_page


@pytest.fixture
def bonus(lab, stand_in, shell, desk):
    """Return a function that asks for the same bonus; the first is ordered, and never shown."""
    submission = lab.hand_in(lab.publish())
    shell("approve", lab.run.ref, "--yes")
    payer = Payer(desk("owner").here, lab.run)
    asked = {"who": lab.ref_of(submission), "amount": "0.25", "reason": "You were quick."}
    stand_in.faults({"kind": "accepted_not_done", "operation": "pay-bonus-payments", "count": 1})
    payer.pay(act="bonus", **asked)
    assert lab.ledger()[1] == ("bonus", 25, "unknown")
    return lambda: payer.pay(act="bonus", **asked)


@pytest.fixture
def bonuses(stand_in):
    """Return a function that counts the bonuses that were really paid."""
    return lambda: [kind for kind, *_ in stand_in.payments()].count("bonus")


def test_what_was_not_paid_is_paid_once_however_often_the_button_is_pressed(
    lab, desk, bonus, bonuses, sessions
):
    anna = desk()
    assert "Settle it" in anna.look()
    answers = [anna.say("not paid").status_code for _ in range(2)]
    assert (answers, bonuses()) == ([303, 409], 0)
    bonus()
    assert (anna.say("not paid").status_code, bonuses()) == (409, 1)
    bonus()
    assert (lab.ledger()[1], bonuses()) == (("bonus", 25, "done"), 1)
    with sessions() as session:
        acts = select(AuditEntry.who, AuditEntry.before, AuditEntry.after).where(
            AuditEntry.act == "payment settled by hand"
        )
        [(who, before, after)] = session.execute(acts).all()
    assert (who, after["payment"], after["state"]) == ("researcher", IN_DOUBT, "refused")
    assert before == {"state": "in doubt"}


def test_what_somebody_saw_paid_is_never_paid_again(lab, desk, bonus, bonuses):
    anna, ben = desk(), desk("owner")
    assert anna.say("paid").status_code == 303
    late = ben.say("not paid")
    assert (late.status_code, "is not in doubt" in late.text) == (409, True)
    bonus()
    assert (lab.ledger()[1], bonuses()) == (("bonus", 25, "done"), 0)


def test_a_page_opened_before_the_next_attempt_says_nothing_of_it(
    lab, desk, bonus, bonuses, stand_in, clock
):
    """Two browsers: without this, the second order would be forgotten and a third one paid."""
    anna, ben = desk(), desk("owner")
    clock.go_on(minutes=1)
    assert anna.say("not paid").status_code == 303
    stand_in.control("workspace", bulk_s=300)
    bonus()
    assert lab.ledger()[1] == ("bonus", 25, "unknown")
    clock.go_on(minutes=6)
    for seen in ("not paid", "paid"):
        late = ben.say(seen)
        assert (late.status_code, "was tried again" in late.text) == (409, True)
    bonus()
    assert (lab.ledger()[1], bonuses()) == (("bonus", 25, "done"), 1)


def test_what_was_only_read_again_can_be_settled_on_the_page_that_is_open(
    lab, desk, bonus, bonuses, clock
):
    anna = desk()
    clock.go_on(hours=1)
    bonus()  # it was ordered before: the platform is read, and nothing is ordered
    assert anna.say("not paid").status_code == 303
    bonus()
    assert (lab.ledger()[1], bonuses()) == (("bonus", 25, "done"), 1)


def test_another_line_is_refused(lab, desk, bonus, bonuses):
    before, anna = lab.ledger(), desk()
    for seen, number in product(("paid", "not paid"), (REWARD, *NO_LINE)):
        assert anna.say(seen, number).status_code == 409, (seen, number)
        assert (lab.ledger(), bonuses()) == (before, 0)


def test_a_form_that_does_not_say_all_changes_nothing(lab, desk, bonus):
    anna, before = desk(), lab.ledger()
    for seen in ("", "yes", "PAID"):
        assert anna.say(seen).status_code in (400, 409)
    for anna.looked in ("", "yesterday", "9999-12-31T23:59:59-23:59"):
        assert anna.say("not paid").status_code in (400, 409)
    assert lab.ledger() == before


def test_a_payment_that_a_process_has_in_hand_is_not_settled_under_it(
    lab, desk, bonus, sessions, clock
):
    with sessions.begin() as session:
        at_work = {"state": PaymentState.ORDERED, "called_at": clock()}
        session.execute(update(Payment).where(Payment.kind == "bonus").values(at_work))
    anna = desk()
    assert anna.say("not paid").status_code == 409
    assert lab.ledger()[1] == ("bonus", 25, "ordered")
    clock.go_on(minutes=6)  # that process is gone
    assert anna.say("not paid").status_code == 303
