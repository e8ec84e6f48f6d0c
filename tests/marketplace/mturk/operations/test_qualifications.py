"""Qualifications: who has them, and that requirements are enforced."""

import pytest

from marketplace.mturk.qualifications import (
    ADULT,
    APPROVED_COUNT,
    APPROVED_PERCENT,
    LOCALE,
    MASTERS,
)
from tests.marketplace.mturk.market import refusal

US, CALIFORNIA = {"Country": "US"}, {"Country": "US", "Subdivision": "CA"}


def needs(type_id, comparator, *values, **more):
    name = "LocaleValues" if type_id == LOCALE else "IntegerValues"
    given = {name: list(values)} if values else {}
    return {"QualificationTypeId": type_id, "Comparator": comparator, **given, **more}


@pytest.mark.parametrize(
    ("requirement", "fits", "fits_not"),
    [
        (needs(LOCALE, "EqualTo", US), {"country": "US"}, {"country": "IT"}),
        (needs(LOCALE, "NotEqualTo", US), {"country": "IT"}, {"country": "US"}),
        (needs(LOCALE, "In", {"Country": "IT"}, US), {"country": "US"}, {"country": "DE"}),
        (needs(LOCALE, "NotIn", {"Country": "IT"}), {"country": "US"}, {"country": "IT"}),
        (needs(LOCALE, "EqualTo", CALIFORNIA), {"subdivision": "CA"}, {"subdivision": "NY"}),
        (needs(LOCALE, "EqualTo", US), {"subdivision": "CA"}, {"country": "CA"}),
        (needs(APPROVED_PERCENT, "GreaterThanOrEqualTo", 95), {"approved_percent": 95},
         {"approved_percent": 94}),
        (needs(APPROVED_PERCENT, "GreaterThan", 95), {}, {"approved_percent": 95}),
        (needs(APPROVED_COUNT, "GreaterThanOrEqualTo", 100), {"approved_before": 100},
         {"approved_before": 99}),
        (needs(APPROVED_COUNT, "LessThan", 5), {}, {"approved_before": 5}),
        (needs(APPROVED_COUNT, "LessThanOrEqualTo", 5), {"approved_before": 5},
         {"approved_before": 6}),
        (needs(APPROVED_COUNT, "NotIn", 1, 2), {"approved_before": 3}, {"approved_before": 2}),
        (needs(APPROVED_COUNT, "EqualTo", 3), {"approved_before": 3}, {"approved_before": 2}),
        (needs(APPROVED_COUNT, "NotEqualTo", 3), {"approved_before": 2}, {"approved_before": 3}),
        (needs(MASTERS[0], "Exists"), {"masters": "true"}, {}),
        (needs(MASTERS[1], "Exists"), {"masters": "true"}, {}),
        (needs(ADULT, "EqualTo", 1), {"adult": "true"}, {}),
    ],
)  # fmt: skip
def test_system_qualifications_are_enforced(market, requirement, fits, fits_not):
    hit = market.hit(2, QualificationRequirements=[requirement])
    refused = market.worker("A2", **fits_not).try_to_accept(hit["HITGroupId"])
    assert (refused.status_code, refused.json()["code"]) == (403, "not_qualified")
    market.worker("A1", **fits).accept(hit)


def test_the_approval_rate_counts_only_from_a_hundred_submissions_on(market):
    strict = [needs(APPROVED_PERCENT, "GreaterThan", 99)]
    hit, open_to_all = market.hit(QualificationRequirements=strict), market.hit(Title="Any")
    novice = market.worker("A1", approved_before=10)
    veteran = market.worker("A2", approved_before=99)
    for worker in (novice, veteran):
        done = worker.work(open_to_all)
        market.mturk.reject_assignment(AssignmentId=done, RequesterFeedback="No")
        open_to_all = market.hit(Title="Any")
    assert novice.groups()[-1]["qualified"]
    assert veteran.try_to_accept(hit["HITGroupId"]).status_code == 403


def qualification(market, name="Has taken part", **more) -> str:
    facts = {"Name": name, "Description": "In this run", "QualificationTypeStatus": "Active"}
    made = market.mturk.create_qualification_type(**facts, **more)
    return made["QualificationType"]["QualificationTypeId"]


def grant(market, type_id, worker_id="A1WORKER", **more):
    market.mturk.associate_qualification_with_worker(
        QualificationTypeId=type_id, WorkerId=worker_id, **more
    )


def test_who_has_taken_part_is_kept_out_of_the_other_hits(market):
    type_id = qualification(market)
    kept_out = [needs(type_id, "DoesNotExist", ActionsGuarded="DiscoverPreviewAndAccept")]
    hits = [market.hit(QualificationRequirements=kept_out) for _ in range(2)]
    assert hits[0]["HITGroupId"] == hits[1]["HITGroupId"]
    worker = market.worker()
    worker.accept(hits[0])
    grant(market, type_id, SendNotification=False)
    assert worker.groups() == []
    assert worker.try_to_accept(hits[1]["HITGroupId"]).status_code == 404
    found = market.mturk.list_hits_for_qualification_type(QualificationTypeId=type_id)
    assert found["NumResults"] == 2


def test_what_a_requirement_guards(market):
    for guarded, listed, previewed in (
        ("Accept", True, True),
        ("PreviewAndAccept", True, False),
        ("DiscoverPreviewAndAccept", False, False),
    ):
        asked = needs(MASTERS[0], "Exists", ActionsGuarded=guarded)
        hit = market.hit(Title=guarded, QualificationRequirements=[asked])
        worker = market.worker()
        titles = [group["title"] for group in worker.groups()]
        assert (guarded in titles) == listed
        if listed:
            preview = worker.facts(f"/projects/{hit['HITGroupId']}/tasks")
            assert (preview["frame"] is not None) == previewed
            assert preview["group"]["requirements"] == [
                {"text": "Masters has been granted", "met": False}
            ]


def test_grants_are_told_changed_and_taken_back(market):
    type_id = qualification(market)
    asked = {"QualificationTypeId": type_id, "WorkerId": "A1WORKER"}
    score = market.mturk.get_qualification_score
    assert refusal(score, **asked)[0] == "QualificationDoesNotExist"
    grant(market, type_id)
    grant(market, type_id, IntegerValue=7)
    assert score(**asked)["Qualification"]["IntegerValue"] == 7
    market.mturk.disassociate_qualification_from_worker(**asked, Reason="Done")
    code, message = refusal(score, **asked)
    assert code == "InvalidQualificationState"
    assert "with a status of: Granted" in message
    listed = market.mturk.list_workers_with_qualification_type
    assert listed(QualificationTypeId=type_id, Status="Granted")["Qualifications"] == []
    assert listed(QualificationTypeId=type_id)["Qualifications"][0]["Status"] == "Revoked"


def test_the_worker_is_written_to_unless_the_requester_says_no(market):
    type_id, worker = qualification(market), market.worker()
    grant(market, type_id, SendNotification=False)
    assert worker.facts("/work")["messages"] == []
    grant(market, type_id)
    assert worker.facts("/work")["messages"][0]["subject"] == "Has taken part"


def test_a_name_is_taken_until_its_type_is_deleted(market):
    type_id = qualification(market)
    code, message = refusal(qualification, market=market)
    assert code == "QualificationTypeAlreadyExists"
    assert message.startswith("You have already created a QualificationType with this name.")
    market.mturk.delete_qualification_type(QualificationTypeId=type_id)
    assert qualification(market) != type_id
    get = market.mturk.get_qualification_type
    assert refusal(get, QualificationTypeId=type_id)[0] == "QualificationTypeDoesNotExist"


def test_types_are_found_by_their_words_and_updated(market):
    type_id = qualification(market, "Run one", Keywords="grammar")
    qualification(market, "Other_run")
    listed = market.mturk.list_qualification_types
    found = listed(Query="GRAMMAR", MustBeRequestable=False, MustBeOwnedByCaller=True)
    assert [each["Name"] for each in found["QualificationTypes"]] == ["Run one"]
    assert listed(Query="_run", MustBeRequestable=True)["NumResults"] == 1
    updated = market.mturk.update_qualification_type(
        QualificationTypeId=type_id, Description="New", QualificationTypeStatus="Inactive"
    )["QualificationType"]
    assert (updated["Description"], updated["QualificationTypeStatus"]) == ("New", "Inactive")


def test_workers_ask_and_the_requester_answers(market):
    type_id, worker = qualification(market, RetryDelayInSeconds=60), market.worker()
    ask = f"/qualifications/{type_id}/request"
    assert worker.client.post(ask).status_code == 303
    assert worker.client.post(ask).status_code == 409
    [asked] = market.mturk.list_qualification_requests()["QualificationRequests"]
    request = {"QualificationRequestId": asked["QualificationRequestId"]}
    market.mturk.reject_qualification_request(**request)
    code, _ = refusal(market.mturk.accept_qualification_request, **request)
    assert code == "InvalidQualificationRequestState"
    assert worker.client.post(ask).status_code == 409
    market.go_on(61)
    assert worker.client.post(ask).status_code == 303
    [asked] = market.mturk.list_qualification_requests(QualificationTypeId=type_id)[
        "QualificationRequests"
    ]
    market.mturk.accept_qualification_request(
        QualificationRequestId=asked["QualificationRequestId"], IntegerValue=3
    )
    score = market.mturk.get_qualification_score(QualificationTypeId=type_id, WorkerId="A1WORKER")
    assert score["Qualification"]["IntegerValue"] == 3
    assert worker.facts("/qualifications")["qualifications"][0]["status"] == "granted"


def test_automatic_qualifications_are_granted_when_asked_for(market):
    type_id = qualification(market, AutoGranted=True, AutoGrantedValue=5)
    market.worker().client.post(f"/qualifications/{type_id}/request")
    score = market.mturk.get_qualification_score(QualificationTypeId=type_id, WorkerId="A1WORKER")
    assert score["Qualification"]["IntegerValue"] == 5


@pytest.mark.parametrize(
    "requirements",
    [
        [needs(APPROVED_COUNT, "GreaterThan", 1)] * 11,
        [needs(LOCALE, "GreaterThan", US)],
        [needs(LOCALE, "EqualTo", US, CALIFORNIA)],
        [needs(LOCALE, "In", *[US] * 31)],
        [needs(APPROVED_COUNT, "In", *range(16))],
        [needs(APPROVED_COUNT, "Exists", 1)],
        [needs(APPROVED_COUNT, "EqualTo")],
        [needs(APPROVED_COUNT, "EqualTo", 1, LocaleValues=[US])],
    ],
    ids=["eleven", "order", "two", "31 places", "16 values", "value", "none", "wrong kind"],
)
def test_requirements_that_cannot_be_asked_are_refused(market, requirements):
    code, _ = refusal(market.hit, QualificationRequirements=requirements)
    assert code == "ParameterValidationError"


def test_a_requirement_of_an_unknown_type_is_refused(market):
    code, _ = refusal(market.hit, QualificationRequirements=[needs("3NO", "Exists")])
    assert code == "QualificationTypeDoesNotExist"


def test_the_systems_own_qualifications_cannot_be_granted(market):
    granting = {"QualificationTypeId": MASTERS[0], "WorkerId": "A1"}
    refused = refusal(market.mturk.associate_qualification_with_worker, **granting)
    assert refused[0] == "AccessDenied"


def test_the_delay_of_requests_has_limits(market):
    for delay_s in (-1, 2**62):
        code, _ = refusal(qualification, market=market, RetryDelayInSeconds=delay_s)
        assert code == "ParameterValidationError"


def test_qualification_tests_are_refused_openly(market):
    code, message = refusal(qualification, market=market, Test="<x/>", TestDurationInSeconds=60)
    assert (code, "no qualification tests" in message) == ("ParameterValidationError", True)


def test_a_blocked_worker_finds_nothing_until_the_block_is_lifted(market):
    hit, worker = market.hit(), market.worker()
    market.mturk.create_worker_block(WorkerId="A1WORKER", Reason="Spam")
    assert worker.groups() == []
    assert worker.try_to_accept(hit["HITGroupId"]).status_code == 404
    blocks = market.mturk.list_worker_blocks()["WorkerBlocks"]
    assert blocks == [{"WorkerId": "A1WORKER", "Reason": "Spam"}]
    for _ in range(2):
        market.mturk.delete_worker_block(WorkerId="A1WORKER")
    worker.accept(hit)


def test_letters_reach_only_workers_whose_work_was_reviewed(market):
    worker = market.worker()
    assignment_id = worker.work(market.hit())
    write = {"Subject": "Part two", "MessageText": "It is open.", "WorkerIds": ["A1WORKER"]}
    failed = market.mturk.notify_workers(**write)["NotifyWorkersFailureStatuses"]
    assert [(each["WorkerId"], each["NotifyWorkersFailureCode"]) for each in failed] == [
        ("A1WORKER", "HardFailure")
    ]
    market.mturk.approve_assignment(AssignmentId=assignment_id)
    assert market.mturk.notify_workers(**write)["NotifyWorkersFailureStatuses"] == []
    assert [each["text"] for each in worker.facts("/work")["messages"]] == ["It is open."]
    too_long = {**write, "Subject": "x" * 201}
    assert refusal(market.mturk.notify_workers, **too_long)[0] == "ParameterValidationError"
    too_many = {**write, "WorkerIds": ["A1"] * 101}
    assert refusal(market.mturk.notify_workers, **too_many)[0] == "ParameterValidationError"
