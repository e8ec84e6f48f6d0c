"""Submissions: taking part, completing, reviewing, and what time does."""

from tests.marketplace.prolific.town import CODES, DONE, OURS, REASON

FAST = {"submissions_config": {"auto_rejection_categories": ["EXCEPTIONALLY_FAST"]}}


def code(name: str, *actions: dict[str, object], kind: str = "OTHER") -> dict[str, object]:
    return {"code": name, "code_type": kind, "actions": list(actions), "actor": "researcher"}


def test_a_submission_is_reserved_worked_on_completed_and_approved_once(town):
    study = town.study()
    person = town.person()
    ref = person.take(study)
    assert town.submission(ref)["status"] == "RESERVED"
    person.open(ref)
    assert town.submission(ref)["status"] == "ACTIVE"
    assert person.complete(ref).json()["submission"]["status"] == "AWAITING REVIEW"
    for _ in range(2):
        assert town.decide(ref, "APPROVE")["status"] == "APPROVED"
    assert town.payments() == [("reward", ref, 150)]
    assert person.facts("/history")["submissions"][0]["paid_minor"] == 150


def test_one_participant_has_one_submission_and_who_returned_cannot_come_again(town):
    study = town.study()
    person = town.person()
    ref = person.begin(study)
    assert person.try_to_take(study).status_code == 404
    person.give_back(ref)
    assert town.submission(ref)["status"] == "RETURNED"
    assert person.try_to_take(study).status_code == 404
    assert town.call("GET", f"/studies/{study}/")["places_taken"] == 0


def test_who_does_not_open_or_finish_in_time_loses_the_place(town):
    study = town.study()
    reserved, working = town.person().take(study), town.person().begin(study)
    town.clock.go_on(minutes=11)
    assert town.submission(reserved)["status"] == "TIMED-OUT"
    assert town.submission(working)["status"] == "ACTIVE"
    town.clock.go_on(minutes=40)
    assert town.submission(working)["status"] == "TIMED-OUT"
    done = {"action": "COMPLETE", "completion_code": OURS}
    late = town.refused("POST", f"/submissions/{working}/transition/", done)
    assert "TIMED-OUT cannot be completed" in late


def test_the_researchers_code_completes_without_the_participant_knowing_it(town):
    study = town.study()
    person = town.person()
    ref = person.begin(study)
    wrong = {"action": "COMPLETE", "completion_code": DONE}
    assert "no such code" in town.refused("POST", f"/submissions/{ref}/transition/", wrong)
    for _ in range(2):
        done = town.decide(ref, "COMPLETE", completion_code=OURS)
        assert (done["status"], done["entered_code"]) == ("AWAITING REVIEW", OURS)
    assert OURS not in str(person.facts(f"/submissions/{ref}")["submission"]["paid_minor"])


def test_a_participant_may_enter_anything_and_then_waits_for_review(town):
    study = town.study()
    entered = {}
    for typed in ("", "WRONG", OURS):
        ref = town.person().work(study, typed)
        entered[typed] = town.submission(ref)
    assert {each["status"] for each in entered.values()} == {"AWAITING REVIEW"}
    assert entered[""]["entered_code"] is None


def test_rejecting_needs_a_category_and_a_hundred_characters_and_can_be_undone(town):
    ref = town.person().work(town.study())
    where = f"/submissions/{ref}/transition/"
    short = {"action": "REJECT", "message": "Bad.", "rejection_category": "LOW_EFFORT"}
    assert "100 characters" in town.refused("POST", where, short)
    unknown = {"action": "REJECT", "message": REASON, "rejection_category": "AI"}
    assert "rejection_category" in town.refused("POST", where, unknown)
    for _ in range(2):
        rejected = town.decide(ref, "REJECT", message=REASON, rejection_category="LOW_EFFORT")
        assert rejected["status"] == "REJECTED"
    assert "REJECTED cannot do APPROVE" in town.refused("POST", where, {"action": "APPROVE"})
    assert town.decide(ref, "UNREJECT")["status"] == "AWAITING REVIEW"
    assert town.decide(ref, "APPROVE")["status"] == "APPROVED"


def test_a_return_is_asked_for_and_the_participant_decides(town):
    person = town.person()
    ref = person.work(town.study())
    asked = {"request_return_reasons": ["Withdrew consent"]}
    told = town.call("POST", f"/submissions/{ref}/request-return/", asked)
    assert (told["status"], bool(told["return_requested"])) == ("AWAITING REVIEW", True)
    assert "Withdrew consent" in person.facts("/history")["messages"][0]["body"]
    person.give_back(ref)
    assert town.submission(ref)["status"] == "RETURNED"
    assert town.decide(ref, "UNRETURN")["status"] == "AWAITING REVIEW"


def test_codes_act_as_they_say(town):
    group = town.call("POST", "/participant-groups/", {"name": "came", "workspace_id": "w"})["id"]
    codes = [
        CODES[0],
        code("A", {"action": "AUTOMATICALLY_APPROVE"},
             {"action": "ADD_TO_PARTICIPANT_GROUP", "participant_group": group}),
        code("B", {"action": "REQUEST_RETURN", "return_reason": "No consent"}),
        code("C", {"action": "DYNAMIC_PAYMENT"}),
        code("D", {"action": "FIXED_SCREEN_OUT_PAYMENT", "fixed_screen_out_reward": 20,
                   "slots": 5}, kind="FIXED_SCREENOUT"),
    ]  # fmt: skip
    study = town.study(completion_codes=codes, total_available_places=9)
    people = [town.person() for _ in range(4)]
    refs = [person.begin(study) for person in people]
    more = {"C": {"completion_code_data": {"percentage_of_reward": 50}}}
    for name, ref in zip("ABCD", refs, strict=True):
        town.decide(ref, "COMPLETE", completion_code=name, **more.get(name, {}))
    told = [town.submission(ref)["status"] for ref in refs]
    assert told == ["APPROVED", "AWAITING REVIEW", "PARTIALLY APPROVED", "SCREENED OUT"]
    assert [(kind, amount) for kind, _, amount in town.payments()] == [
        ("reward", 150), ("partial", 75), ("screen_out", 20),
    ]  # fmt: skip
    assert town.submission(refs[1])["return_requested"]
    members = town.call("GET", f"/participant-groups/{group}/participants/")["results"]
    assert [each["participant_id"] for each in members] == [people[0].ref]


def test_a_dynamic_payment_stays_within_its_bounds(town):
    codes = [code("C", {"action": "DYNAMIC_PAYMENT"}), CODES[0]]
    ref = town.person().begin(town.study(completion_codes=codes))
    for percent in (7, 100, None):
        asked = {"action": "COMPLETE", "completion_code": "C",
                 "completion_code_data": {"percentage_of_reward": percent}}  # fmt: skip
        refused = town.refused("POST", f"/submissions/{ref}/transition/", asked)
        assert "Between 8 and 99" in refused


def test_nobody_reviewing_for_21_days_approves(town):
    ref = town.person().work(town.study())
    town.clock.go_on(days=20)
    assert town.submission(ref)["status"] == "AWAITING REVIEW"
    town.clock.go_on(days=1)
    assert town.submission(ref)["status"] == "APPROVED"


def test_the_exceptionally_fast_are_rejected_by_themselves_but_not_again(town):
    study = town.study(**FAST)
    slow, fast = town.person(), town.person()
    first = slow.begin(study)
    town.clock.go_on(minutes=5)
    slow.complete(first)
    second = fast.work(study)
    town.clock.go_on(minutes=2)
    assert town.submission(first)["status"] == "AWAITING REVIEW"
    assert town.submission(second)["status"] == "REJECTED"
    town.decide(second, "UNREJECT")
    town.clock.go_on(minutes=2)
    assert town.submission(second)["status"] == "AWAITING REVIEW"


def test_a_full_study_waits_for_review_and_is_then_completed(town):
    study = town.study(total_available_places=2)
    refs = [town.person().work(study) for _ in range(2)]
    assert town.status(study) == "AWAITING REVIEW"
    town.call("POST", "/submissions/bulk-approve/", {"submission_ids": refs})
    assert town.status(study) == "COMPLETED"
    counts = town.call("GET", f"/studies/{study}/submissions/counts/")
    assert (counts["APPROVED"], counts["TOTAL"]) == (2, 2)


def test_lists_come_in_pages_and_the_page_behind_the_last_is_an_error(town):
    study = town.study(total_available_places=5)
    refs = [town.person().work(study) for _ in range(5)]
    seen, address = [], f"/submissions/?study={study}&page_size=2"
    while address:
        page = town.call("GET", address)
        seen += [each["id"] for each in page["results"]]
        address = (page["_links"]["next"]["href"] or "").partition("/api/v1")[2]
    assert seen == refs
    beyond = town.refused("GET", f"/submissions/?study={study}&page_size=2&page=4")
    assert beyond.startswith("404")
    waiting = town.call("GET", f"/submissions/?study={study}&status=APPROVED")
    assert waiting["results"] == []


def test_filters_and_devices_decide_who_finds_a_study(town):
    filters = [
        {"filter_id": "age", "selected_range": {"lower": 18, "upper": 40}},
        {"filter_id": "current-country-of-residence", "selected_values": ["0"]},
    ]
    study = town.study(filters=filters, device_compatibility=["desktop"])
    assert town.person(age="30", country="GB").studies() == [study]
    for profile in ({"age": "41"}, {"country": "US"}, {"device": "mobile"}):
        assert town.person(**profile).studies() == []


def test_former_participants_can_be_kept_out(town):
    first, person = town.study(), town.person()
    person.work(first)
    second = town.study(
        filters=[{"filter_id": "previous_studies_blocklist", "selected_values": [first]}]
    )
    assert second not in person.studies()
    assert second in town.person().studies()
