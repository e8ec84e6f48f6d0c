"""Assignments, judgments, bonuses and the money behind them."""

from itertools import product

import pytest
from sqlalchemy import select

from marketplace.mturk.control import MturkFaultPlan
from marketplace.mturk.money import bonus_fee_cents, format_amount, parse_cents, reward_fee_cents
from marketplace.mturk.qualifications import MASTERS
from marketplace.mturk.tables import Payment
from marketplace.mturk.workers import Profile, accept_hit, save_profile, submit_assignment
from tests.marketplace.mturk.market import DAY_S, refusal
from webapp.recruiters.mturk.settings import fee_cents
from webapp.recruiters.platform import Audience


def statuses(market, hit, **filters):
    pages = market.mturk.get_paginator("list_assignments_for_hit")
    listed = pages.paginate(HITId=hit["HITId"], **filters)
    return [each["AssignmentStatus"] for page in listed for each in page["Assignments"]]


def test_only_finished_work_is_listed_in_the_order_it_came(market):
    hit = market.hit(3)
    first, second, third = (market.worker(f"A{number}") for number in range(3))
    late, early = first.accept(hit), second.accept(hit)
    third.accept(hit)
    second.submit(early, receipt="x")
    first.submit(late)
    listed = market.mturk.list_assignments_for_hit(HITId=hit["HITId"])["Assignments"]
    assert [each["AssignmentId"] for each in listed] == [early, late]
    assert listed[0]["WorkerId"] == "A1"
    assert listed[0]["SubmitTime"] >= listed[0]["AcceptTime"]


def test_pages_and_statuses_of_more_than_a_hundred_assignments(market):
    hit = market.hit(105, Reward="0.01")
    with market.store.moment() as (session, now):
        for number in range(105):
            worker = save_profile(session, Profile(worker_id=f"A{number}"))
            taken = accept_hit(session, worker, hit["HITGroupId"], now, MturkFaultPlan())
            submit_assignment(
                session, [("assignmentId", taken.assignment_id), ("receipt", "r")], now
            )
    assert statuses(market, hit, PaginationConfig={"PageSize": 100}) == ["Submitted"] * 105
    one = market.mturk.list_assignments_for_hit(HITId=hit["HITId"], MaxResults=1)["Assignments"][0]
    market.mturk.approve_assignment(AssignmentId=one["AssignmentId"])
    assert statuses(market, hit, AssignmentStatuses=["Approved"]) == ["Approved"]
    assert len(statuses(market, hit, AssignmentStatuses=["Submitted", "Rejected"])) == 104


def test_work_is_approved_once(market):
    assignment_id = market.worker().work(market.hit())
    approve = market.mturk.approve_assignment
    approve(AssignmentId=assignment_id, RequesterFeedback="Thank you")
    code, message = refusal(approve, AssignmentId=assignment_id)
    assert code == "InvalidAssignmentState"
    assert message.startswith("This operation can be called with a status of: Submitted (")
    reply = market.mturk.get_assignment(AssignmentId=assignment_id)
    assert reply["Assignment"]["AssignmentStatus"] == "Approved"
    assert reply["Assignment"]["RequesterFeedback"] == "Thank you"
    assert reply["HIT"]["NumberOfAssignmentsCompleted"] == 1


def test_work_that_is_not_submitted_can_be_neither_read_nor_reviewed(market):
    assignment_id = market.worker().accept(market.hit())
    _, message = refusal(market.mturk.get_assignment, AssignmentId=assignment_id)
    assert "with a status of: Reviewable,Approved,Rejected" in message
    _, message = refusal(market.mturk.approve_assignment, AssignmentId=assignment_id)
    assert "with a status of: null" in message
    assert refusal(market.mturk.get_assignment, AssignmentId="3NO")[0] == "AssignmentDoesNotExist"


def test_a_rejection_is_overridden_within_thirty_days_only(market):
    hit, worker = market.hit(2), market.worker()
    first, second = worker.work(hit), market.worker("A2").work(hit)
    for assignment_id in (first, second):
        market.mturk.reject_assignment(AssignmentId=assignment_id, RequesterFeedback="No answers")
    approve = market.mturk.approve_assignment
    assert refusal(approve, AssignmentId=first)[0] == "InvalidAssignmentState"
    approve(AssignmentId=first, OverrideRejection=True)
    assert worker.facts("/work")["earned_cents"] == 50
    market.go_on(31 * DAY_S)
    late = {"AssignmentId": second, "OverrideRejection": True}
    assert refusal(approve, **late)[0] == "InvalidAssignmentState"


def test_work_is_approved_by_itself_after_the_delay(market):
    hit = market.hit(AutoApprovalDelayInSeconds=3600)
    market.worker().work(hit)
    market.go_on(3599)
    assert statuses(market, hit) == ["Submitted"]
    market.go_on(2)
    assert statuses(market, hit) == ["Approved"]


@pytest.fixture
def reviewed(market) -> tuple[dict, dict]:
    hit = market.hit()
    assignment_id = market.worker().work(hit)
    market.mturk.approve_assignment(AssignmentId=assignment_id)
    bonus = {"WorkerId": "A1WORKER", "AssignmentId": assignment_id, "BonusAmount": "0.25"}
    return hit, {**bonus, "Reason": "Thank you", "UniqueRequestToken": "k"}


def bonuses(market, hit) -> list[str]:
    paid = market.mturk.list_bonus_payments(HITId=hit["HITId"])["BonusPayments"]
    return [each["BonusAmount"] for each in paid]


def test_a_bonus_is_paid_once_for_each_token_and_again_when_the_token_is_a_day_old(
    market, reviewed
):
    hit, bonus = reviewed
    market.mturk.send_bonus(**bonus)
    code, message = refusal(market.mturk.send_bonus, **bonus)
    assert code == "DuplicateRequest"
    assert 'The idempotency token "k" has already been processed.' in message
    assert bonuses(market, hit) == ["0.25"]
    market.go_on(DAY_S + 1)
    market.mturk.send_bonus(**bonus)
    assert bonuses(market, hit) == ["0.25", "0.25"]


def test_a_bonus_without_a_token_is_paid_every_time(market, reviewed):
    hit, bonus = reviewed
    del bonus["UniqueRequestToken"]
    for _ in range(2):
        market.mturk.send_bonus(**bonus)
    assert bonuses(market, hit) == ["0.25", "0.25"]
    paid = market.mturk.list_bonus_payments(AssignmentId=bonus["AssignmentId"])
    assert paid["NumResults"] == 2


def test_a_bonus_goes_only_to_who_did_the_work_and_only_after_it_was_reviewed(market, reviewed):
    _, bonus = reviewed
    send = market.mturk.send_bonus
    assert refusal(send, **{**bonus, "WorkerId": "A2"})[0] == "InvalidParameterValue"
    assert refusal(send, **{**bonus, "BonusAmount": "0"})[0] == "ParameterValidationError"
    waiting = market.worker().work(market.hit(Title="Other"))
    assert refusal(send, **{**bonus, "AssignmentId": waiting})[0] == "InvalidAssignmentState"
    market.go_on(200 * DAY_S)
    assert refusal(send, **bonus)[0] == "InvalidAssignmentState"


def test_bonuses_are_asked_of_a_hit_or_an_assignment(market):
    assert refusal(market.mturk.list_bonus_payments)[0] == "ParameterValidationError"


def test_open_places_are_held_back_and_let_go(open_market):
    market = open_market(balance_cents=10_00)
    hit, worker = market.hit(4), market.worker()
    assert market.balance() == ("7.60", "2.40"), "4 x (50 + 20%)"
    approved, rejected = worker.work(hit), market.worker("A2").work(hit)
    market.mturk.approve_assignment(AssignmentId=approved)
    assert market.balance() == ("7.60", "1.80")
    market.mturk.reject_assignment(AssignmentId=rejected, RequesterFeedback="No")
    assert market.balance() == ("8.20", "1.20")
    market.mturk.update_expiration_for_hit(HITId=hit["HITId"], ExpireAt=hit["CreationTime"])
    assert market.balance() == ("9.40", "0.00")


def test_what_cannot_be_paid_is_not_done_at_all(open_market):
    market = open_market(balance_cents=1_00)
    code, message = refusal(market.hit, places=2)
    assert code == "InsufficientFunds"
    assert "insufficient funds in their account" in message
    assert market.mturk.list_hits()["HITs"] == []
    hit = market.hit(1)
    extend = {"HITId": hit["HITId"], "NumberOfAdditionalAssignments": 1, "UniqueRequestToken": "k"}
    grow = market.mturk.create_additional_assignments_for_hit
    assert refusal(grow, **extend)[0] == "InsufficientFunds"
    assert market.now(hit)["MaxAssignments"] == 1
    market.control("deposit", cents=1_00)
    grow(**extend)
    assert market.balance() == ("0.80", "1.20")


def test_a_bonus_that_cannot_be_paid_leaves_its_token_unused(market, reviewed):
    hit, bonus = reviewed
    market.control("deposit", cents=-9_999_20)
    assert refusal(market.mturk.send_bonus, **bonus)[0] == "InsufficientFunds"
    market.control("deposit", cents=100_00)
    market.mturk.send_bonus(**bonus)
    assert bonuses(market, hit) == ["0.25"]


@pytest.mark.parametrize(
    ("reward", "places", "masters", "fee"),
    [
        (50, 9, False, 10),
        (50, 10, False, 20),
        (50, 9, True, 13),
        (1, 1, False, 1),
        (7, 1, False, 2),
    ],
)
def test_fees(reward, places, masters, fee):
    asked = [{"QualificationTypeId": MASTERS[0]}] if masters else []
    assert reward_fee_cents(reward, places, asked) == fee


def test_the_cost_that_publishing_shows_is_what_the_marketplace_takes():
    for reward, places, masters in product(range(1, 300, 7), (1, 9, 10), (False, True)):
        asked = [{"QualificationTypeId": MASTERS[0]}] if masters else []
        shown = fee_cents(reward, places, Audience(masters=masters))
        assert reward_fee_cents(reward, places, asked) == shown


def test_a_bonus_pays_the_plain_fee():
    assert (bonus_fee_cents(100), bonus_fee_cents(1)) == (20, 1)


def test_amounts_are_read_and_written_to_the_cent():
    for text, worth in (("1", 100), ("0.5", 50), ("2.", 200), ("0.07", 7), ("0", 0)):
        assert parse_cents(text) == worth
    assert [format_amount(worth) for worth in (100, 7, 123456, 0)] == [
        "1.00",
        "0.07",
        "1234.56",
        "0.00",
    ]


def test_every_payment_is_on_record(market, reviewed):
    _, bonus = reviewed
    market.mturk.send_bonus(**bonus)
    payments = market.client().get("/control/payments").json()["payments"]
    assert [(each["kind"], each["amount_cents"], each["fee_cents"]) for each in payments] == [
        ("reward", 50, 10),
        ("bonus", 25, 5),
    ]
    with market.store.moment() as (session, _):
        assert len(session.scalars(select(Payment)).all()) == 2
