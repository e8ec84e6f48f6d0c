"""What an operator or the platform gets wrong: one paragraph each, and nothing half done."""

import json
import shutil
from pathlib import Path

import pytest
from sqlalchemy import func, select

from marketplace.prolific.api.studies import find_study
from marketplace.prolific.webhooks import sign_event as hook_signature
from webapp.database.engine import reading
from webapp.database.models import Assignment, Hit, OutgoingReport

pytestmark = pytest.mark.one_database


def studies(stand_in) -> int:
    return len(stand_in.api.get("/api/v1/studies/").json()["results"])


def paragraph(result) -> str:
    assert result.exit_code != 0
    assert isinstance(result.exception, Exception)
    assert "Traceback" not in result.output
    return str(result.exception)


def test_a_token_of_another_workspace_publishes_nothing_a_second_time(lab, stand_in, shell):
    lab.publish()
    with stand_in.app.extensions["prolific"].moment() as moment:
        moment.account.workspace = "f" * 24
    lab.platform.workspace.ref = ""
    said = paragraph(shell("publish", lab.run.ref, "--yes"))
    assert "was published from the account" in said and "Nothing was done" in said
    assert studies(stand_in) == 1
    with reading(lab.sessions) as session:
        assert session.scalar(select(func.count(Hit.id))) == 1


# Every command that asks the platform about a run, with what it needs besides.
ASKING = (
    ("approve", "--yes"),
    ("bonus", "--yes"),
    ("reconcile",),
    ("reconcile", "--fix"),
    ("statement",),
    ("settle", "1", "--paid"),
    ("recruitment status",),
    ("recruitment poll",),
    ("recruitment pause",),
    ("recruitment extend", "--hours", "1"),
    ("recruitment screen-outs",),
    ("recruitment webhooks",),
    ("recruitment stop",),
)


def test_a_token_of_another_workspace_pays_compares_and_subscribes_nothing(
    lab, stand_in, shell, instance
):
    study = lab.publish()
    lab.hand_in(study)
    settings = (instance / "parallax.toml").read_text(encoding="utf-8")
    with stand_in.app.extensions["prolific"].moment() as moment:
        moment.account.workspace = "f" * 24
    lab.platform.workspace.ref = ""
    for name, *options in ASKING:
        said = paragraph(shell(*name.split(), lab.run.ref, *options))
        assert "was published from the account" in said and "Nothing was done" in said, name
    assert stand_in.payments() == lab.ledger() == []
    assert (instance / "parallax.toml").read_text(encoding="utf-8") == settings
    assert stand_in.call("GET", f"/studies/{study}/")["status"] == "ACTIVE"


def test_no_places_are_offered_again_for_a_reward_that_somebody_changed(lab, stand_in, shell):
    study = lab.publish()
    lab.hand_in(study)
    stand_in.call("POST", f"/studies/{study}/transition/", {"action": "PAUSE"})
    with stand_in.app.extensions["prolific"].moment() as moment:
        found = find_study(moment, study)
        found.fields = {**found.fields, "reward": 45}
    said = paragraph(shell("publish", lab.run.ref, "--yes"))
    assert "more places would be offered for $0.45, because the reward was changed" in said
    assert stand_in.call("GET", f"/studies/{study}/")["status"] == "PAUSED"


def test_work_that_our_server_handed_in_needs_no_receipt(lab, problems):
    lab.hand_in(lab.publish())
    assert problems() == [("never_paid", False)]


def test_a_workspace_whose_currency_became_another_pays_nothing(lab, stand_in, shell):
    lab.hand_in(lab.publish())
    with stand_in.app.extensions["prolific"].moment() as moment:
        moment.account.currency = "GBP"
    lab.platform.workspace._currency = ""
    said = paragraph(shell("approve", lab.run.ref, "--yes"))
    assert "the study pays in USD, and the platform in GBP" in said
    assert stand_in.payments() == lab.ledger() == []


def test_a_study_whose_codes_somebody_removed_is_completed_by_hand_and_said(
    lab, stand_in, shell, problems
):
    study = lab.publish()
    submission, _ = lab.work(study)
    with stand_in.app.extensions["prolific"].moment() as moment:
        found = find_study(moment, study)
        theirs = [{**each, "actor": "participant"} for each in found.fields["completion_codes"]]
        found.fields = {**found.fields, "completion_codes": theirs}
    assert lab.report() == ["refused"]
    shown = shell("recruitment", "status", lab.run.ref).output
    assert "no completion code is under the researcher's control any more" in shown
    with reading(lab.sessions) as session:
        said = session.scalars(select(OutgoingReport.answer)).one()
    assert "has lost its completion code COMPLETED" in said and "\n" not in said
    assert stand_in.payments() == []
    assert stand_in.submission(submission)["status"] == "ACTIVE"


def test_a_publication_that_was_cut_off_is_not_gone_on_with_in_another_workspace(
    lab, stand_in, shell
):
    stand_in.faults({"kind": "request_lost", "operation": "create-study"})
    assert shell("publish", lab.run.ref, "--yes").exit_code != 0
    stand_in.faults()
    with stand_in.app.extensions["prolific"].moment() as moment:
        moment.account.workspace = "f" * 24
    lab.platform.workspace.ref = ""
    assert "the settings now choose" in paragraph(shell("publish", lab.run.ref, "--yes"))
    assert studies(stand_in) == 0


@pytest.mark.parametrize("more_settings", ['prolific_hook_secret = "shared"\n'])
def test_webhooks_that_come_twice_late_or_in_another_order_change_nothing(lab, stand_in, clock):
    study = lab.publish()
    submission = lab.hand_in(study)

    def hear(status: str, sent: float):
        body = json.dumps(
            {"event_type": "submission.status.change", "resource_id": submission, "status": status}
        ).encode()
        stamp = str(int(sent))
        headers = {
            "X-Prolific-Request-Signature": hook_signature("shared", stamp, body),
            "X-Prolific-Request-Timestamp": stamp,
        }
        return lab.app.test_client().post("/hooks/prolific", data=body, headers=headers)

    now = clock().timestamp()
    for status, sent in (("APPROVED", now), ("ACTIVE", now - 60), ("RESERVED", now), ("X", now)):
        assert hear(status, sent).status_code < 300
        assert hear(status, sent).status_code < 300
    assert hear("AWAITING REVIEW", now - 3600).status_code == 403  # kept for an hour
    with reading(lab.sessions) as session:
        assert session.scalars(select(Assignment.status)).all() == ["submitted"]


def test_two_rows_of_one_amount_for_one_person_are_two_bonuses_only_where_somebody_says_so(
    lab, stand_in, shell, bonus_file, tmp_path
):
    submission = lab.hand_in(lab.publish())
    shell("approve", lab.run.ref, "--yes")
    assert "The study's rule pays no bonus" in shell("bonus", lab.run.ref, "--yes").output
    path = bonus_file(submission, "0.05")
    with Path(path).open("a", encoding="utf-8") as file:
        file.write(f"{lab.ref_of(submission)},0.05,You were very quick.\n")
    said = paragraph(shell("bonus", lab.run.ref, "--file", path, "--yes"))
    assert "would get $0.05 twice" in said
    assert "If they are the same bonus, delete one row; if they are two bonuses, run" in said
    assert "the command again with --additional" in said
    assert [kind for kind, _, _ in stand_in.payments()] == ["reward"]
    for _ in range(2):
        shell("bonus", lab.run.ref, "--file", path, "--additional", "--yes")
    bonuses = [amount for kind, _, amount in stand_in.payments() if kind == "bonus"]
    assert bonuses == [5, 5]


def test_a_study_edited_after_its_launch_is_published_and_paid_as_it_was_launched(
    lab, stand_in, shell, study_folder
):
    toml = study_folder / "study.toml"
    edited = toml.read_text(encoding="utf-8").replace('reward = "0.20"', 'reward = "0.90"')
    assert 'reward = "0.90"' in edited
    toml.write_text(edited, encoding="utf-8")
    shown = " ".join(shell("publish", lab.run.ref, "--yes").output.split())
    assert "reward of each participant $0.20" in shown
    [study] = stand_in.call("GET", "/studies/")["results"]
    submission = lab.hand_in(study["id"])
    shutil.rmtree(study_folder)
    assert shell("close", lab.run.ref, "--yes").exit_code == 0
    assert shell("approve", lab.run.ref, "--yes").exit_code == 0
    assert stand_in.payments() == [("reward", submission, 20)]
