"""What an operator or the platform gets wrong: one paragraph each, and nothing half done."""

import json

import pytest
from sqlalchemy import func, select

from marketplace.prolific.webhooks import signature as hook_signature
from webapp.database.engine import reading
from webapp.database.models import Assignment, Hit

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
    assert "was published from the account" in said and "Nothing was published" in said
    assert studies(stand_in) == 1
    with reading(lab.sessions) as session:
        assert session.scalar(select(func.count(Hit.id))) == 1


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
