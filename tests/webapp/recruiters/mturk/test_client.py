"""The client: what is asked, what comes back, and what goes wrong, against botocore's own model."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import boto3
import pytest
from botocore.config import Config
from botocore.stub import Stubber

from webapp.errors import WebappError
from webapp.recruiters.mturk.client import MturkClient, open_client, open_mturk
from webapp.recruiters.mturk.requests import (
    format_dollars,
    offer_request,
    parse_cents,
    type_request,
)
from webapp.recruiters.mturk.settings import MturkSettings
from webapp.recruiters.platform import Audience, Offer, PlatformError, PlatformUnreachable, Task

TASK = Task(
    "Sentences",
    "Choose.",
    ("english", "grammar"),
    150,
    "USD",
    timedelta(minutes=40),
    timedelta(days=3),
)
OFFER = Offer("https://study.example/run/a?b=1&c=2", 9, timedelta(hours=72), "t" * 64, 600)


@pytest.fixture
def stub():
    client = boto3.session.Session("key", "secret", region_name="us-east-1").client(
        "mturk", config=Config(retries={"total_max_attempts": 1})
    )
    with Stubber(client) as stubber:
        yield MturkClient("sandbox", client, client), stubber


def refuse(stubber: Stubber, operation: str, kind: str, code: str = "", message: str = "No."):
    stubber.add_client_error(
        operation,
        service_error_code=kind,
        service_message=message,
        modeled_fields={"TurkErrorCode": f"AWS.MechanicalTurk.{code}"} if code else None,
    )


@pytest.mark.parametrize(("number", "text"), [(0, "0.00"), (5, "0.05"), (150, "1.50")])
def test_cents_and_dollars_are_the_same_money(number, text):
    assert format_dollars(number) == text
    assert parse_cents(text) == number


def test_a_tenth_of_a_cent_is_not_invented():
    assert parse_cents("10000") == 1_000_000
    assert parse_cents("0.29") == 29


def test_a_task_says_its_terms():
    assert type_request(TASK, "sandbox") == {
        "Title": "Sentences",
        "Description": "Choose.",
        "Keywords": "english, grammar",
        "Reward": "1.50",
        "AssignmentDurationInSeconds": 2400,
        "AutoApprovalDelayInSeconds": 259200,
        "QualificationRequirements": [],
    }


def audience_request(audience: Audience, endpoint: str = "sandbox") -> list[dict]:
    task = Task("a", "b", (), 1, "USD", timedelta(1), timedelta(1), audience)
    return type_request(task, endpoint)["QualificationRequirements"]


def test_an_audience_becomes_requirements_that_hide_the_task():
    wanted = Audience(
        countries=("US", "GB"), min_approval_percent=95, min_approved=100, masters=True,
        having=("3HAVE",), lacking=("3RUN", "3OLD"),
    )  # fmt: skip
    requirements = audience_request(wanted)
    assert {r.pop("ActionsGuarded") for r in requirements} == {"DiscoverPreviewAndAccept"}
    assert requirements == [
        {"QualificationTypeId": "3RUN", "Comparator": "DoesNotExist"},
        {"QualificationTypeId": "3OLD", "Comparator": "DoesNotExist"},
        {"QualificationTypeId": "3HAVE", "Comparator": "Exists"},
        {"QualificationTypeId": "2ARFPLSP75KLA8M8DH1HTEQVJT3SY6", "Comparator": "Exists"},
        {
            "QualificationTypeId": "00000000000000000071",
            "Comparator": "In",
            "LocaleValues": [{"Country": "US"}, {"Country": "GB"}],
        },
        {
            "QualificationTypeId": "000000000000000000L0",
            "Comparator": "GreaterThanOrEqualTo",
            "IntegerValues": [95],
        },
        {
            "QualificationTypeId": "00000000000000000040",
            "Comparator": "GreaterThanOrEqualTo",
            "IntegerValues": [100],
        },
    ]


def test_masters_are_others_at_the_live_endpoint():
    [masters] = audience_request(Audience(masters=True), "live")
    assert masters["QualificationTypeId"] == "2F1QJWKUDD8XADTFD2Q0G6UTO95ALH"


def test_more_requirements_than_the_platform_takes_are_refused():
    with pytest.raises(PlatformError, match=r"11 requirements.*or exclude fewer earlier runs"):
        audience_request(Audience(lacking=tuple(f"3{n}" for n in range(11))))


def test_devices_and_filters_are_another_platforms():
    task = SimpleNamespace(devices=("desktop",), filters=())
    with pytest.raises(PlatformError, match="can choose workers neither by device nor by filters"):
        type_request(task, "sandbox")


def test_an_offer_carries_its_token_twice():
    request = offer_request("3TYPE", OFFER)
    assert request["UniqueRequestToken"] == request["RequesterAnnotation"] == OFFER.token
    assert "b=1&amp;c=2" in request["Question"]


def test_a_token_that_is_known_gives_the_hit_that_is_there(stub):
    client, stubber = stub
    hit_id = "3" + "A" * 29
    stubber.add_response("create_hit_type", {"HITTypeId": "3TYPE"})
    refuse(
        stubber, "create_hit_with_hit_type", "RequestError", "HitAlreadyExists",
        f"The HIT with ID {hit_id} already exists. (1700000000000)",
    )  # fmt: skip
    assert client.post(TASK, OFFER) == hit_id


def test_what_is_approved_already_stays_approved(stub):
    client, stubber = stub
    refuse(stubber, "approve_assignment", "RequestError", "InvalidAssignmentState")
    time = datetime(2026, 1, 1, tzinfo=UTC)
    stubber.add_response(
        "get_assignment",
        {
            "Assignment": {
                "AssignmentId": "3A", "HITId": "3H", "WorkerId": "AANN",
                "AssignmentStatus": "Approved", "AcceptTime": time, "SubmitTime": time,
            }
        },
    )  # fmt: skip
    client.approve("3A")
    stubber.assert_no_pending_responses()


def test_a_bonus_whose_token_is_known_is_paid(stub):
    client, stubber = stub
    refuse(stubber, "send_bonus", "RequestError", "DuplicateRequest", "already been processed")
    client.send_bonus("AANN", "3A", 25, "Thanks", "t")


@pytest.mark.parametrize(
    ("kind", "code", "error", "message"),
    [
        ("RequestError", "InsufficientFunds", PlatformError, "Add money"),
        ("RequestError", "HITDoesNotExist", PlatformError, "mturk_endpoint"),
        ("UnrecognizedClientException", "", PlatformError, "AWS_ACCESS_KEY_ID"),
        ("ServiceFault", "", PlatformUnreachable, "nothing is done twice"),
        ("ThrottlingException", "", PlatformUnreachable, "nothing is done twice"),
    ],
)
def test_what_the_platform_refuses_says_what_to_do(stub, kind, code, error, message):
    client, stubber = stub
    refuse(stubber, "get_account_balance", kind, code)
    with pytest.raises(PlatformError, match=message) as caught:
        client.balance_minor()
    assert type(caught.value) is error
    assert caught.value.where == "get_account_balance"


def test_where_nothing_answers_it_is_said(endpoint):
    client = open_client("http://127.0.0.1:9", attempts=1)
    with pytest.raises(PlatformUnreachable, match="there was no answer"):
        client.balance_minor()


def test_without_credentials_nothing_is_called(monkeypatch, tmp_path):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "nothing"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with pytest.raises(PlatformError, match=r"no AWS credentials.*AWS_ACCESS_KEY_ID"):
        open_client("sandbox")


def test_the_live_endpoint_wants_to_be_named_twice():
    with pytest.raises(
        WebappError,
        match=r"closed Mechanical Turk.*, and its live endpoint spends real money.*Use a local "
        r"marketplace \(parallax marketplace\), or add --live to the command",
    ):
        open_mturk(MturkSettings(endpoint="live"))


def test_another_marketplace_is_not_called_in_clear_text():
    with pytest.raises(WebappError, match="not be encrypted"):
        open_mturk(MturkSettings(endpoint="http://market.example"))


@pytest.mark.parametrize("operation", ["CreateQualificationType", "NotifyWorkers"])
def test_what_has_no_token_is_never_repeated_by_itself(endpoint, fail_once, operation):
    client = open_client(endpoint, attempts=3)
    fail_once("server_error", operation)
    with pytest.raises(PlatformUnreachable):
        if operation == "NotifyWorkers":
            client.notify(["AANN"], "Hello", "There")
        else:
            client.make_qualification("a", "b")


def test_what_only_reads_is_asked_again(endpoint, fail_once):
    fail_once("server_error", "GetAccountBalance")
    assert open_client(endpoint, attempts=3).balance_minor() == 1_000_000


def test_an_error_that_was_cut_off_is_no_refusal(stub):
    client, stubber = stub
    refuse(stubber, "get_account_balance", "400", message='{"__type": "Throttl')
    with pytest.raises(PlatformUnreachable, match="cannot be read"):
        client.balance_minor()
