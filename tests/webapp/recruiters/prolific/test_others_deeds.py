"""What the platform does by itself, a colleague on its pages, and another tool of the workspace."""

import json

import pytest

from marketplace.prolific.api.studies import find_study
from marketplace.prolific.webhooks import sign_event as hook_signature
from tests.marketplace.prolific.stand_in import REASON
from webapp import create_app
from webapp.recruiters.prolific.settings import ProlificSettings
from webapp.recruiters.settings import load_settings

pytestmark = pytest.mark.one_database


def statement(shell, run_ref: str, command: str = "reconcile") -> str:
    """Return the first line that a command prints of somebody's money."""
    return " ".join(shell(command, run_ref).output.splitlines()[1].split())


def change(stand_in, study: str, **fields: object) -> None:
    """Change a published study as its pages do."""
    with stand_in.app.extensions["prolific"].moment() as moment:
        found = find_study(moment, study)
        found.fields = {**found.fields, **fields}


def test_what_nobody_reviewed_for_21_days_is_paid_once_by_the_platform_alone(
    lab, stand_in, clock, shell, problems
):
    submission = lab.hand_in(lab.publish())
    clock.go_on(days=21)
    assert stand_in.submission(submission)["status"] == "APPROVED"
    assert problems() == [("reviewed_elsewhere", True)]
    assert problems("--fix") == []
    assert lab.ledger() == [("reward", 20, "done")]
    assert statement(shell, lab.run.ref).endswith("$0.20 $0.20 $0.20")
    assert "There is nothing left to do" in shell("approve", lab.run.ref, "--yes").output
    assert stand_in.payments() == [("reward", submission, 20)]


def test_who_was_exceptionally_fast_is_rejected_by_the_platform_and_paid_once_if_undone(
    lab, stand_in, clock, shell, problems
):
    study = lab.publish()
    stand_in.control("workspace", features=["auto_rejection", "signed_arrivals"])
    wanted = {"submissions_config": {"auto_rejection_categories": ["EXCEPTIONALLY_FAST"]}}
    stand_in.call("PATCH", f"/studies/{study}/", wanted)
    submission = lab.hand_in(study)
    clock.go_on(minutes=2)
    assert stand_in.submission(submission)["status"] == "REJECTED"
    shell("approve", lab.run.ref, "--yes")
    assert stand_in.payments() == []
    assert problems() == [("reviewed_elsewhere", True)]
    assert problems("--fix") == []
    assert lab.ledger() == [("rejection", 0, "done")]
    assert statement(shell, lab.run.ref).endswith("$0.00 $0.00 $0.00")
    who = lab.ref_of(submission)
    assert "rejected" in shell("review", lab.run.ref).output
    undo = ("approve", lab.run.ref, "--only", who, "--undo-rejection", "--yes")
    for _ in range(2):
        assert shell(*undo).exit_code == 0
    clock.go_on(minutes=2)
    assert stand_in.payments() == [("reward", submission, 20)]
    assert problems() == []
    assert statement(shell, lab.run.ref).endswith("$0.20 $0.20 $0.20")


def test_a_rejection_that_comes_after_the_platforms_approval_ends_and_pays_once(
    lab, stand_in, clock, shell, problems
):
    submission = lab.hand_in(lab.publish())
    stand_in.faults({"kind": "request_lost", "operation": "transition-submission", "count": 1})
    why = ("--category", "LOW_EFFORT", "--reason", REASON, "--yes")
    assert shell("reject", lab.run.ref, lab.ref_of(submission), *why).exit_code == 1
    assert lab.ledger() == [("rejection", 0, "unknown")]
    clock.go_on(days=21)
    assert stand_in.submission(submission)["status"] == "APPROVED"
    assert problems("--fix") == []
    assert lab.ledger() == [("rejection", 0, "withdrawn"), ("reward", 20, "done")]
    assert statement(shell, lab.run.ref).endswith("$0.20 $0.20 $0.20")
    only = ("approve", lab.run.ref, "--only", lab.ref_of(submission), "--yes")
    assert "There is nothing left to do" in shell(*only).output
    assert stand_in.payments() == [("reward", submission, 20)]


def test_a_reward_that_somebody_changed_on_the_platform_is_not_paid_unseen(
    lab, stand_in, shell, problems
):
    study = lab.publish()
    submission = lab.hand_in(study)
    change(stand_in, study, reward=45)
    refused = shell("approve", lab.run.ref, "--yes")
    assert "would pay $0.45, because the reward was changed" in str(refused.exception)
    assert stand_in.payments() == []
    assert ("reward_changed", False) in problems()
    stand_in.decide(submission, "APPROVE")
    assert problems("--fix") == [("reward_changed", False)]
    assert lab.ledger() == [("reward", 45, "done")]
    assert statement(shell, lab.run.ref).endswith("$0.20 $0.45 $0.45")
    change(stand_in, study, reward=20)
    assert shell("approve", lab.run.ref, "--yes").exit_code == 0
    assert stand_in.payments() == [("reward", submission, 45)]


def test_a_part_of_the_reward_that_a_colleague_paid_is_never_called_clean(
    lab, stand_in, shell, problems
):
    submission = lab.hand_in(lab.publish())
    with stand_in.app.extensions["prolific"].moment() as moment:
        from marketplace.prolific.submissions import find_submission

        find_submission(moment, submission).status = "PARTIALLY APPROVED"
    assert ("paid_in_part", False) in problems()
    assert problems("--fix") == [("paid_in_part", False)]


@pytest.mark.parametrize(
    "command",
    [("publish", "--yes"), ("recruitment status",), ("approve", "--yes"), ("reconcile", "--fix"),
     ("recruitment poll",), ("bonus", "--yes")],
    ids=" ".join,
)  # fmt: skip
def test_a_token_that_was_revoked_is_one_paragraph_and_loses_nothing(
    lab, stand_in, shell, problems, command
):
    submission = lab.hand_in(lab.publish())
    stand_in.control("workspace", token="another")
    name, *options = command
    refused = shell(*name.split(), lab.run.ref, *options)
    assert "does not accept the token" in str(refused.exception)
    assert "prolific_token" in str(refused.exception)
    stand_in.control("workspace", token="")
    shell("approve", lab.run.ref, "--yes")
    assert stand_in.payments() == [("reward", submission, 20)]
    assert problems() == []


def test_a_bonus_that_the_balance_does_not_cover_is_refused_before_it_is_set_up(
    lab, stand_in, shell, bonus_file, problems
):
    submission = lab.hand_in(lab.publish())
    shell("approve", lab.run.ref, "--yes")
    stand_in.control("workspace", deposited_minor=70)
    refused = shell("bonus", lab.run.ref, "--file", bonus_file(submission, "0.90"), "--yes")
    assert "is too small for these payments" in str(refused.exception)
    assert "at least $1.26" in str(refused.exception)
    assert stand_in.web.get("/control/setups").json()["setups"] == []
    assert problems() == []


@pytest.mark.parametrize("more_settings", ["prolific_signed_arrivals = true\n"])
def test_a_workspace_without_signed_links_is_told_which_setting_asks_for_them(
    lab, stand_in, shell, monkeypatch
):
    stand_in.control("workspace", features=[])
    refused = shell("publish", lab.run.ref, "--yes")
    assert "the setting prolific_signed_arrivals" in str(refused.exception)
    assert stand_in.call("GET", "/studies/")["results"] == []
    stand_in.control("workspace", features=["signed_arrivals"])
    assert shell("publish", lab.run.ref, "--yes").exit_code == 0
    [study] = stand_in.call("GET", "/studies/")["results"]
    assert study["status"] == "ACTIVE"


def test_a_secret_that_another_tool_replaced_is_said_and_loses_nothing(
    lab, stand_in, shell, instance, clock, caplog, problems
):
    submission, _ = lab.work(lab.publish())
    lab.report()
    shell("recruitment", "webhooks", lab.run.ref)
    workspace = stand_in.call("GET", "/workspaces/")["results"][0]["id"]
    made = stand_in.call("POST", "/hooks/secrets/", {"workspace_id": workspace})["value"]

    def hear() -> int:
        """Start the server anew, and tell it of the submission as the platform does now."""
        body = json.dumps({"event_type": "submission.status.change", "resource_id": submission})
        stamp = str(int(clock().timestamp()))
        headers = {
            "X-Prolific-Request-Signature": hook_signature(made, stamp, body.encode()),
            "X-Prolific-Request-Timestamp": stamp,
        }
        server = create_app(instance, now=clock)
        answer = server.test_client().post("/hooks/prolific", data=body, headers=headers)
        server.extensions["parallax"].engine.dispose()
        return answer.status_code

    assert hear() == 403
    assert "the secret in the settings is not the one it signs with" in caplog.text
    assert "nothing submitted" in shell("review", lab.run.ref).output
    assert "1 newly submitted" in shell("recruitment", "poll", lab.run.ref).output
    shell("recruitment", "webhooks", lab.run.ref)
    kept = load_settings(instance, {}).recruiter_settings("prolific", ProlificSettings).hook_secret
    assert kept.get_secret_value() == made
    assert hear() == 204
    shell("approve", lab.run.ref, "--yes")
    assert stand_in.payments() == [("reward", submission, 20)]
    assert problems() == []
