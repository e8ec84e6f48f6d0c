"""HITs and HIT types as boto3 meets them."""

import re
from datetime import UTC, datetime, timedelta

import pytest

from marketplace.mturk.operations.hits import create_hit_with_hit_type
from marketplace.mturk.question import QuestionError, read_question
from tests.marketplace.mturk.market import DAY_S, SCHEMA, question, refusal


def test_equal_properties_give_the_same_type_and_others_another(market):
    assert market.type() == market.type()
    assert market.type() != market.type(Reward="0.51")


def test_a_hit_is_told_as_it_was_made(market):
    url = "https://study.example/run?batch=3&sig=x"
    made = market.hit(3, Question=question(url), RequesterAnnotation="batch 3", Keywords="a, b")
    assert market.now(made) == made
    assert (made["HITStatus"], made["NumberOfAssignmentsAvailable"]) == ("Assignable", 3)
    assert (made["Reward"], made["RequesterAnnotation"]) == ("0.50", "batch 3")
    assert made["Expiration"] - made["CreationTime"] == timedelta(days=7)


def test_create_hit_lists_equal_hits_together(market):
    facts = {
        "Title": "T", "Description": "D", "Reward": "1", "AssignmentDurationInSeconds": 60,
        "LifetimeInSeconds": 3600, "Question": question(),
    }  # fmt: skip
    first, second = (market.mturk.create_hit(**facts)["HIT"] for _ in range(2))
    assert first["HITGroupId"] == second["HITGroupId"]
    assert first["HITId"] != second["HITId"]


def test_a_repeated_token_answers_with_the_hit_until_a_day_has_passed(market):
    first = market.hit(UniqueRequestToken="k")
    code, message = refusal(market.hit, UniqueRequestToken="k")
    assert code == "HitAlreadyExists"
    assert first["HITId"] in message
    market.go_on(DAY_S + 1)
    assert market.hit(UniqueRequestToken="k")["HITId"] != first["HITId"]
    assert len(market.mturk.list_hits()["HITs"]) == 2


def test_a_hit_with_fewer_than_ten_assignments_never_reaches_ten(market):
    small, large = market.hit(9), market.hit(10)
    extend = market.mturk.create_additional_assignments_for_hit
    code, _ = refusal(extend, HITId=small["HITId"], NumberOfAdditionalAssignments=1)
    assert code == "InvalidMaximumAssignmentsIncrease"
    extend(HITId=large["HITId"], NumberOfAdditionalAssignments=5)
    assert market.now(large)["MaxAssignments"] == 15


def test_places_are_added_once_for_each_token(market):
    hit = market.hit(1)
    more = {"HITId": hit["HITId"], "NumberOfAdditionalAssignments": 2, "UniqueRequestToken": "k"}
    market.mturk.create_additional_assignments_for_hit(**more)
    _, message = refusal(market.mturk.create_additional_assignments_for_hit, **more)
    assert "already been processed" in message
    assert market.now(hit)["MaxAssignments"] == 3


def test_the_status_follows_the_work(market):
    hit, worker = market.hit(), market.worker()
    seen = [market.now(hit)["HITStatus"]]
    assignment_id = worker.accept(hit)
    seen.append(market.now(hit)["HITStatus"])
    worker.submit(assignment_id)
    seen.append(market.now(hit)["HITStatus"])
    review = market.mturk.update_hit_review_status
    review(HITId=hit["HITId"])
    seen.append(market.now(hit)["HITStatus"])
    review(HITId=hit["HITId"], Revert=True)
    seen.append(market.now(hit)["HITStatus"])
    assert seen == ["Assignable", "Unassignable", "Reviewable", "Reviewing", "Reviewable"]


def test_an_expired_hit_takes_nobody_in_and_waits_for_who_is_at_work(market):
    hit, worker = market.hit(2), market.worker()
    assignment_id = worker.accept(hit)
    market.mturk.update_expiration_for_hit(HITId=hit["HITId"], ExpireAt=datetime(2015, 1, 1))
    assert market.now(hit)["HITStatus"] == "Unassignable"
    assert market.worker("A2").groups() == []
    assert worker.submit(assignment_id).status_code == 200
    assert market.now(hit)["HITStatus"] == "Reviewable"


def test_an_expired_hit_opens_again_when_it_is_extended(market):
    hit = market.hit(LifetimeInSeconds=60)
    market.go_on(61)
    assert market.now(hit)["HITStatus"] == "Reviewable"
    later = datetime.now(UTC) + timedelta(days=1)
    market.mturk.update_expiration_for_hit(HITId=hit["HITId"], ExpireAt=later)
    assert market.now(hit)["HITStatus"] == "Assignable"


def test_only_a_reviewed_hit_is_deleted(market):
    hit, worker = market.hit(), market.worker()
    delete = market.mturk.delete_hit
    assert refusal(delete, HITId=hit["HITId"])[0] == "InvalidHITState"
    assignment_id = worker.work(hit)
    assert refusal(delete, HITId=hit["HITId"])[0] == "InvalidHITState"
    market.mturk.approve_assignment(AssignmentId=assignment_id)
    delete(HITId=hit["HITId"])
    assert market.now(hit)["HITStatus"] == "Disposed"
    assert market.mturk.list_hits()["HITs"] == []


def test_old_hits_are_disposed_of_by_themselves(market):
    hit = market.hit(LifetimeInSeconds=60)
    market.go_on(121 * DAY_S)
    assert market.now(hit)["HITStatus"] == "Disposed"


def test_a_hit_can_change_its_type(market):
    hit = market.hit()
    dearer = market.type(Reward="0.80")
    market.mturk.update_hit_type_of_hit(HITId=hit["HITId"], HITTypeId=dearer)
    assert market.now(hit)["Reward"] == "0.80"
    assert market.balance()[1] == "0.96"


def test_pages_hold_every_hit_once_while_more_come_in(market):
    shared = {"HITTypeId": market.type(), "LifetimeInSeconds": 3600, "Question": question()}
    with market.store.moment() as (session, now):
        made = [create_hit_with_hit_type(session, now, shared)["HIT"]["HITId"] for _ in range(105)]
    pages = market.mturk.get_paginator("list_hits").paginate(PaginationConfig={"PageSize": 50})
    seen = []
    for page in pages:
        seen += [hit["HITId"] for hit in page["HITs"]]
        market.mturk.create_hit_with_hit_type(**shared)
    assert seen == made[::-1]
    assert market.mturk.list_hits()["NumResults"] == 10


def test_a_made_up_page_token_is_refused(market):
    for token in ("x", "cDE6eA==", "cDE6LTE=", "cDE6OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5", "🙂"):
        code, message = refusal(market.mturk.list_hits, NextToken=token)
        assert code == "InvalidPaginationToken"
        assert message.startswith("NextToken is not a valid token.")


def test_reviewable_hits_are_listed_by_type_and_status(market):
    hit, other = market.hit(), market.hit(Title="Another")
    market.worker().work(hit)
    listed = market.mturk.list_reviewable_hits
    assert [each["HITId"] for each in listed()["HITs"]] == [hit["HITId"]]
    assert listed(HITTypeId=other["HITTypeId"])["HITs"] == []
    market.mturk.update_hit_review_status(HITId=hit["HITId"])
    assert listed()["HITs"] == []
    assert len(listed(Status="Reviewing")["HITs"]) == 1


BOMB = '<!DOCTYPE x [<!ENTITY a "b"><!ENTITY c "&a;&a;">]>' + question()


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (question("http://study.example/run"), "https://"),
        (question("javascript:alert(1)"), "not an address"),
        (question("https://study.example:99999/"), "not an address"),
        (question("https:///nowhere"), "not an address"),
        (question("https://a.example/ b"), "not an address"),
        (question(height=-1), "FrameHeight"),
        ("<ExternalQuestion/>", SCHEMA),
        (question().replace("ExternalURL>", "Url>"), "required"),
        ("not xml", "parsing"),
        (BOMB, "parsing"),
        (question("https://study.example/" + "x" * 65_535), "65535 bytes"),
    ],
)
def test_a_question_that_cannot_be_shown_is_refused(asked, says):
    with pytest.raises(QuestionError, match=re.escape(says)):
        read_question(asked)


def test_the_requester_is_told_what_is_wrong_with_the_question(market):
    code, message = refusal(market.hit, Question=question("http://study.example/run"))
    assert code == "XMLParseError"
    assert "ExternalURL must begin with https://" in message


def test_http_is_taken_from_this_machine_alone():
    for url in ("http://localhost:8000/run", "http://127.0.0.1:8000/run"):
        assert read_question(question(url)).url == url


def test_what_is_out_of_its_limits_is_refused(market):
    for changes in (
        {"LifetimeInSeconds": 29},
        {"AssignmentDurationInSeconds": 31_536_001},
        {"AutoApprovalDelayInSeconds": 2_592_001},
        {"Title": "x" * 129},
        {"Title": " "},
        {"Reward": "10000.01"},
        {"Reward": "9" * 40},
        {"RequesterAnnotation": "x" * 256},
        {"MaxAssignments": 0},
        {"MaxAssignments": -3},
    ):
        assert refusal(market.hit, **changes)[0] == "ParameterValidationError", changes
    assert market.mturk.list_hits()["HITs"] == []


def test_unknown_identifiers_are_named(market):
    code, message = refusal(market.mturk.get_hit, HITId="3NONE")
    assert (code, message.split(" (")[0]) == ("HITDoesNotExist", "Hit 3NONE does not exist.")
    assert refusal(market.hit, HITTypeId="3NONE")[0] == "HITTypeDoesNotExist"
