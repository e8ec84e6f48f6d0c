"""What requesters, workers and programs are told when the marketplace refuses."""

import json
from datetime import UTC, datetime

import pytest

from marketplace.mturk.qualifications import APPROVED_COUNT, MASTERS
from marketplace.mturk.question import QuestionError, read_question
from marketplace.mturk.wire import _to_timestamp
from tests.marketplace.mturk.market import DAY_S, JSON, question, refusal
from tests.marketplace.mturk.test_wire import SIGNED, TARGET, send

LONG_AGO = datetime(2015, 1, 1, tzinfo=UTC)


def told(call, **request) -> str:
    """Return what a refusal says, without the time at its end."""
    return refusal(call, **request)[1].rpartition(" (")[0]


def test_a_requester_is_told_which_hit_or_type_is_meant_and_what_may_be_asked_of_it(market):
    api, hit, full = market.mturk, market.hit(9, UniqueRequestToken="k"), market.hit(Title="Full")
    market.worker().work(full)
    of = {"HITId": hit["HITId"]}
    new = {"LifetimeInSeconds": 60, "HITTypeId": hit["HITTypeId"]}
    assert told(api.get_hit, HITId="3NO") == "Hit 3NO does not exist."
    assert told(market.hit, HITTypeId="3NO") == "HITType 3NO does not exist."
    assert told(market.hit, UniqueRequestToken="k") == (
        f"The HIT already exists: HITId {hit['HITId']}"
    )
    state = "This HIT is currently in the state 'Assignable'. This operation can be called with"
    assert told(api.delete_hit, **of) == f"{state} a status of: Reviewable,Reviewing"
    assert told(api.delete_hit, HITId=full["HITId"]) == (
        "1 of the HIT's assignments are neither approved nor rejected."
    )
    grow = api.create_additional_assignments_for_hit
    assert told(grow, **of, NumberOfAdditionalAssignments=1) == (
        f"HIT {hit['HITId']} was created with fewer than 10 assignments and cannot be extended"
        " to have 10 or more."
    )
    create = api.create_hit_with_hit_type
    assert told(create, **new) == "Either a Question or a HITLayoutId must be provided."
    assert told(create, **new, HITLayoutId="3L") == "This marketplace does not know HITLayoutId."
    assert told(market.type, Reward="10000.01") == "Reward must not exceed 10000.00."
    assert told(market.type, Title="x" * 129) == "Title must not exceed 128 characters."
    asked = [{"QualificationTypeId": APPROVED_COUNT, "Comparator": "Exists"}] * 11
    assert told(market.type, QualificationRequirements=asked) == (
        "A HIT can have at most 10 qualification requirements."
    )


def test_a_requester_is_told_why_work_is_not_reviewed_and_no_bonus_is_paid(market):
    api, worker, hit = market.mturk, market.worker(), market.hit(2)
    waiting, rejected = worker.work(hit), market.worker("A2").work(hit)
    api.reject_assignment(AssignmentId=rejected, RequesterFeedback="No answers")
    assert told(api.get_assignment, AssignmentId="3NO") == "Assignment 3NO does not exist."
    assert told(api.approve_assignment, AssignmentId=waiting, RequesterFeedback="x" * 1025) == (
        "RequesterFeedback must not exceed 1024 characters."
    )
    bonus = {"WorkerId": "A1WORKER", "AssignmentId": waiting, "BonusAmount": "0", "Reason": "r"}
    assert told(api.send_bonus, **bonus) == (
        "This operation can be called with a status of: Approved,Rejected"
    )
    api.approve_assignment(AssignmentId=waiting)
    assert told(api.send_bonus, **bonus) == "The bonus must be from 0.01 to 10000.00."
    assert told(api.send_bonus, **{**bonus, "WorkerId": "A2"}) == (
        f"Worker A2 did not work on assignment {waiting}."
    )
    assert told(api.list_bonus_payments) == "Either the HITId or the AssignmentId is required."
    market.go_on(31 * DAY_S)
    assert told(api.approve_assignment, AssignmentId=rejected, OverrideRejection=True) == (
        "A rejection can be overridden for 30 days after the work was submitted and while the HIT"
        " is not deleted."
    )


def test_a_requester_is_told_about_qualifications_and_letters(market):
    api, facts = market.mturk, {"Description": "d", "QualificationTypeStatus": "Active"}
    make = api.create_qualification_type
    assert told(make, Name="n" * 201, **facts) == (
        "Name takes 1 to 200 characters, Description 2000."
    )
    assert told(make, Name="n", RetryDelayInSeconds=-1, **facts) == (
        "RetryDelayInSeconds must be from 0 to 315360000."
    )
    assert told(api.get_qualification_type, QualificationTypeId="3NO") == (
        "QualificationType 3NO does not exist."
    )
    grant, of = api.associate_qualification_with_worker, {"WorkerId": "A1"}
    assert told(grant, QualificationTypeId=MASTERS[0], **of) == (
        f"QualificationType {MASTERS[0]} belongs to the system."
    )
    answer = api.accept_qualification_request
    assert told(answer, QualificationRequestId="3NO") == "QualificationRequest 3NO does not exist."
    letter = {"Subject": "s", "MessageText": "t", "WorkerIds": ["A1"] * 101}
    assert told(api.notify_workers, **letter) == "WorkerIds takes 1 to 100 workers."
    assert told(api.notify_workers, **{**letter, "Subject": "x" * 201}) == (
        "Subject must not exceed 200 characters."
    )
    assert told(api.update_notification_settings, HITTypeId=market.type(), Active=True) == (
        "The HIT type has no notification specification yet."
    )
    queue = {"QueueUrl": f"{market.url}/queue/events"}
    assert refusal(market.queue.receive_message, **queue, MaxNumberOfMessages=11)[1] == (
        "MaxNumberOfMessages or VisibilityTimeout is out of range."
    )
    assert refusal(market.queue.delete_message, **queue, ReceiptHandle="made up")[1] == (
        "There is no receipt handle 'made up'."
    )


@pytest.mark.parametrize(
    ("xml", "says"),
    [
        ("not xml", "there was an error parsing the XML question data: syntax error"),
        ("<x/>", "expected an ExternalQuestion of the schema http://mechanicalturk"),
        (question().replace("ExternalURL>", "Url>"), "ExternalURL and FrameHeight are both requ"),
        (question(height=-1), "FrameHeight must be a number of pixels up to 10000"),
    ],
)
def test_a_requester_is_told_what_the_question_lacks(xml, says):
    with pytest.raises(QuestionError) as caught:
        read_question(xml)
    assert str(caught.value).startswith(says)


def test_a_worker_is_told_why_work_cannot_be_begun_or_handed_in(market):
    strict = [{"QualificationTypeId": MASTERS[0], "Comparator": "Exists"}]
    worker, hit, closed = (
        market.worker(),
        market.hit(),
        market.hit(QualificationRequirements=strict),
    )

    def problem(path: str, **form: str) -> str:
        return worker.client.post(path, data=form, headers=JSON).json()["problem"]

    def submitted(**form: str) -> str:
        return problem("/mturk/externalSubmit", **form)

    taken = worker.accept(hit)
    assert submitted(receipt="r") == "A submission needs the field assignmentId."
    assert submitted(assignmentId=taken) == (
        "A submission needs at least one field besides assignmentId."
    )
    assert submitted(assignmentId="3NO", receipt="r") == "There is no such assignment."
    assert submitted(assignmentId=taken, receipt="r" * 70_000) == "What was submitted is too long."
    worker.submit(taken)
    assert submitted(assignmentId=taken, receipt="r") == "This HIT is submitted already."
    assert problem(f"/assignments/{taken}/return") == "This HIT is submitted already."
    assert problem("/assignments/3NO/return") == "You have no such HIT."
    assert worker.try_to_accept(closed["HITGroupId"]).json()["problem"] == (
        "You do not meet the qualifications of this HIT."
    )
    made = market.mturk.create_qualification_type(
        Name="n", Description="d", QualificationTypeStatus="Active", RetryDelayInSeconds=60
    )["QualificationType"]
    ask = f"/qualifications/{made['QualificationTypeId']}/request"
    assert worker.client.post(ask).status_code == 303
    assert problem(ask) == "This qualification is requested already."
    [asked] = market.mturk.list_qualification_requests()["QualificationRequests"]
    market.mturk.reject_qualification_request(
        QualificationRequestId=asked["QualificationRequestId"]
    )
    assert problem(ask) == "You cannot ask for this qualification again yet."
    assert problem("/qualifications/3NO/request") == "There is no such qualification."
    stranger = market.client().post(ask, headers=JSON)
    assert (stranger.status_code, stranger.json()["problem"]) == (401, "Please sign in first.")


def test_a_program_is_told_what_its_call_lacks(open_market):
    market = open_market(key_ids=["AKIDLAB"])

    def message(operation: str, body: object = None, key: str = "AKIDLAB") -> str:
        signed = SIGNED["Authorization"].replace("=any/", f"={key}/")
        return send(market, operation, body, Authorization=signed).json()["message"]

    assert message("Nothing") == f"There is no operation '{TARGET}Nothing'."
    assert message("GetHIT", b"{") == "The body is not JSON."
    assert message("GetHIT", b"[]") == "The body is not a JSON object."
    assert message("GetHIT", key="other") == (
        "The security token included in the request is invalid."
    )
    unsigned = send(market, "GetHIT", Authorization="Basic eDp5")
    assert unsigned.json()["message"] == "Missing Authentication Token"
    market.fail({"kind": "server_error", "count": 1})
    assert message("GetAccountBalance").startswith(
        "Amazon Mechanical Turk is temporarily unable to process your request."
    )
    with pytest.raises(TypeError, match="has no place in an answer"):
        json.dumps({"x": {1}}, default=_to_timestamp)


def test_an_operator_is_told_which_fault_cannot_be_made(market):
    def error(path: str, sent: object) -> str:
        return market.client().post(f"/control/{path}", json=sent).json()["error"]

    assert error("faults", [1]) == "the body must be a JSON object."
    assert error("faults", {"faults": [{"kind": "fire"}]}).startswith(
        'faults: these faults cannot be made: there is no kind "fire". Expected one of throttled,'
    )
    assert error("faults", {"faults": [{"kind": "slow", "count": -1}]}) == (
        'these faults cannot be made: "faults.0.count" must be at least 0, not -1.'
    )
    assert error("faults", {"see": 1}) == 'these faults cannot be made: "see" is unknown.'
    assert error("clock", {}) == '"advance_s" is missing.'
    assert error("clock", {"advance_s": "soon"}) == "\"advance_s\" must be a number, not 'soon'."
    assert error("workers", {"worker_id": "Anna"}) == (
        '"worker_id" cannot be used: a worker ID begins with A and goes on with capital letters '
        "and digits."
    )
