"""Studies: drafts, publishing, pausing, stopping, growing, and the wallet."""

import pytest

from tests.marketplace.prolific.town import LINK, draft

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


def test_a_draft_is_published_paused_started_and_stopped(town):
    study = town.call("POST", "/studies/", draft())
    assert study["status"] == "UNPUBLISHED"
    steps = [("PUBLISH", "ACTIVE"), ("PAUSE", "PAUSED"), ("START", "ACTIVE"), ("STOP", "COMPLETED")]
    for action, status in steps:
        assert town.move(study["id"], action)["status"] == status
    refused = town.refused("POST", f"/studies/{study['id']}/transition/", {"action": "START"})
    assert "COMPLETED cannot do START" in refused


def test_a_stopped_study_lives_again_by_more_places_only(town):
    study = town.study()
    town.move(study, "STOP")
    fewer = town.refused("PATCH", f"/studies/{study}/", {"total_available_places": 2})
    assert "only be increased" in fewer
    grown = town.call("PATCH", f"/studies/{study}/", {"total_available_places": 4})
    assert (grown["status"], grown["total_available_places"]) == ("ACTIVE", 4)


def test_after_publishing_little_can_be_changed(town):
    study = town.study()
    assert "reward" in town.refused("PATCH", f"/studies/{study}/", {"reward": 200})
    assert town.call("PATCH", f"/studies/{study}/", {"internal_name": "x"})["internal_name"] == "x"
    other = [{**town.call("GET", f"/studies/{study}/")["completion_codes"][0], "code": "OTHER"}]
    assert "slots" in town.refused("PATCH", f"/studies/{study}/", {"completion_codes": other})


def test_a_draft_can_be_changed_and_deleted_a_published_study_not(town):
    study = town.call("POST", "/studies/", draft())["id"]
    assert town.call("PATCH", f"/studies/{study}/", {"reward": 200})["reward"] == 200
    town.call("DELETE", f"/studies/{study}/")
    assert town.refused("GET", f"/studies/{study}/").startswith("404")
    published = town.study()
    assert "never published" in town.refused("DELETE", f"/studies/{published}/")


def test_a_scheduled_study_is_published_when_its_time_comes(town):
    study = town.call("POST", "/studies/", draft())["id"]
    at = {"action": "SCHEDULE_PUBLISH", "publish_at": "2026-11-22T11:00:00+00:00"}
    assert town.call("POST", f"/studies/{study}/transition/", at)["status"] == "SCHEDULED"
    assert town.move(study, "CANCEL_PUBLISH")["status"] == "UNPUBLISHED"
    town.call("POST", f"/studies/{study}/transition/", at)
    town.clock.go_on(hours=1)
    assert town.status(study) == "ACTIVE"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"total_available_places": 0}, "total_available_places"),
        ({"maximum_allowed_time": 20}, "at least 28 minutes"),
        ({"external_study_url": "no address"}, "an address is needed"),
        ({"is_custom_screening": True}, "custom screening"),
        ({"filters": [{"filter_id": "shoe-size", "selected_values": ["44"]}]}, "shoe-size"),
        ({"completion_codes": [SCREENING[0], SCREENING[0]]}, "unique"),
        ({"device_compatibility": ["watch"]}, "device_compatibility"),
        ({"project": "0" * 24}, "no such project"),
    ],
)
def test_what_the_platform_does_not_take_is_refused_by_field(town, change, words):
    assert words in town.refused("POST", "/studies/", draft(**change))


def test_a_study_that_pays_too_little_or_costs_too_much_is_not_published(open_town):
    town = open_town(balance_minor=1000)
    poor = town.call("POST", "/studies/", draft(reward=50))["id"]
    costly = town.call("POST", "/studies/", draft(total_available_places=100))["id"]
    refusals = [
        town.refused("POST", f"/studies/{study}/transition/", {"action": "PUBLISH"})
        for study in (poor, costly)
    ]
    assert "lowest pay" in refusals[0]
    assert "not enough money" in refusals[1]
    assert town.status(costly) == "UNPUBLISHED"


@pytest.mark.parametrize(
    ("change", "feature"),
    [
        ({"is_external_study_url_secure": True}, "signed_arrivals"),
        ({"completion_codes": SCREENING}, "screen_outs"),
        ({"submissions_config": {"auto_rejection_categories": ["EXCEPTIONALLY_FAST"]}}, "auto_"),
    ],
)
def test_a_workspace_without_a_feature_is_told_so(town, change, feature):
    town.control("workspace", features=[])
    assert f"does not have access to this feature: {feature}" in town.refused(
        "POST", "/studies/", draft(**change)
    )


def test_the_wallet_holds_back_what_a_published_study_may_cost(town):
    workspace = town.control("workspace")["workspace"]
    before = town.call("GET", f"/workspaces/{workspace}/balance/")
    study = town.study()
    held = town.call("GET", f"/workspaces/{workspace}/balance/")
    # 150 and a fee of 33.3% rounded up, and a fifth of the fee as tax, three times.
    assert before["available_balance"] - held["available_balance"] == 3 * (150 + 50 + 10)
    projected = town.call("GET", f"/studies/{study}/cost/", params={"is_projected": "true"})
    parts = [projected["rewards"][name]["amount"] for name in ("rewards", "fees", "tax")]
    assert parts == [450, 150, 30]
    calculated = {"reward": 150, "total_available_places": 3}
    assert town.call("POST", "/study-cost-calculator/", calculated)["total_cost"] == 630
    town.move(study, "STOP")
    after = town.call("GET", f"/workspaces/{workspace}/balance/")
    assert after == before


def test_the_recommended_pay_is_the_workspaces(town):
    workspace = town.control("workspace")["workspace"]
    wanted = {"workspace_id": workspace, "currency": "GBP"}
    [told] = town.call("GET", "/reward-recommendations/", params=wanted)
    assert (told["min_reward_per_hour"], told["recommended_reward_per_hour"]) == (600, 900)


def test_each_list_has_its_own_address_and_quota(town):
    addresses = [f"{LINK}&list={n}" for n in (1, 2)]
    places = [{"external_url": url, "total_allocation": 1} for url in addresses]
    study = town.study(access_details=places, external_study_url="", total_available_places=2)
    people = [town.person() for _ in range(2)]
    opened = [person.open(person.take(study)) for person in people]
    assert [address[-6:] for address in opened] == ["list=1", "list=2"]
    progress = town.call("GET", f"/studies/{study}/access-details-progress/")["progress"]
    assert [each["allocated"] for each in progress] == [1, 1]
    more = {"access_details": [{"external_url": addresses[0], "total_allocation": 2}]}
    assert town.call("PATCH", f"/studies/{study}/", more)["total_available_places"] == 4


def test_used_slots_pause_the_study_until_it_has_more(town):
    study = town.study(completion_codes=SCREENING)
    first, second = town.person(), town.person()
    town.decide(first.begin(study), "COMPLETE", completion_code="NO")
    assert town.status(study) == "PAUSED"
    assert second.studies() == []
    start = {"action": "START"}
    assert "slots" in town.refused("POST", f"/studies/{study}/transition/", start)
    codes = town.call("GET", f"/studies/{study}/")["completion_codes"]
    codes[1]["actions"][0]["slots"] = 2
    town.call("PATCH", f"/studies/{study}/", {"completion_codes": codes})
    assert town.move(study, "START")["status"] == "ACTIVE"
    assert second.studies() == [study]
    assert town.call("GET", f"/studies/{study}/")["places_taken"] == 0
