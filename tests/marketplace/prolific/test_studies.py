"""Studies: drafts, publishing, pausing, stopping, growing, and the wallet."""

import pytest

from tests.marketplace.prolific.stand_in import LINK, draft

SCREENING = [
    {"code": "YES", "code_type": "COMPLETED", "actions": [{"action": "MANUALLY_REVIEW"}]},
    {
        "code": "NO",
        "code_type": "FIXED_SCREENOUT",
        "actor": "researcher",
        "actions": [
            {"action": "FIXED_SCREEN_OUT_PAYMENT", "fixed_screen_out_reward": 20, "slots": 1}
        ],
    },
]


def test_a_draft_is_published_paused_started_and_stopped(stand_in):
    study = stand_in.call("POST", "/studies/", draft())
    assert study["status"] == "UNPUBLISHED"
    steps = [("PUBLISH", "ACTIVE"), ("PAUSE", "PAUSED"), ("START", "ACTIVE"), ("STOP", "COMPLETED")]
    for action, status in steps:
        assert stand_in.move(study["id"], action)["status"] == status
    refused = stand_in.refused("POST", f"/studies/{study['id']}/transition/", {"action": "START"})
    assert "COMPLETED cannot do START" in refused


def test_a_stopped_study_lives_again_by_more_places_only(stand_in):
    study = stand_in.study()
    stand_in.move(study, "STOP")
    fewer = stand_in.refused("PATCH", f"/studies/{study}/", {"total_available_places": 2})
    assert "only be increased" in fewer
    grown = stand_in.call("PATCH", f"/studies/{study}/", {"total_available_places": 4})
    assert (grown["status"], grown["total_available_places"]) == ("ACTIVE", 4)


def test_after_publishing_little_can_be_changed(stand_in):
    study = stand_in.study()
    assert "reward" in stand_in.refused("PATCH", f"/studies/{study}/", {"reward": 200})
    assert (
        stand_in.call("PATCH", f"/studies/{study}/", {"internal_name": "x"})["internal_name"] == "x"
    )
    other = [{**stand_in.call("GET", f"/studies/{study}/")["completion_codes"][0], "code": "OTHER"}]
    assert "slots" in stand_in.refused("PATCH", f"/studies/{study}/", {"completion_codes": other})


def test_a_draft_can_be_changed_and_deleted_a_published_study_not(stand_in):
    study = stand_in.call("POST", "/studies/", draft())["id"]
    assert stand_in.call("PATCH", f"/studies/{study}/", {"reward": 200})["reward"] == 200
    stand_in.call("DELETE", f"/studies/{study}/")
    assert stand_in.refused("GET", f"/studies/{study}/").startswith("404")
    published = stand_in.study()
    refused = stand_in.refused("DELETE", f"/studies/{published}/")
    assert "Only a study that was never published can be deleted" in refused


def test_a_scheduled_study_is_published_when_its_time_comes(stand_in):
    study = stand_in.call("POST", "/studies/", draft())["id"]
    at = {"action": "SCHEDULE_PUBLISH", "publish_at": "2026-11-22T11:00:00+00:00"}
    assert stand_in.call("POST", f"/studies/{study}/transition/", at)["status"] == "SCHEDULED"
    assert stand_in.move(study, "CANCEL_PUBLISH")["status"] == "UNPUBLISHED"
    stand_in.call("POST", f"/studies/{study}/transition/", at)
    stand_in.clock.go_on(hours=1)
    assert stand_in.status(study) == "ACTIVE"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"total_available_places": 0}, "It must be more than 0, not 0."),
        ({"total_available_places": "many"}, "It must be a whole number, not 'many'."),
        ({"name": ""}, "It is empty."),
        ({"name": None}, "It is missing."),
        ({"filters": "adults"}, "It must be a list, not 'adults'."),
        ({"prolific_id_option": "asked"}, "It must be 'question', 'url_parameters' or 'not_requ"),
        ({"completion_codes": [{**SCREENING[0], "actions": [{}]}]}, "It lacks its 'action'."),
        ({"completion_codes": [{**SCREENING[0], "actions": [{"action": "X"}]}]}, "must be one of"),
        (
            {"access_details": [{"external_url": "here", "total_allocation": 1}]},
            "It cannot be used: an address begins with https:// or http://.",
        ),
        ({"maximum_allowed_time": 20}, "at least 28 minutes"),
        ({"external_study_url": "no address"}, "an address is needed"),
        ({"is_custom_screening": True}, "custom screening"),
        ({"filters": [{"filter_id": "shoe-size", "selected_values": ["44"]}]}, "shoe-size"),
        ({"completion_codes": [SCREENING[0], SCREENING[0]]}, "unique"),
        ({"device_compatibility": ["watch"]}, "device_compatibility"),
        ({"project": "0" * 24}, "no such project"),
    ],
)
def test_what_the_platform_does_not_take_is_refused_by_field(stand_in, change, words):
    assert words in stand_in.refused("POST", "/studies/", draft(**change))


def test_a_study_that_pays_too_little_or_costs_too_much_is_not_published(open_stand_in):
    stand_in = open_stand_in(balance_minor=1000)
    poor = stand_in.call("POST", "/studies/", draft(reward=50))["id"]
    costly = stand_in.call("POST", "/studies/", draft(total_available_places=100))["id"]
    refusals = [
        stand_in.refused("POST", f"/studies/{study}/transition/", {"action": "PUBLISH"})
        for study in (poor, costly)
    ]
    assert "lowest pay" in refusals[0]
    assert "not enough money" in refusals[1]
    assert stand_in.status(costly) == "UNPUBLISHED"


@pytest.mark.parametrize(
    ("change", "feature"),
    [
        ({"is_external_study_url_secure": True}, "signed_arrivals"),
        ({"completion_codes": SCREENING}, "screen_outs"),
        ({"submissions_config": {"auto_rejection_categories": ["EXCEPTIONALLY_FAST"]}}, "auto_"),
    ],
)
def test_a_workspace_without_a_feature_is_told_so(stand_in, change, feature):
    stand_in.control("workspace", features=[])
    assert f"does not have access to this feature: {feature}" in stand_in.refused(
        "POST", "/studies/", draft(**change)
    )


def test_the_wallet_holds_back_what_a_published_study_may_cost(stand_in):
    workspace = stand_in.control("workspace")["workspace"]
    before = stand_in.call("GET", f"/workspaces/{workspace}/balance/")
    study = stand_in.study()
    held = stand_in.call("GET", f"/workspaces/{workspace}/balance/")
    # 150 and a fee of 33.3% rounded up, and a fifth of the fee as tax, three times.
    assert before["available_balance"] - held["available_balance"] == 3 * (150 + 50 + 10)
    projected = stand_in.call("GET", f"/studies/{study}/cost/", params={"is_projected": "true"})
    parts = [projected["rewards"][name]["amount"] for name in ("rewards", "fees", "tax")]
    assert parts == [450, 150, 30]
    calculated = {"reward": 150, "total_available_places": 3}
    assert stand_in.call("POST", "/study-cost-calculator/", calculated)["total_cost"] == 630
    stand_in.move(study, "STOP")
    after = stand_in.call("GET", f"/workspaces/{workspace}/balance/")
    assert after == before


def test_the_recommended_pay_is_the_workspaces(stand_in):
    workspace = stand_in.control("workspace")["workspace"]
    wanted = {"workspace_id": workspace, "currency": "GBP"}
    [recommendation] = stand_in.call("GET", "/reward-recommendations/", params=wanted)
    assert (
        recommendation["min_reward_per_hour"],
        recommendation["recommended_reward_per_hour"],
    ) == (600, 900)


def test_each_list_has_its_own_address_and_quota(stand_in):
    addresses = [f"{LINK}&list={n}" for n in (1, 2)]
    places = [{"external_url": url, "total_allocation": 1} for url in addresses]
    study = stand_in.study(access_details=places, external_study_url="", total_available_places=2)
    people = [stand_in.person() for _ in range(2)]
    opened = [person.open(person.take(study)) for person in people]
    assert [address[-6:] for address in opened] == ["list=1", "list=2"]
    progress = stand_in.call("GET", f"/studies/{study}/access-details-progress/")["progress"]
    assert [each["allocated"] for each in progress] == [1, 1]
    more = {"access_details": [{"external_url": addresses[0], "total_allocation": 2}]}
    assert stand_in.call("PATCH", f"/studies/{study}/", more)["total_available_places"] == 4


def test_used_slots_pause_the_study_until_it_has_more(stand_in):
    study = stand_in.study(completion_codes=SCREENING)
    first, second = stand_in.person(), stand_in.person()
    stand_in.decide(first.begin(study), "COMPLETE", completion_code="NO")
    assert stand_in.status(study) == "PAUSED"
    assert second.studies() == []
    start = {"action": "START"}
    assert "slots" in stand_in.refused("POST", f"/studies/{study}/transition/", start)
    codes = stand_in.call("GET", f"/studies/{study}/")["completion_codes"]
    codes[1]["actions"][0]["slots"] = 2
    stand_in.call("PATCH", f"/studies/{study}/", {"completion_codes": codes})
    assert stand_in.move(study, "START")["status"] == "ACTIVE"
    assert second.studies() == [study]
    assert stand_in.call("GET", f"/studies/{study}/")["places_taken"] == 0
