"""The protocol: what is checked before any operation is reached, and how errors are told."""

import json

import httpx
import pytest
from botocore.exceptions import ClientError
from botocore.loaders import Loader
from botocore.model import ServiceModel
from hypothesis import given, settings
from hypothesis import strategies as st

from marketplace.mturk.api import OPERATIONS
from marketplace.mturk.errors import WireError
from marketplace.mturk.wire import read_call
from tests.marketplace.mturk.market import JSON, question, refusal

SIGNED = {"Authorization": "AWS4-HMAC-SHA256 Credential=any/20260101/us-east-1/mturk-requester/x"}
TARGET = "MTurkRequesterServiceV20170117."
# Uploads ended in 2017, and review policies are decided by the service's own programs.
NOT_DONE = {"GetFileUploadURL", "ListReviewPolicyResultsForHIT"}


def operations(service: str) -> set[str]:
    return set(ServiceModel(Loader().load_service_model(service, "service-2")).operation_names)


def send(market, operation: str, body: object = None, **headers: str) -> httpx.Response:
    content = body if isinstance(body, bytes) else json.dumps(body or {}).encode()
    given = {**SIGNED, "X-Amz-Target": TARGET + operation, **headers}
    return market.client().post("/", content=content, headers=given)


def test_every_operation_of_the_service_is_done_but_two():
    assert operations("mturk") - set(OPERATIONS) == NOT_DONE
    assert set(OPERATIONS) - operations("mturk") == {"ReceiveMessage", "DeleteMessage"}


def test_an_operation_that_is_not_done_says_so(market):
    code, message = refusal(market.mturk.list_review_policy_results_for_hit, HITId="3A")
    assert (code, message) == (
        "NotImplemented",
        "This marketplace does not do ListReviewPolicyResultsForHIT.",
    )


def test_an_unknown_operation_is_refused(market):
    for target in ("Nothing", "", "__init__"):
        answer = send(market, target)
        assert answer.status_code == 400
        assert answer.json()["__type"] == "UnknownOperationException"
    answer = send(market, "", **{"X-Amz-Target": "DynamoDB_20120810.GetItem"})
    assert answer.json()["__type"] == "UnknownOperationException"


def test_a_call_must_be_signed(market):
    answer = send(market, "GetAccountBalance", Authorization="Basic eDp5")
    assert answer.status_code == 403
    assert answer.json()["__type"] == "MissingAuthenticationTokenException"


def test_only_the_known_keys_may_call_where_keys_are_named(open_market):
    market = open_market(key_ids=["AKIDLAB"])
    with pytest.raises(ClientError) as caught:
        market.mturk.get_account_balance()
    assert caught.value.response["Error"]["Code"] == "UnrecognizedClientException"
    known = {"Authorization": SIGNED["Authorization"].replace("=any/", "=AKIDLAB/")}
    assert send(market, "GetAccountBalance", **known).status_code == 200


def test_a_body_that_is_no_json_object_is_refused(market):
    for body in (b"{", b"[]", b"null", b'"x"', b"\xff", b"[" * 100_000, b'{"x": "\\ud800"}'):
        answer = send(market, "GetHIT", body)
        assert (answer.status_code, answer.json()["__type"]) == (400, "SerializationException")


@pytest.mark.parametrize(
    ("operation", "body", "says"),
    [
        ("GetHIT", {}, 'Missing required parameter in input: "HITId"'),
        ("GetHIT", {"HITId": None}, "Missing required parameter"),
        ("GetHIT", {"HITId": 5}, "Invalid type for parameter HITId"),
        ("GetHIT", {"HITId": "3A", "More": 1}, 'Unknown parameter in input: "More"'),
        ("GetHIT", {"HITId": "3a\n"}, "'hITId' failed to satisfy constraint"),
        ("GetHIT", {"HITId": "A" * 65}, "length less than or equal to 64"),
        ("ListHITs", {"MaxResults": 101}, "value less than or equal to 100"),
        ("ListHITs", {"MaxResults": 0}, "valid min value: 1"),
        ("ListHITs", {"MaxResults": True}, "whole number"),
        ("CreateAdditionalAssignmentsForHIT",
         {"HITId": "3A", "NumberOfAdditionalAssignments": 2**31}, "32 bits"),
        ("ListAssignmentsForHIT", {"HITId": "3A", "AssignmentStatuses": ["Done"]},
         "'assignmentStatuses.1.member' failed to satisfy constraint: Member must satisfy enum"),
        ("UpdateExpirationForHIT", {"HITId": "3A", "ExpireAt": 1e300}, "timezone offset"),
        ("UpdateExpirationForHIT", {"HITId": "3A", "ExpireAt": float("inf")}, "timezone offset"),
        ("UpdateExpirationForHIT", {"HITId": "3A", "ExpireAt": float("nan")}, "ExpireAt"),
        ("UpdateExpirationForHIT", {"HITId": "3A", "ExpireAt": -1}, "seconds since 1970"),
        ("UpdateExpirationForHIT", {"HITId": "3A", "ExpireAt": "2020-01-01"}, "since 1970"),
        ("UpdateExpirationForHIT", {"HITId": "3A", "ExpireAt": True}, "since 1970"),
        ("CreateWorkerBlock", {"WorkerId": "B1", "Reason": "x"}, "^A[A-Z0-9]+$"),
        ("SendBonus", {"WorkerId": "A1", "AssignmentId": "3A", "BonusAmount": "-1", "Reason": "x"},
         "'bonusAmount' failed to satisfy constraint"),
        ("SendBonus", {"WorkerId": "A1", "AssignmentId": "3A", "BonusAmount": "1.005",
                       "Reason": "x"}, "bonusAmount"),
    ],
)  # fmt: skip
def test_what_does_not_fit_the_model_is_refused(operation, body, says):
    with pytest.raises(WireError) as caught:
        read_call(TARGET + operation, json.dumps(body).encode())
    assert (caught.value.status, caught.value.kind) == (400, "ValidationException")
    assert says in caught.value.message


def test_errors_reach_boto3_as_its_own_exceptions(market):
    with pytest.raises(market.mturk.exceptions.RequestError) as caught:
        market.mturk.get_hit(HITId="3NONE")
    answer = caught.value.response
    assert answer["TurkErrorCode"] == "AWS.MechanicalTurk.HITDoesNotExist"
    assert answer["Message"].startswith("Hit 3NONE does not exist. (")
    assert answer["ResponseMetadata"]["RequestId"]


def test_a_reward_that_is_no_money_is_refused(market):
    for reward in ("$1", "1,50", "-1", "1.505", "1e3", "NaN", ""):
        code, _ = refusal(market.type, Reward=reward)
        assert code == "ValidationException"


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(sorted(OPERATIONS)),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["HITId", "WorkerId", "ExpireAt", "Notification", "MaxResults", "x"]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=8,
    ),
)
def test_no_body_gets_past_the_model_in_another_shape(operation, body):
    prefix = TARGET if operation in operations("mturk") else "AmazonSQS."
    try:
        call = read_call(prefix + operation, json.dumps(body).encode())
    except WireError as error:
        assert error.status == 400
    else:
        assert set(call.model.input_shape.required_members) <= set(call.request)


def test_the_page_of_programs_and_people_is_one(market):
    hit, worker = market.hit(Question=question("https://study.example/a?b=1")), market.worker()
    group = worker.client.get(f"/projects/{hit['HITGroupId']}/tasks")
    assert group.headers["Content-Type"].startswith("text/html")
    facts = worker.client.get(f"/projects/{hit['HITGroupId']}/tasks", headers=JSON).json()
    assert facts["frame"]["address"].replace("&", "&amp;") in group.text
