"""Submissions: taking part, completing, reviewing, and what time does."""

from tests.marketplace.prolific.stand_in import CODES, DONE, OURS, REASON

FAST = {"submissions_config": {"auto_rejection_categories": ["EXCEPTIONALLY_FAST"]}}


def code(name: str, *actions: dict[str, object], kind: str = "OTHER") -> dict[str, object]:
    return {"code": name, "code_type": kind, "actions": list(actions), "actor": "researcher"}


def test_a_submission_is_reserved_worked_on_completed_and_approved_once(stand_in):
    study = stand_in.study()
    person = stand_in.person()
    ref = person.take(study)
    assert stand_in.submission(ref)["status"] == "RESERVED"
    person.open(ref)
    assert stand_in.submission(ref)["status"] == "ACTIVE"
    assert person.complete(ref).json()["submission"]["status"] == "AWAITING REVIEW"
    for _ in range(2):
        assert stand_in.decide(ref, "APPROVE")["status"] == "APPROVED"
    assert stand_in.payments() == [("reward", ref, 150)]
    assert person.facts("/history")["submissions"][0]["paid_minor"] == 150


def test_one_participant_has_one_submission_and_who_returned_cannot_come_again(stand_in):
    study = stand_in.study()
    person = stand_in.person()
    ref = person.begin(study)
    assert person.try_to_take(study).status_code == 404
    person.give_back(ref)
    assert stand_in.submission(ref)["status"] == "RETURNED"
    assert person.try_to_take(study).status_code == 404
    assert stand_in.call("GET", f"/studies/{study}/")["places_taken"] == 0


def test_who_does_not_open_or_finish_in_time_loses_the_place(stand_in):
    study = stand_in.study()
    reserved, working = stand_in.person().take(study), stand_in.person().begin(study)
    stand_in.clock.go_on(minutes=11)
    assert stand_in.submission(reserved)["status"] == "TIMED-OUT"
    assert stand_in.submission(working)["status"] == "ACTIVE"
    stand_in.clock.go_on(minutes=40)
    assert stand_in.submission(working)["status"] == "TIMED-OUT"
    done = {"action": "COMPLETE", "completion_code": OURS}
    late = stand_in.refused("POST", f"/submissions/{working}/transition/", done)
    assert "A submission that is TIMED-OUT cannot be completed" in late


def test_the_researchers_code_completes_without_the_participant_knowing_it(stand_in):
    study = stand_in.study()
    person = stand_in.person()
    ref = person.begin(study)
    wrong = {"action": "COMPLETE", "completion_code": DONE}
    assert "no such code" in stand_in.refused("POST", f"/submissions/{ref}/transition/", wrong)
    for _ in range(2):
        done = stand_in.decide(ref, "COMPLETE", completion_code=OURS)
        assert (done["status"], done["entered_code"]) == ("AWAITING REVIEW", OURS)
    assert OURS not in str(person.facts(f"/submissions/{ref}")["submission"]["paid_minor"])


def test_a_participant_may_enter_anything_and_then_waits_for_review(stand_in):
    study = stand_in.study()
    entered = {}
    for typed in ("", "WRONG", OURS):
        ref = stand_in.person().work(study, typed)
        entered[typed] = stand_in.submission(ref)
    assert {each["status"] for each in entered.values()} == {"AWAITING REVIEW"}
    assert entered[""]["entered_code"] is None


def test_rejecting_needs_a_category_and_a_hundred_characters_and_can_be_undone(stand_in):
    ref = stand_in.person().work(stand_in.study())
    where = f"/submissions/{ref}/transition/"
    short = {"action": "REJECT", "message": "Bad.", "rejection_category": "LOW_EFFORT"}
    assert "100 characters" in stand_in.refused("POST", where, short)
    unknown = {"action": "REJECT", "message": REASON, "rejection_category": "AI"}
    assert "rejection_category" in stand_in.refused("POST", where, unknown)
    for _ in range(2):
        rejected = stand_in.decide(ref, "REJECT", message=REASON, rejection_category="LOW_EFFORT")
        assert rejected["status"] == "REJECTED"
    assert "REJECTED cannot do APPROVE" in stand_in.refused("POST", where, {"action": "APPROVE"})
    assert stand_in.decide(ref, "UNREJECT")["status"] == "AWAITING REVIEW"
    assert stand_in.decide(ref, "APPROVE")["status"] == "APPROVED"


def test_a_return_is_asked_for_and_the_participant_decides(stand_in):
    person = stand_in.person()
    ref = person.work(stand_in.study())
    asked = {"request_return_reasons": ["Withdrew consent"]}
    answer = stand_in.call("POST", f"/submissions/{ref}/request-return/", asked)
    assert (answer["status"], bool(answer["return_requested"])) == ("AWAITING REVIEW", True)
    assert "Withdrew consent" in person.facts("/history")["messages"][0]["body"]
    person.give_back(ref)
    assert stand_in.submission(ref)["status"] == "RETURNED"
    assert stand_in.decide(ref, "UNRETURN")["status"] == "AWAITING REVIEW"


def test_codes_act_as_they_say(stand_in):
    group = stand_in.call("POST", "/participant-groups/", {"name": "came", "workspace_id": "w"})[
        "id"
    ]
    codes = [
        CODES[0],
        code("A", {"action": "AUTOMATICALLY_APPROVE"},
             {"action": "ADD_TO_PARTICIPANT_GROUP", "participant_group": group}),
        code("B", {"action": "REQUEST_RETURN", "return_reason": "No consent"}),
        code("C", {"action": "DYNAMIC_PAYMENT"}),
        code("D", {"action": "FIXED_SCREEN_OUT_PAYMENT", "fixed_screen_out_reward": 20,
                   "slots": 5}, kind="FIXED_SCREENOUT"),
    ]  # fmt: skip
    study = stand_in.study(completion_codes=codes, total_available_places=9)
    people = [stand_in.person() for _ in range(4)]
    refs = [person.begin(study) for person in people]
    more = {"C": {"completion_code_data": {"percentage_of_reward": 50}}}
    for name, ref in zip("ABCD", refs, strict=True):
        stand_in.decide(ref, "COMPLETE", completion_code=name, **more.get(name, {}))
    statuses = [stand_in.submission(ref)["status"] for ref in refs]
    assert statuses == ["APPROVED", "AWAITING REVIEW", "PARTIALLY APPROVED", "SCREENED OUT"]
    assert [(kind, amount) for kind, _, amount in stand_in.payments()] == [
        ("reward", 150), ("partial", 75), ("screen_out", 20),
    ]  # fmt: skip
    assert stand_in.submission(refs[1])["return_requested"]
    members = stand_in.call("GET", f"/participant-groups/{group}/participants/")["results"]
    assert [each["participant_id"] for each in members] == [people[0].ref]


def test_a_dynamic_payment_stays_within_its_bounds(stand_in):
    codes = [code("C", {"action": "DYNAMIC_PAYMENT"}), CODES[0]]
    ref = stand_in.person().begin(stand_in.study(completion_codes=codes))
    for percent in (7, 100, None):
        asked = {"action": "COMPLETE", "completion_code": "C",
                 "completion_code_data": {"percentage_of_reward": percent}}  # fmt: skip
        refused = stand_in.refused("POST", f"/submissions/{ref}/transition/", asked)
        assert "Between 8 and 99" in refused


def test_nobody_reviewing_for_21_days_approves(stand_in):
    ref = stand_in.person().work(stand_in.study())
    stand_in.clock.go_on(days=20)
    assert stand_in.submission(ref)["status"] == "AWAITING REVIEW"
    stand_in.clock.go_on(days=1)
    assert stand_in.submission(ref)["status"] == "APPROVED"


def test_the_exceptionally_fast_are_rejected_by_themselves_but_not_again(stand_in):
    study = stand_in.study(**FAST)
    slow, fast = stand_in.person(), stand_in.person()
    first = slow.begin(study)
    stand_in.clock.go_on(minutes=5)
    slow.complete(first)
    second = fast.work(study)
    stand_in.clock.go_on(minutes=2)
    assert stand_in.submission(first)["status"] == "AWAITING REVIEW"
    assert stand_in.submission(second)["status"] == "REJECTED"
    stand_in.decide(second, "UNREJECT")
    stand_in.clock.go_on(minutes=2)
    assert stand_in.submission(second)["status"] == "AWAITING REVIEW"


def test_a_full_study_waits_for_review_and_is_then_completed(stand_in):
    study = stand_in.study(total_available_places=2)
    refs = [stand_in.person().work(study) for _ in range(2)]
    assert stand_in.status(study) == "AWAITING REVIEW"
    stand_in.call("POST", "/submissions/bulk-approve/", {"submission_ids": refs})
    assert stand_in.status(study) == "COMPLETED"
    counts = stand_in.call("GET", f"/studies/{study}/submissions/counts/")
    assert (counts["APPROVED"], counts["TOTAL"]) == (2, 2)


def test_lists_come_in_pages_and_the_page_behind_the_last_is_an_error(stand_in):
    study = stand_in.study(total_available_places=5)
    refs = [stand_in.person().work(study) for _ in range(5)]
    seen, address = [], f"/submissions/?study={study}&page_size=2"
    while address:
        page = stand_in.call("GET", address)
        seen += [each["id"] for each in page["results"]]
        address = (page["_links"]["next"]["href"] or "").partition("/api/v1")[2]
    assert seen == refs
    beyond = stand_in.refused("GET", f"/submissions/?study={study}&page_size=2&page=4")
    assert beyond.startswith("404")
    endless = stand_in.refused("GET", f"/submissions/?study={study}&page={'9' * 5000}")
    assert endless.startswith("400") and "A whole number from 1 on." in endless
    waiting = stand_in.call("GET", f"/submissions/?study={study}&status=APPROVED")
    assert waiting["results"] == []


def test_filters_and_devices_decide_who_finds_a_study(stand_in):
    filters = [
        {"filter_id": "age", "selected_range": {"lower": 18, "upper": 40}},
        {"filter_id": "current-country-of-residence", "selected_values": ["0"]},
    ]
    study = stand_in.study(filters=filters, device_compatibility=["desktop"])
    assert stand_in.person(age="30", country="GB").studies() == [study]
    for profile in ({"age": "41"}, {"country": "US"}, {"device": "mobile"}):
        assert stand_in.person(**profile).studies() == []


def test_former_participants_can_be_kept_out(stand_in):
    first, person = stand_in.study(), stand_in.person()
    person.work(first)
    second = stand_in.study(
        filters=[{"filter_id": "previous_studies_blocklist", "selected_values": [first]}]
    )
    assert second not in person.studies()
    assert second in stand_in.person().studies()
