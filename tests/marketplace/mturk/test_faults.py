"""Faults on demand, the clock, restarts, and who may ask for them."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event
from time import sleep

import pytest
from botocore.exceptions import ClientError, ConnectionClosedError, HTTPClientError

from tests.marketplace.mturk.market import DAY_S, refusal
from tests.patience import PATIENCE_S


def outcome(call, **request) -> str:
    try:
        call(**request)
    except ClientError as error:
        return error.response["Error"]["Code"]
    except HTTPClientError as error:
        return type(error).__name__
    return "done"


def test_throttled_calls_do_nothing(market):
    market.fail({"kind": "throttled", "operation": "CreateHITType", "count": 2})
    code, message = refusal(market.type)
    assert (code, message) == ("ThrottlingException", "Rate exceeded")
    assert refusal(market.type)[0] == "ThrottlingException"
    assert market.type()


@pytest.mark.parametrize(
    ("kind", "heard", "done"),
    [
        ("server_error", "ServiceFault", False),
        ("server_error_after", "ServiceFault", True),
        ("request_lost", ConnectionClosedError.__name__, False),
        ("reply_lost", ConnectionClosedError.__name__, True),
    ],
)
def test_what_was_heard_and_what_was_done(market, kind, heard, done):
    hit_type = market.type()
    market.fail({"kind": kind, "operation": "CreateHITWithHITType", "count": 1})
    assert outcome(market.hit, HITTypeId=hit_type, UniqueRequestToken="k") == heard
    assert len(market.mturk.list_hits()["HITs"]) == done
    # With its token the same call is safe to repeat.
    outcome(market.hit, HITTypeId=hit_type, UniqueRequestToken="k")
    assert len(market.mturk.list_hits()["HITs"]) == 1


def test_a_slow_reply_comes_after_the_deed(open_market):
    asked_s, over = [], Event()

    def hold_back(seconds: float) -> None:
        asked_s.append(seconds)
        over.wait(PATIENCE_S)

    market = open_market(sleep=hold_back)
    hit_type, operation = market.type(), "CreateHITWithHITType"
    market.fail({"kind": "slow", "operation": operation, "count": 1, "seconds": 0.2})
    with ThreadPoolExecutor(1) as pool:
        reply = pool.submit(market.hit, HITTypeId=hit_type)
        try:
            while not (asked_s and market.mturk.list_hits()["HITs"]):
                assert not reply.done()
                sleep(0.01)
            assert not reply.done()
        finally:
            over.set()
        assert reply.result()["HITTypeId"] == hit_type
    assert asked_s == [0.2]
    # The next one is as quick as ever.
    market.hit(HITTypeId=hit_type)
    assert asked_s == [0.2]


def test_chances_follow_from_the_seed(market):
    def struck(seed: int) -> list[bool]:
        market.fail({"kind": "throttled", "probability": 0.5}, seed=seed)
        calls = (outcome(market.mturk.list_hits) for _ in range(30))
        return [call == "ThrottlingException" for call in calls]

    first = struck(1)
    assert first == struck(1) != struck(2)
    assert 5 < sum(first) < 25
    made = market.client().get("/control/faults").json()["made"]
    assert 5 < made["throttled"] < 25


def test_faults_that_cannot_be_made_are_refused(market):
    client = market.client()
    for wanted in (
        {"faults": [{"kind": "earthquake"}]},
        {"faults": [{"kind": "slow", "seconds": -1}]},
        {"faults": [{"kind": "throttled", "probability": 2}]},
        {"fault": []},
    ):
        answer = client.post("/control/faults", json=wanted)
        assert (answer.status_code, "faults" in answer.json()["error"]) == (400, True)
    assert client.post("/control/clock", json={"advance_s": "soon"}).status_code == 400
    assert client.post("/control/clock", json=[1]).status_code == 400


def test_the_control_address_listens_to_no_forms_and_no_strangers(market):
    client = market.client()
    assert client.post("/control/clock", data={"advance_s": 5}).status_code == 403
    named_elsewhere = {"Host": "evil.example"}
    stranger = client.post("/control/clock", json={"advance_s": 5}, headers=named_elsewhere)
    assert stranger.status_code == 403
    assert client.get("/control/payments", headers=named_elsewhere).status_code == 403


def test_a_public_marketplace_has_no_control_address(open_market):
    client = open_market(public=True).client()
    assert client.post("/control/clock", json={"advance_s": 5}).status_code == 404
    assert "masters" not in client.get("/").text


def test_a_restart_forgets_nothing(open_market):
    market = open_market(balance_cents=20_00)
    hit = market.hit(2, UniqueRequestToken="k")
    worker = market.worker()
    assignment_id = worker.accept(hit)
    market.go_on(DAY_S / 2)
    before = market.now(hit)
    again = open_market(balance_cents=1)
    assert again.now(hit) == before
    assert again.balance()[1] == "1.20"
    assert hit["HITId"] in refusal(again.hit, UniqueRequestToken="k")[1]
    # The cookie holds as well, and so does the clock, by which the time to submit is over.
    refused = worker.submit(assignment_id)
    assert (refused.status_code, refused.json()["code"]) == (409, "abandoned")
    assert worker.facts("/work")["assignments"][0]["status"] == "abandoned"


def test_a_returned_assignments_identifier_may_come_back_with_another_worker(market):
    hit, first, second = market.hit(), market.worker("A1"), market.worker("A2")
    market.fail({"kind": "id_reused", "operation": "accept"})
    assignment_id = first.accept(hit)
    first.give_back(assignment_id)
    assert second.accept(hit) == assignment_id
    assert second.submit(assignment_id).status_code == 200
    assignment = market.mturk.get_assignment(AssignmentId=assignment_id)["Assignment"]
    assert assignment["WorkerId"] == "A2"
    assert first.facts(f"/assignments/{assignment_id}")["status"] == "returned"
