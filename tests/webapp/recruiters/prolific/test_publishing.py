"""Publishing: drafts, costs, places, and what goes wrong before anybody comes."""

from dataclasses import replace

import pytest
from sqlalchemy import select

from marketplace.prolific import webhooks
from marketplace.prolific.webhooks import sign_event as hook_signature
from tests.webapp.recruiters.prolific.conftest import LINK, SCREENING
from webapp.database.engine import reading
from webapp.database.models import Assignment, Verdict
from webapp.recruiters.platform import PlatformError
from webapp.recruiters.prolific.opening import open_prolific
from webapp.recruiters.prolific.settings import ProlificSettings
from webapp.recruiters.settings import load_settings
from webapp.recruitment.open_offers import compute_offer_token
from webapp.recruitment.publish import carry_out_plan, draft_plan

pytestmark = pytest.mark.one_database


def studies(stand_in) -> list[str]:
    return [each["status"] for each in stand_in.call("GET", "/studies/")["results"]]


def test_publishing_shows_cost_pay_and_what_each_ending_does_before_it_asks(lab, stand_in, shell):
    shown = shell("publish", lab.run.ref, ask="n\n").output
    for words in (
        "in all, at most", "$0.58", "$12.00, and at least $8.00", "submitted by our server",
        "are asked to return the submission", "everybody",
    ):  # fmt: skip
        assert words in shown
    assert studies(stand_in) == []
    assert shell("publish", lab.run.ref, "--yes").exit_code == 0
    assert studies(stand_in) == ["ACTIVE"]


@pytest.mark.parametrize(
    ("least", "said", "there"),
    [
        (800, "the pay is below what Prolific recommends", ["ACTIVE"]),
        (1250, "the pay is below Prolific's minimum", ["UNPUBLISHED"]),
    ],
)
def test_pay_below_the_platforms_own_figures_is_said_before_it_refuses(
    lab, stand_in, shell, least, said, there
):
    stand_in.control("workspace", least_per_hour_minor=least, recommended_per_hour_minor=1300)
    shown = shell("publish", lab.run.ref, "--dry-run").output
    assert said in " ".join(shown.split())
    assert "$13.00, and at least" in shown
    shell("publish", lab.run.ref, "--yes")
    assert studies(stand_in) == there


@pytest.mark.parametrize(
    ("operation", "kind"),
    [("create-study", "server_error"), ("create-study", "reply_lost"),
     ("publish-study", "server_error_after"), ("publish-study", "cut_off")],
)  # fmt: skip
def test_a_lost_answer_publishes_nothing_twice(lab, stand_in, shell, operation, kind):
    stand_in.faults({"kind": kind, "operation": operation, "count": 1})
    for _ in range(2):
        shell("publish", lab.run.ref, "--yes")
    assert studies(stand_in) == ["ACTIVE"]
    assert shell("publish", lab.run.ref, "--yes").output.count("every place is filled") == 1


def test_a_wrong_token_is_one_paragraph(lab, stand_in, shell):
    stand_in.control("workspace", token="right")
    refused = shell("publish", lab.run.ref, "--yes")
    assert "does not accept the token" in str(refused.exception)
    assert "prolific_token" in str(refused.exception)


@pytest.mark.parametrize("more", [SCREENING])
def test_what_screen_outs_may_cost_is_told_with_fees(lab, shell):
    shown = shell("publish", lab.run.ref, "--dry-run").output
    assert "are paid $0.15 at once, up to 1 times; then the study pauses" in shown
    lines = {" ".join(line.split()) for line in shown.splitlines()}
    # Two rewards of 20 and one screen-out of 15 cents, each with the calculator's fees.
    assert "paid screen-outs, at most $0.15" in lines
    assert "in all, at most $0.79" in lines


@pytest.mark.parametrize("more", [SCREENING])
def test_money_that_covers_the_rewards_and_not_the_screen_outs_is_too_little(lab, stand_in, shell):
    stand_in.control("workspace", deposited_minor=70)
    refused = shell("publish", lab.run.ref, "--yes")
    assert "at least $0.79" in str(refused.exception)
    assert studies(stand_in) == []


@pytest.mark.parametrize("more", [SCREENING])
def test_a_workspace_without_a_feature_is_told_what_asks_for_it(lab, stand_in, shell):
    stand_in.control("workspace", features=[])
    refused = shell("publish", lab.run.ref, "--yes")
    assert "screen_out_reward in study.toml" in str(refused.exception)
    assert studies(stand_in) == []


def test_too_little_money_publishes_nothing(lab, stand_in, shell):
    stand_in.control("workspace", deposited_minor=10)
    refused = shell("publish", lab.run.ref, "--yes")
    assert "is too small" in str(refused.exception)
    assert studies(stand_in) == []


def test_another_currency_is_never_converted(lab, stand_in, shell):
    with stand_in.app.extensions["prolific"].moment() as moment:
        moment.account.currency = "GBP"
    assert "in USD, and the platform in GBP" in str(
        shell("publish", lab.run.ref, "--yes").exception
    )


def test_a_run_is_paused_goes_on_and_is_stopped(lab, stand_in, shell, clock):
    lab.platform.expire(lab.publish(), clock())
    assert studies(stand_in) == ["PAUSED"]
    assert shell("publish", lab.run.ref, "--yes").exit_code == 0
    assert studies(stand_in) == ["ACTIVE"]
    assert shell("recruitment", "stop", lab.run.ref).exit_code == 0
    assert studies(stand_in) == ["COMPLETED"]
    shell("publish", lab.run.ref, "--yes")
    assert studies(stand_in) == ["ACTIVE"]


@pytest.mark.parametrize(
    ("act", "before", "priced"),
    [
        ("pause", 2, 2),
        ("pause", 5, 5),  # somebody gave it more than the run has: they all are found again
        ("stop", 5, 6),  # as documented: only a further place opens those of a stopped study
    ],
)
def test_every_place_that_is_found_again_has_a_price(lab, stand_in, shell, act, before, priced):
    study = lab.publish()
    stand_in.call("PATCH", f"/studies/{study}/", {"total_available_places": before})
    if act == "pause":
        lab.platform.expire(study, stand_in.clock())
    else:
        lab.platform.stop(study)
    plan = draft_plan(lab.sessions, lab.platform, lab.run.ref, lab.link, stand_in.clock())
    assert plan.unfilled - plan.open == 2
    assert plan.cost.rewards_minor == priced * 20
    assert lab.publish() == study
    assert studies(stand_in) == ["ACTIVE"]
    assert lab.platform.state(study).available == priced
    assert "every place is filled" in shell("publish", lab.run.ref, "--yes").output


@pytest.mark.parametrize("places", [2, 3])
def test_a_lost_draft_is_launched_where_the_plan_opens_it_and_has_its_price(lab, stand_in, places):
    """The draft of one place fewer is chosen; so the other stays closed, and has no price."""
    plan = draft_plan(lab.sessions, lab.platform, lab.run.ref, lab.link, stand_in.clock())
    lost = [
        lab.platform.post(
            plan.task,
            replace(plan.offers[0], places=n, token=compute_offer_token(lab.run.ref, number)),
        )
        for number, n in enumerate((places + 1, places), start=1)
    ]
    plan = draft_plan(lab.sessions, lab.platform, lab.run.ref, lab.link, stand_in.clock())
    assert plan.cost.rewards_minor == places * 20
    there = dict(carry_out_plan(lab.sessions, lab.platform, plan, stand_in.clock))
    assert there == {lost[0]: 0, lost[1]: places}
    assert [stand_in.status(one) for one in lost] == ["UNPUBLISHED", "ACTIVE"]
    plan = draft_plan(lab.sessions, lab.platform, lab.run.ref, lab.link, stand_in.clock())
    assert plan.is_empty


def test_places_that_were_given_back_are_filled_by_growing_the_study(lab, stand_in, clock, shell):
    study = lab.publish()
    for _ in range(2):
        submission, _ = lab.work(study)
        lab.report()
        lab.poll()
    assert stand_in.status(study) == "AWAITING REVIEW"
    stand_in.decide(submission, "REJECT", message="x" * 100, rejection_category="OTHER")
    lab.platform.grow(study, 3)
    stored = stand_in.call("GET", f"/studies/{study}/")
    assert (stored["status"], stored["total_available_places"]) == ("ACTIVE", 3)


def test_a_study_that_somebody_edits_is_named(lab, stand_in, shell):
    study = lab.publish()
    with stand_in.app.extensions["prolific"].moment() as moment:
        from marketplace.prolific.api.studies import find_study

        found = find_study(moment, study)
        age = {"filter_id": "age", "selected_range": {"lower": 18, "upper": 30}}
        changed = {"reward": 45, "total_available_places": 9, "filters": [age]}
        found.fields = {**found.fields, **changed}
    shown = shell("recruitment", "status", lab.run.ref).output
    assert "was changed on the platform: the reward is $0.45, not $0.20" in shown
    assert "the audience is age from 18 to 30, not everybody" in shown
    assert "has 9 places on the platform, but 2 were published" in shown


def test_the_live_endpoint_wants_its_own_word(settings):
    live = settings.model_copy(update={"endpoint": "live"})
    with pytest.raises(Exception, match="--live"):
        open_prolific(live, live=False)
    with pytest.raises(Exception, match="no API token"):
        open_prolific(live, live=True)


def test_status_tells_time_pay_and_money(lab, stand_in, clock, shell):
    study = lab.publish()
    home = lab.agree(lab.arrive(stand_in.person(), study)[1])
    clock.go_on(minutes=3)
    lab.finish(home)
    lab.report()
    stand_in.person().take(study)
    clock.go_on(minutes=20)
    shown = shell("recruitment", "status", lab.run.ref).output
    assert "Median time: 3.0 minutes, which pays $4.00 an hour" in shown
    assert "Returned or timed out: 1 of 2" in shown
    assert "reported to the platform by our server: 1 done" in shown
    assert "Balance left: $9,999.42" in shown


def test_demographics_are_fetched_on_request_with_a_warning(lab, stand_in, shell, tmp_path):
    submission = lab.hand_in(lab.publish())
    command = ("recruitment", "demographics", lab.run.ref, "--out", str(tmp_path / "d"))
    asked = shell(*command, ask="y\n")
    assert "0 of 2 different demographic exports" in asked.output
    assert "WARNING" in asked.output
    [file] = (tmp_path / "d").iterdir()
    assert submission in file.read_text(encoding="utf-8")
    assert "1 of 2" in shell(*command, "--yes").output


def test_a_return_is_asked_for_once(lab, stand_in, shell):
    submission = lab.hand_in(lab.publish())
    for _ in range(2):
        asked = shell(
            "recruitment", "ask-return", lab.run.ref, submission, "--reason", "You asked."
        )
        assert asked.exit_code == 0, asked.output
    assert stand_in.submission(submission)["return_requested"]
    with pytest.raises(PlatformError):
        lab.platform.request_return("0" * 24, "Nobody.")


def statuses(lab) -> dict[str, str]:
    with reading(lab.sessions) as session:
        return {row.platform_id: row.status for row in session.scalars(select(Assignment))}


@pytest.mark.parametrize("more_settings", ['prolific_hook_secret = "shared"\n'])
class TestWebhooks:
    @pytest.fixture
    def hear(self, lab, clock):
        def call(body: bytes, secret: str = "shared", ago: int = 0) -> int:
            stamp = str(int(clock().timestamp()) - ago)
            headers = {
                "X-Prolific-Request-Signature": hook_signature(secret, stamp, body),
                "X-Prolific-Request-Timestamp": stamp,
            }
            return lab.app.test_client().post("/hooks/prolific", data=body, headers=headers)

        return lambda *a, **k: call(*a, **k).status_code

    def test_a_signed_event_brings_the_submissions_status_in(self, lab, stand_in, hear, shell):
        submission, _ = lab.work(lab.publish())
        lab.report()
        event = b'{"event_type": "submission.status.change", "resource_id": "%s"}'
        for _ in range(2):
            assert hear(event % submission.encode()) == 204
        assert "submitted" in shell("review", lab.run.ref).output

    def test_events_that_are_lost_doubled_or_late_leave_what_the_platform_has_now(
        self, lab, stand_in, hear
    ):
        """An event is a hint: whatever it says, the platform is asked, so no order matters."""
        event = '{"event_type": "submission.status.change", "resource_id": "%s", "status": "%s"}'
        study = lab.publish()
        heard, _ = lab.work(study)
        lab.report()
        for status in ("AWAITING REVIEW", "AWAITING REVIEW", "ACTIVE", "RESERVED", "RETURNED"):
            assert hear((event % (heard, status)).encode()) == 204
        assert statuses(lab) == {heard: "submitted"}
        lost, _ = lab.arrive(stand_in.person(), study)
        assert lost not in statuses(lab) or statuses(lab)[lost] == "active"
        lab.poll()
        lab.poll()
        assert statuses(lab) == {heard: "submitted", lost: "active"}

    @pytest.mark.parametrize(
        ("kind", "heard"),
        [("webhook_lost", 0), ("webhook_doubled", 10), ("webhook_reordered", 5)],
    )
    def test_verdicts_and_payments_are_the_same_however_the_webhooks_arrive(
        self, lab, stand_in, hear, shell, problems, monkeypatch, kind, heard
    ):
        arrived = []

        def deliver(_target: str, body: bytes, _headers: dict[str, str]) -> bool:
            arrived.append(hear(body))
            return arrived[-1] == 204

        monkeypatch.setattr(webhooks, "_post_event", deliver)
        study, workspace = lab.publish(), stand_in.call("GET", "/workspaces/")["results"][0]["id"]
        stand_in.call("POST", "/hooks/secrets/", {"workspace_id": workspace})
        about = {"event_type": webhooks.SUBMISSION_STATUS, "target_url": f"{LINK}/hooks/prolific"}
        hooks, about["workspace_id"] = "/hooks/subscriptions/", workspace
        subscription = stand_in.call("POST", hooks, about)["id"]
        stand_in.call("PATCH", f"{hooks}{subscription}/", {"is_enabled": True})
        stand_in.faults({"kind": kind, "operation": "webhook"})
        leaver = stand_in.person()
        left, _ = lab.arrive(leaver, study)
        leaver.give_back(left)
        finished, _ = lab.work(study)
        lab.report()
        stand_in.control("webhooks")
        lab.poll()
        assert statuses(lab) == {left: "returned", finished: "submitted"}
        for command in (("exclude",), ("approve", "--yes")):
            assert shell(command[0], lab.run.ref, *command[1:]).exit_code == 0
        stand_in.control("webhooks")
        assert arrived == [204] * heard
        assert stand_in.payments() == [("reward", finished, 20)]
        assert problems() == []
        with reading(lab.sessions) as session:
            assert session.scalars(select(Verdict.kept)).all() == [True]

    def test_what_is_forged_old_or_strange_is_refused_or_ignored(self, lab, stand_in, hear, caplog):
        lab.publish()
        event = b'{"event_type": "submission.status.change", "resource_id": "x"}'
        assert hear(event, secret="replaced") == 403
        assert "the secret in the settings is not the one it signs with" in caplog.text
        assert hear(event, ago=3600) == 403
        assert hear(b"[") == 403
        assert hear(event) == 204
        assert hear(b'{"event_type": "study.status.change"}') == 204
        assert lab.app.test_client().post("/hooks/nobody").status_code == 404


def test_a_command_subscribes_this_server_and_keeps_the_secret(lab, stand_in, shell, instance):
    lab.publish()

    workspace = {"workspace_id": stand_in.call("GET", "/workspaces/")["results"][0]["id"]}

    def listed(what: str) -> list[dict]:
        return stand_in.call("GET", f"/hooks/{what}/", params=workspace)["results"]

    for _ in range(2):
        done = shell("recruitment", "webhooks", lab.run.ref)
        assert done.exit_code == 0, done.output + str(done.exception)
    [one], [secret] = listed("subscriptions"), listed("secrets")
    assert one["is_enabled"]
    assert one["target_url"].endswith("/hooks/prolific")
    kept = load_settings(instance, {}).recruiter_settings("prolific", ProlificSettings).hook_secret
    assert kept.get_secret_value() == secret["value"] not in done.output
    stand_in.call("PATCH", f"/hooks/subscriptions/{one['id']}/", {"is_enabled": False})
    shell("recruitment", "webhooks", lab.run.ref, "--new-secret")
    assert [each["is_enabled"] for each in listed("subscriptions")] == [True]
    [other] = listed("secrets")
    kept = load_settings(instance, {}).recruiter_settings("prolific", ProlificSettings).hook_secret
    assert kept.get_secret_value() == other["value"] != secret["value"]


def test_the_platform_is_named_by_a_safe_address_only(settings):
    insecure = settings.model_copy(update={"endpoint": "http://prolific.example"})
    with pytest.raises(Exception, match="not be encrypted"):
        open_prolific(insecure, live=False)
