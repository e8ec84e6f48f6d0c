"""Events in a queue that boto3's SQS client reads."""

import json

import pytest

from tests.marketplace.mturk.market import refusal

EVENTS = [
    "AssignmentAccepted", "AssignmentAbandoned", "AssignmentReturned", "AssignmentSubmitted",
    "AssignmentApproved", "AssignmentRejected", "HITCreated", "HITExpired", "HITReviewable",
    "HITExtended", "HITDisposed",
]  # fmt: skip


@pytest.fixture
def queue(market) -> str:
    return f"{market.url}/queue/events"


def specification(queue: str, **changes: object) -> dict[str, object]:
    usual = {"Destination": queue, "Transport": "SQS", "Version": "2006-05-05"}
    return {**usual, "EventTypes": EVENTS, **changes}


@pytest.fixture
def hit_type(market, queue) -> str:
    hit_type = market.type()
    market.mturk.update_notification_settings(
        HITTypeId=hit_type, Notification=specification(queue), Active=True
    )
    return hit_type


def received(market, queue, **how) -> list[dict]:
    return market.queue.receive_message(QueueUrl=queue, **how).get("Messages", [])


def events(market, queue) -> list[str]:
    seen = []
    while messages := received(market, queue, MaxNumberOfMessages=10):
        for message in messages:
            seen += [event["EventType"] for event in json.loads(message["Body"])["Events"]]
            market.queue.delete_message(QueueUrl=queue, ReceiptHandle=message["ReceiptHandle"])
    return seen


def test_everything_that_happens_is_told(market, queue, hit_type):
    hit, worker = market.hit(2, HITTypeId=hit_type), market.worker()
    worker.give_back(worker.accept(hit))
    worker.accept(hit)
    market.go_on(601)
    done, other = worker.work(hit), market.worker("A2").work(hit)
    market.mturk.approve_assignment(AssignmentId=done)
    market.mturk.reject_assignment(AssignmentId=other, RequesterFeedback="No")
    extend = market.mturk.create_additional_assignments_for_hit
    extend(HITId=hit["HITId"], NumberOfAdditionalAssignments=1)
    market.mturk.update_expiration_for_hit(HITId=hit["HITId"], ExpireAt=hit["CreationTime"])
    market.mturk.delete_hit(HITId=hit["HITId"])
    assert events(market, queue) == [
        "HITCreated", "AssignmentAccepted", "AssignmentReturned", "AssignmentAccepted",
        "AssignmentAbandoned", "AssignmentAccepted", "AssignmentSubmitted", "AssignmentAccepted",
        "AssignmentSubmitted", "HITReviewable", "AssignmentApproved", "AssignmentRejected",
        "HITExtended", "HITExpired", "HITReviewable", "HITDisposed",
    ]  # fmt: skip


def test_a_message_says_what_happened_where(market, queue, hit_type):
    hit = market.hit(HITTypeId=hit_type)
    [message] = received(market, queue)
    body = json.loads(message["Body"])
    [event] = body["Events"]
    assert event.pop("EventTimestamp").endswith("Z")
    assert event == {"EventType": "HITCreated", "HITTypeId": hit_type, "HITId": hit["HITId"]}
    assert body["EventDocVersion"] == "2014-08-15"


def test_a_message_that_is_not_deleted_comes_again(market, queue, hit_type):
    market.hit(HITTypeId=hit_type)
    first = received(market, queue, VisibilityTimeout=30)
    assert received(market, queue) == []
    market.go_on(31)
    assert received(market, queue) == first


def test_messages_come_twice_and_out_of_order_on_demand(market, queue, hit_type):
    hit = market.hit(HITTypeId=hit_type)
    market.worker().accept(hit)
    market.fail(
        {"kind": "duplicated", "operation": "ReceiveMessage", "count": 1},
        {"kind": "reordered", "operation": "ReceiveMessage", "count": 1},
    )
    seen = received(market, queue, MaxNumberOfMessages=10)
    event_types = [json.loads(message["Body"])["Events"][0]["EventType"] for message in seen]
    assert event_types == ["AssignmentAccepted", "HITCreated"] * 2


def test_settings_are_changed_and_switched_off(market, queue, hit_type):
    settings = market.mturk.update_notification_settings
    settings(HITTypeId=hit_type, Active=False)
    market.hit(HITTypeId=hit_type)
    settings(HITTypeId=hit_type, Notification=specification(queue, EventTypes=["HITExpired"]))
    settings(HITTypeId=hit_type, Active=True)
    market.hit(HITTypeId=hit_type, LifetimeInSeconds=60)
    market.go_on(61)
    assert events(market, queue) == ["HITExpired"]


def test_a_test_event_is_sent_at_once(market, queue):
    market.mturk.send_test_event_notification(
        Notification=specification(queue), TestEventType="Ping"
    )
    assert events(market, queue) == ["Ping"]


def test_only_queues_are_notified(market, queue):
    settings, hit_type = market.mturk.update_notification_settings, market.type()
    assert refusal(settings, HITTypeId=hit_type)[0] == "ParameterValidationError"
    for changes in ({"Transport": "Email"}, {"Version": "1999-01-01"}, {"EventTypes": []}):
        asked = {"HITTypeId": hit_type, "Notification": specification(queue, **changes)}
        assert refusal(settings, **asked)[0] == "ParameterValidationError"


def test_the_queue_refuses_what_sqs_refuses(market, queue):
    receive, delete = market.queue.receive_message, market.queue.delete_message
    assert refusal(receive, QueueUrl=queue, MaxNumberOfMessages=11)[0] == "InvalidParameterValue"
    for made_up in ("made up", "9" * 40, "٣"):
        code, _ = refusal(delete, QueueUrl=queue, ReceiptHandle=made_up)
        assert code == "ReceiptHandleIsInvalid"
    delete(QueueUrl=queue, ReceiptHandle="123456")
