"""Compensation: to whom, offered once and told, and taken back only while nobody took it."""

from contextlib import nullcontext
from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace as Some

import pytest
from sqlalchemy import select

from experiment.payment.payment import Caps, PaymentError
from experiment.studies.load import load_study
from tests.webapp.payments.by_hand import account, line, written
from tests.webapp.payments.platform_double import PlatformDouble
from tests.webapp.payments.test_run_payments import LIMITS
from webapp.database.engine import reading
from webapp.database.models import Hit, Payment
from webapp.errors import RunError
from webapp.payments import compensate, compensation_request, run_payments
from webapp.payments.compensate import COMPENSATION, build_compensation_entry, offer_compensation
from webapp.payments.compensation_request import find_payee, withdraw_compensation, withdraw_offer
from webapp.payments.run_payments import open_run_payments

pytestmark = pytest.mark.one_database
CAPS = Caps(per_participant_minor=500, per_run_minor=5_000, currency="USD")


def test_a_run_is_not_opened_in_another_purse(monkeypatch):
    run, study = Some(ref="r", recruiter="x", currency="USD"), load_study("minimal")
    elsewhere = Some(endpoint="e", currency="EUR")
    for name, found in (
        ("reading", nullcontext), ("find_named_run", lambda *_: run), ("open_platform",
         lambda *_, **__: elsewhere), ("load_launched_study", lambda *_: study),
        ("require_recruitment", lambda *_: Some(account=None)), ("poll_run", lambda *_: None),
        ("record_accepted_compensation", lambda *_: None),
    ):  # fmt: skip
        monkeypatch.setattr(run_payments, name, found)
    sessions = Some(begin=nullcontext)
    with pytest.raises(RunError, match="EUR"):
        open_run_payments(LIMITS, sessions, run.ref, live=True, by="ada", now=lambda: None)
    elsewhere.currency = study.currency
    found = open_run_payments(LIMITS, sessions, run.ref, live=True, by="ada", now=lambda: None)
    assert (found.platform, found.by) == (elsewhere, "ada")


def test_who_is_named_by_what_the_platform_calls_them_is_that_person():
    run = Some(load_accounts=lambda: [account(), account(id=2)])
    found, worker = find_payee(run, None, "AWORKER2")
    assert (found.participant.ref, worker) == ("ref2", "AWORKER2")
    assert find_payee(run, None, "AWORKER3") == (None, "AWORKER3")


@pytest.mark.parametrize(
    ("offered", "amount", "taken_back"),
    [(None, 50, None), (50, 50, None), (50, 60, 50), (50, None, 50)],
)
def test_an_offer_gives_way_to_another_amount_or_to_none(monkeypatch, offered, amount, taken_back):
    offer, withdrawn, told = offered and line("compensation", minor=offered), [], []
    monkeypatch.setattr(compensation_request, "reading", nullcontext)
    monkeypatch.setattr(compensation_request, "find_offers", lambda *_: (offer, 0))
    monkeypatch.setattr(
        compensation_request, "withdraw_compensation", lambda *given: withdrawn.append(given)
    )
    run = Some(
        sessions=None, platform=None, run=Some(ref="r"), now=None,
        log_act=lambda *what, **after: told.append((what, after)),
    )  # fmt: skip
    assert withdraw_offer(run, "AWORKER1", amount) == taken_back
    assert len(withdrawn) == (taken_back is not None)
    assert told == ([(("compensation withdrawn",), {"amount": "$0.50"})] if withdrawn else [])
    if offer is None:
        with pytest.raises(RunError, match="no compensation has been offered"):
            withdraw_offer(run, "AWORKER1", None)


class Offering(PlatformDouble):
    """Says how many places are left, and whose offer was ended."""

    left, ended = 1, ()

    def state(self, offer_id):
        return replace(super().state(offer_id), available=self.left)

    def expire(self, offer_id, at):
        self.ended = (*self.ended, (offer_id, at))


@pytest.fixture
def offered(sessions, run, hit, clock):
    """Return a function that writes an offer down beside another one, and gives both."""

    def write(**fields):
        lines = [
            written(sessions, run, kind=COMPENSATION, state="intended", assignment=None)
            for _ in range(2)
        ]
        with sessions.begin() as session:
            for place, row in enumerate(lines):
                there = {"platform_id": f"OFFER{place}", "called_at": clock(), **fields}
                offer = {"run_id": run.id, "purpose": COMPENSATION, "places": 1}
                session.add(Hit(token=row.token, **offer, **(there if place else {})))
        with reading(sessions) as session:  # as a command reads them
            return [session.get_one(Payment, row.id) for row in lines]

    return write


@pytest.mark.parametrize(
    ("fields", "left", "problem"),
    [
        ({}, 1, ""),
        ({"called_at": None}, 1, ""),
        ({}, 0, "its worker has accepted it"),
        ({"platform_id": None}, 1, "not known whether the offer was posted"),
        ({"platform_id": None, "called_at": None}, 1, ""),
    ],
)
def test_an_offer_is_taken_back_while_its_place_is_free(
    offered, sessions, clock, fields, left, problem
):
    other, ours = offered(**fields)
    platform = Offering()
    platform.left = left
    with pytest.raises(PaymentError, match=problem) if problem else nullcontext():
        withdraw_compensation(sessions, platform, ours, clock)
    is_there = fields.get("platform_id", "OFFER1") is not None
    assert platform.ended == ((("OFFER1", clock()),) if is_there else ())
    with reading(sessions) as session:
        states = [session.get_one(Payment, each.id).state for each in (other, ours)]
    assert states == ["intended", "intended" if problem else "withdrawn"]


@pytest.mark.parametrize(
    ("platform", "later", "reached"),
    [
        (PlatformDouble(), {}, True),
        (PlatformDouble(unreachable={"AWORKER1"}), {}, False),
        (PlatformDouble(), {"days": 29}, True),
        (PlatformDouble(), {"days": 30}, True),
    ],
)
def test_an_offer_is_of_one_place_told_and_opened_again_when_its_time_is_over(
    sessions, run, hit, clock, platform, later, reached
):
    entry, link = build_compensation_entry(None, "AWORKER1", 50, "Sorry."), "http://x"
    platform = Offering(unreachable=platform.unreachable)

    def give():
        study = load_study("minimal")
        return offer_compensation(sessions, platform, run, study, entry, CAPS, link, clock)

    assert give() is reached
    assert [worker for worker, _ in platform.letters] == (["AWORKER1"] if reached else [])
    clock.go_on(**later)
    assert give() is reached and len(platform.posted) == 1
    over = later == {"days": 30}
    assert platform.ended == ((("HIT101", clock() + timedelta(days=30)),) if over else ())
    with reading(sessions) as session:
        [ours] = session.scalars(select(Hit).where(Hit.purpose == COMPENSATION))
    assert ours.places == 1 and platform.posted["HIT101"][2].places == 1


def test_where_the_platform_writes_no_letters_nobody_was_told():
    assert compensate._notify_worker(Some(), line(), "title") is False


def test_an_offer_after_a_withdrawn_one_is_another_payment():
    serials = [
        build_compensation_entry(None, "A", 5, "x", withdrawn=n).item.serial for n in (0, 1, 2)
    ]
    assert serials == ["", "1", "2"]
