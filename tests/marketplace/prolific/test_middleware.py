"""The researcher's door: its document, what was removed, tokens, keys, faults, webhooks."""

import json
import threading

import httpx
import jwt
import pytest
from flask import Flask, request

from marketplace.prolific.api.middleware import API
from marketplace.prolific.webhooks import sign_event
from marketplace.serving import serve_in_thread
from tests.marketplace.prolific import document
from tests.marketplace.prolific.stand_in import LINK, OURS, draft
from tests.published_data import require

# What the document has and this stand-in has not: other products of the platform.
NOT_HERE = (
    "task-builder", "data-collection", "collection", "survey", "credential", "filter-set",
    "batch", "dataset", "invitation",
)  # fmt: skip
NOT_DONE = {
    "get-participant-groups", "update-participant-group", "delete-participant-group",
    "add-to-participant-group", "remove-from-participant-group", "get-workspace", "get-project",
    "get-project-studies", "get-event-types", "delete-subscription",
    "export-study",
    "duplicate-study", "get-study-predicted-recruitment-time",
    "post-study-predicted-recruitment-time", "get-filter-distribution",
    "get-submission-feedback-upload-url", "get-messages", "send-message-to-participant-group",
    "create-workspace", "update-workspace", "update-project", "delete-project-study",
}  # fmt: skip


def test_every_call_is_one_of_the_platforms_document(stand_in):
    require(document.FILE)
    rules = {rule.endpoint.removeprefix("api."): rule for rule in stand_in.app.url_map.iter_rules()
             if rule.endpoint.startswith("api.")}  # fmt: skip
    known = document.operations()
    assert set(rules) - set(known) == set()
    for name, rule in rules.items():
        method, pattern, _ = known[name]
        assert method in rule.methods
        assert pattern.fullmatch(rule.rule.replace("<", "").replace(">", ""))


def test_what_of_the_document_is_not_here_is_known(stand_in):
    require(document.FILE)
    here = {rule.endpoint.removeprefix("api.") for rule in stand_in.app.url_map.iter_rules()}
    missing = {
        name
        for name, (_, pattern, _) in document.operations().items()
        if name not in here and not any(word in pattern.pattern for word in NOT_HERE)
    }
    assert missing == NOT_DONE


def test_removed_calls_are_refused(stand_in):
    study = stand_in.study()
    asked = {"submission_ids": [], "bonus_per_submission": 0.2, "increase_places": True}
    gone = stand_in.refused("POST", f"/studies/{study}/screen-out-submissions/", asked)
    assert gone.startswith("404")
    ref = stand_in.person().begin(study)
    transition = {"action": "SCREEN_OUT"}
    assert "no longer" in stand_in.refused("POST", f"/submissions/{ref}/transition/", transition)


def test_only_the_workspaces_token_may_call(open_stand_in):
    stand_in = open_stand_in(token="right")
    for sent in ({}, {"Authorization": "Token wrong"}, {"Authorization": "Bearer right"}):
        answer = stand_in.web.get(f"{API}/users/me/", headers=sent)
        assert (answer.status_code, "credentials" in answer.text) == (401, True)
    right = {"Authorization": "Token right"}
    assert stand_in.web.get(f"{API}/users/me/", headers=right).status_code == 200


def test_an_arrival_is_signed_for_two_minutes_and_for_its_address(stand_in):
    study = stand_in.study(is_external_study_url_secure=True)
    person = stand_in.person()
    ref = person.take(study)
    address, _, token = person.open(ref).partition("&prolific_token=")
    [key] = stand_in.web.get("/.well-known/study/jwks.json").json()["keys"]
    public = jwt.PyJWK(key).key
    claims = jwt.decode(
        token, public, ["RS256"], audience=address, options={"verify_exp": False,
                                                             "verify_iat": False},
    )  # fmt: skip
    assert (claims["sub"], claims["iss"]) == (ref, "https://www.prolific.com")
    assert claims["exp"] - claims["iat"] == 120
    claim = claims["prolific"]
    assert (claim["PROLIFIC_PID"], claim["STUDY_ID"], claim["SESSION_ID"]) == (
        person.ref,
        study,
        ref,
    )
    assert claim["workspace_id"] == stand_in.control("workspace")["workspace"]
    stand_in.control("keys")
    assert stand_in.web.get("/.well-known/study/jwks.json").json()["keys"][0]["kid"] != key["kid"]


def test_messages_groups_and_demographics(stand_in):
    study = stand_in.study()
    person = stand_in.person(age="44")
    ref = person.work(study)
    said = {"recipient_id": person.ref, "body": "Thank you", "study_id": study}
    stand_in.call("POST", "/messages/", said)
    stand_in.call("POST", "/messages/bulk/", {"ids": [person.ref], "body": "B", "study_id": study})
    assert [each["body"] for each in person.facts("/history")["messages"]] == ["B", "Thank you"]
    stranger = {**said, "recipient_id": "0" * 24}
    assert "did not take part" in stand_in.refused("POST", "/messages/", stranger)
    wanted = [[], [{"filter_id": "age", "selected_range": {"lower": 18, "upper": 99}}], []]
    for filters in wanted:
        table = stand_in.api.post(
            f"{API}/studies/{study}/demographic-export/", json={"filters": filters}
        )
        assert f"{ref},{person.ref},AWAITING REVIEW" in table.text
    third = {"filters": [{"filter_id": "age", "selected_range": {"lower": 20, "upper": 30}}]}
    used = stand_in.refused("POST", f"/studies/{study}/demographic-export/", third)
    assert "two demographic exports are used" in used
    assert stand_in.call("GET", f"/studies/{study}/demographic-export-history/")["count"] == 2


@pytest.mark.parametrize("kind", ["server_error", "throttled"])
def test_a_call_that_fails_before_did_nothing(stand_in, kind):
    stand_in.faults({"kind": kind, "operation": "create-study", "count": 1})
    status = {"server_error": "500", "throttled": "429"}[kind]
    assert stand_in.refused("POST", "/studies/", draft()).startswith(status)
    assert stand_in.call("GET", "/studies/")["results"] == []


@pytest.mark.parametrize("kind", ["server_error_after", "reply_lost", "cut_off"])
def test_a_call_that_fails_afterwards_was_done(served, kind):
    ref = served.person().work(served.study())
    served.faults({"kind": kind, "operation": "transition-submission", "count": 1})
    asked = {"action": "APPROVE"}
    where = f"{API}/submissions/{ref}/transition/"
    headers = {"Authorization": "Token any"}
    try:
        answer = served.web.post(where, json=asked, headers=headers)
        assert answer.status_code == 500 or not _is_json(answer.text)
    except httpx.TransportError:
        assert kind == "reply_lost"
    assert served.payments() == [("reward", ref, 150)]
    assert served.web.get("/control/faults").json()["made"] == {kind: 1}


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


class Receiver:
    """A subscriber that keeps what it is told."""

    def __init__(self) -> None:
        self.heard: list[tuple[dict[str, str], bytes]] = []
        self.status, self.lock = 200, threading.Lock()
        self.app = Flask(__name__)
        self.app.post("/hook")(self._hear)

    def _hear(self) -> tuple[str, int]:
        with self.lock:
            self.heard.append((dict(request.headers), request.get_data()))
        return "", self.status

    def received(self) -> list[str]:
        return [json.loads(body)["status"] for _, body in self.heard]


@pytest.fixture(scope="module")
def hook():
    receiver = Receiver()
    with serve_in_thread(receiver.app) as url:
        yield receiver, f"{url}/hook"


@pytest.fixture
def receiver(hook, stand_in):
    heard, url = hook
    heard.heard, heard.status = [], 200
    workspace = stand_in.control("workspace")["workspace"]
    heard.secret = stand_in.call("POST", "/hooks/secrets/", {"workspace_id": workspace})["value"]
    asked = {"event_type": "submission.status.change", "target_url": url,
             "workspace_id": workspace}  # fmt: skip
    made = stand_in.api.post(f"{API}/hooks/subscriptions/", json=asked)
    heard.subscription = made.json()["id"]
    secret = {"secret": made.headers["X-Hook-Secret"]}
    stand_in.call("POST", f"/hooks/subscriptions/{heard.subscription}/", secret)
    return heard


def test_events_are_signed_and_told_in_order(stand_in, receiver):
    stand_in.person().work(stand_in.study())
    stand_in.control("webhooks")
    assert receiver.received() == ["ACTIVE", "AWAITING REVIEW"]
    for headers, body in receiver.heard:
        stamp = headers["X-Prolific-Request-Timestamp"]
        assert headers["X-Prolific-Request-Signature"] == sign_event(receiver.secret, stamp, body)
    assert len({headers["X-Event-Id"] for headers, _ in receiver.heard}) == 2


@pytest.mark.parametrize(
    ("kind", "heard"),
    [
        ("webhook_lost", ["AWAITING REVIEW"]),
        ("webhook_doubled", ["ACTIVE", "ACTIVE", "AWAITING REVIEW"]),
        ("webhook_reordered", ["AWAITING REVIEW", "ACTIVE"]),
    ],
)
def test_events_get_lost_come_twice_and_in_another_order(stand_in, receiver, kind, heard):
    stand_in.faults({"kind": kind, "operation": "webhook", "count": 1})
    stand_in.person().work(stand_in.study())
    stand_in.control("webhooks")
    assert receiver.received() == heard


def test_events_are_repeated_and_a_subscriber_that_always_fails_is_dropped(stand_in, receiver):
    receiver.status = 500
    study = stand_in.study(total_available_places=9)
    for _ in range(5):
        stand_in.person().work(study)
    for _ in range(2):
        stand_in.control("webhooks")
    subscription = stand_in.call("GET", f"/hooks/subscriptions/{receiver.subscription}/")
    assert subscription["is_enabled"] is False
    events = stand_in.call("GET", f"/hooks/subscriptions/{receiver.subscription}/events/")[
        "results"
    ]
    assert {each["status"] for each in events} <= {"FAILED", "PENDING"}


def test_a_new_secret_replaces_the_old_one(stand_in, receiver):
    stand_in.call("POST", "/hooks/secrets/", {"workspace_id": "w"})
    stand_in.person().work(stand_in.study())
    stand_in.control("webhooks")
    headers, body = receiver.heard[0]
    stamp = headers["X-Prolific-Request-Timestamp"]
    assert headers["X-Prolific-Request-Signature"] != sign_event(receiver.secret, stamp, body)


def test_a_restart_forgets_nothing(open_stand_in, stand_in):
    study = stand_in.study()
    ref = stand_in.person().work(study)
    again = open_stand_in()
    assert again.submission(ref)["status"] == "AWAITING REVIEW"


def test_the_pages_are_for_people_and_lead_nowhere_else(stand_in):
    study, person = stand_in.study(), stand_in.person()
    listing = person.web.get("/studies").text
    assert "Which sentence is better?" in listing
    assert "£1.50" in listing
    ref = person.take(study)
    assert "Open the study" in person.web.get(f"/submissions/{ref}").text
    assert person.open(ref).startswith(LINK.partition("?")[0])
    done = person.web.get(f"/submissions/complete?cc={OURS}").text
    assert "AWAITING REVIEW" in done
    assert "Submissions" in person.web.get("/history").text
    out = stand_in.web.get("/studies")
    assert (out.status_code, out.headers["location"].startswith("/?next=")) == (303, True)
    away = {"participant_id": "a" * 24, "next": "//elsewhere.example"}
    assert stand_in.web.post("/signin", data=away).headers["location"] == "/studies"
    assert stand_in.web.post("/signin", data={"participant_id": "x"}).status_code == 400
    assert "This is not possible" in person.web.get("/submissions/none").text
