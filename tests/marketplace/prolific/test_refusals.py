"""What programs, participants and researchers are told when the stand-in refuses."""

import pytest

from marketplace.prolific.api.middleware import API
from tests.marketplace.prolific.stand_in import CODES, JSON, LINK, draft
from tests.marketplace.prolific.test_studies import SCREENING

NOBODY = "0" * 24
PLAIN = {"action": "MANUALLY_REVIEW"}


def code(code: str | None, *actions: dict[str, object]) -> dict[str, object]:
    return {"code": code, "code_type": "OTHER", "actions": list(actions)}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"filters": [{"filter_id": "shoe-size"}]}, "{'filters': [\"There is no filter 'shoe-si"),
        ({"is_custom_screening": True},
         "{'is_custom_screening': ['custom screening studies cannot be created']}"),
        ({"filter_set_id": "f", "filters": [{"filter_id": "age"}]},
         "{'filter_set_id': ['it cannot be combined with filters']}"),
        ({"study_labels": ["a", "b"]}, "{'study_labels': ['only one can be selected']}"),
        ({"access_details": [{"external_url": LINK, "total_allocation": 1}]},
         "{'access_details': ['the allocations must sum to the places']}"),
        ({"maximum_allowed_time": 20}, "{'maximum_allowed_time': ['at least 28 minutes']}"),
        ({"completion_codes": [*CODES, CODES[0]]},
         "{'completion_codes': ['each code must be unique']}"),
        ({"completion_codes": [code(None, PLAIN)]},
         "{'completion_codes': ['a code without actions may be null, no other']}"),
        ({"completion_codes": [code("A", {"action": "AUTOMATICALLY_APPROVE"}, PLAIN)]},
         "{'completion_codes': ['these actions exclude each other']}"),
        ({"completion_codes": SCREENING, "reward": 20},
         "{'completion_codes': ['A screen-out pays 10 or more, below the reward.']}"),
    ],
)  # fmt: skip
def test_a_researcher_is_told_which_field_of_a_study_is_wrong(stand_in, change, says):
    assert says in stand_in.refused("POST", "/studies/", draft(**change))


def test_a_researcher_is_told_what_a_call_lacks(stand_in):
    study = stand_in.study()
    ref = stand_in.person().work(study)
    workspace = stand_in.control("workspace")["workspace"]
    of = {"study_id": study}

    def told(path: str, body: object, method: str = "POST") -> str:
        return stand_in.refused(method, path, body)

    assert "DELETE is not allowed here." in told("/studies/", None, "DELETE")
    assert told("/studies/", [1]) == "400 The body must be a JSON object."
    pay = "/bulk-bonus-payments/none/pay/"
    assert told(pay, None) == "404 There is no such bulk bonus payment."
    bonus = "/submissions/bonus-payments/"
    assert "'csv_bonuses': ['Lines of an identifier and an amount are needed.']" in told(bonus, of)
    assert "'ten' is no amount." in told(bonus, {**of, "csv_bonuses": f"{ref},ten"})
    assert "'0' is no amount that can be paid." in told(bonus, {**of, "csv_bonuses": f"{ref},0"})
    assert "{'body': ['A text is needed.']}" in told("/messages/", of)
    groups = "/participant-groups/"
    assert "{'name': ['A name is needed.']}" in told(groups, {})
    assert "{'participant_ids': ['Identifiers have 24 hexadecimal digits.']}" in told(
        groups, {"name": "came", "participant_ids": ["x"]}
    )
    assert "{'reward': ['Reward and places are needed.']}" in told("/study-cost-calculator/", {})
    assert "{'request_return_reasons': ['A list of reasons is needed.']}" in told(
        f"/submissions/{ref}/request-return/", {}
    )
    approve = "/submissions/bulk-approve/"
    assert "{'submission_ids': ['Between 1 and 1000 are needed.']}" in told(approve, of)
    left = stand_in.person().begin(study)
    assert f"'submission_ids': ['Not awaiting review: {left}.']" in told(
        approve, {"submission_ids": [left]}
    )
    assert "{'filters': ['A list of filters is needed.']}" in told("/eligibility-count/", {})
    projects = f"/workspaces/{workspace}/projects/"
    assert "{'title': ['A title is needed.']}" in told(projects, {})
    stranger = stand_in.web.get(f"{API}/users/me/").json()["error"]
    assert stranger["detail"] == "Authentication credentials were not provided or are invalid."
    stand_in.faults({"kind": "server_error", "count": 1})
    assert told(projects, {}) == "500 Something went wrong on our side."


def test_a_researcher_is_told_what_cannot_be_done_any_more(stand_in):
    study = stand_in.study(completion_codes=SCREENING)
    change, move = f"/studies/{study}/", f"/studies/{study}/transition/"
    assert "{'reward': ['It cannot be changed any more.']}" in stand_in.refused(
        "PATCH", change, {"reward": 200}
    )
    assert "['Only slots can be changed any more.']" in stand_in.refused(
        "PATCH", change, {"completion_codes": CODES}
    )
    first, second = stand_in.person().begin(study), stand_in.person().begin(study)
    stand_in.decide(first, "COMPLETE", completion_code="NO")
    where, late = f"/submissions/{second}/transition/", {"action": "COMPLETE"}
    assert stand_in.refused("POST", where, {**late, "completion_code": "NO"}) == (
        "400 All screen-out slots of the study are used."
    )
    assert stand_in.refused("POST", where, {"action": "APPROVE"}) == (
        "400 A submission that is ACTIVE cannot do APPROVE."
    )
    assert stand_in.refused("POST", move, {"action": "START"}) == (
        "400 All screen-out slots are used; give the study more of them first."
    )
    plan = stand_in.call("POST", "/studies/", draft())["id"]
    later = {"action": "SCHEDULE_PUBLISH"}
    assert "{'publish_at': ['A time to publish at is needed.']}" in stand_in.refused(
        "POST", f"/studies/{plan}/transition/", later
    )


def test_a_participant_is_told_why_a_study_cannot_be_taken_or_opened(stand_in):
    study, person = stand_in.study(), stand_in.person()

    def problem(path: str, web=person.web, **form: str) -> str:
        return web.post(path, data=form, headers=JSON).json()["problem"]

    take = f"/studies/{study}/take"
    ref = person.begin(study)
    assert problem(take) == "This study has no place for you."
    person.give_back(ref)
    assert problem(f"/submissions/{ref}/open") == "This submission is RETURNED already."
    assert problem(take, stand_in.web) == "Please sign in first."
    assert problem("/signin", participant_id="x") == "A participant ID has 24 hexadecimal digits."
