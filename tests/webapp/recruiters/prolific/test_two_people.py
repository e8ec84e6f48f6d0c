"""Where a study asks two people for money, no command and no page lets one person spend it."""

import re
from html import unescape

import pytest
from sqlalchemy import select

from tests.webapp.recruiters.prolific.conftest import SCREENING
from tests.webapp.researcher.conftest import (  # noqa: F401
    browser,
    password_hash,
    researcher,
)
from webapp.core.clock import utc_now
from webapp.database.engine import reading
from webapp.database.models import AuditEntry
from webapp.researcher import recruitment
from webapp.users.roles import Role

pytestmark = pytest.mark.one_database
OVERSIGHT = '[oversight]\nsecond_person = ["payments", "publishing"]\n'


@pytest.fixture
def more() -> str:
    return f"{SCREENING}\n{OVERSIGHT}"


@pytest.fixture
def give(shell, lab, monkeypatch):
    """Return a function by which somebody gives a command, and says how it ended."""

    def by(who: str, *command: str) -> str:
        monkeypatch.setenv("LOGNAME", who)
        done = shell(*command)
        return f"{done.output}\n{done.exception or ''}"

    return by


@pytest.fixture
def confirmed(sessions):
    def find(act: str) -> list[tuple[str, str]]:
        with reading(sessions) as session:
            found = session.scalars(select(AuditEntry).where(AuditEntry.act == act))
            return [(each.who, each.after["asked for by"]) for each in found]

    return find


def offers(stand_in) -> int:
    return len(stand_in.call("GET", "/studies/")["results"])


def test_one_person_s_command_publishes_nothing_however_often(lab, give, stand_in, confirmed):
    command = ("publish", lab.run.ref, "--yes")
    for _ in range(2):
        assert "the study asks two people for publishing" in give("anna", *command)
        assert offers(stand_in) == 0
    assert "is published" in give("bert", *command)
    assert offers(stand_in) == 1
    assert confirmed("publishing confirmed") == [("bert", "anna")]


def test_what_the_room_asked_for_the_command_confirms_and_the_other_way_round(
    lab,
    give,
    stand_in,
    confirmed,
    researcher,  # noqa: F811
    monkeypatch,
    clock,
):
    clock.time = utc_now()  # which commands have
    monkeypatch.setattr(recruitment, "open_platform", lambda *_, **__: lab.platform)
    here, at = researcher(Role.RESEARCHER), f"/runs/{lab.run.ref}/recruitment"
    asked = here.post(f"{at}/plan")
    fields = dict(re.findall(r'name="(\w+)" value="([^"]*)"', unescape(asked.text)))
    for _ in range(2):
        asked = here.post(f"{at}/publish", **fields)
        assert asked.status_code == 202
        assert "the study asks two people for publishing" in asked.text
        assert offers(stand_in) == 0
    assert "is published" in give("bert", "publish", lab.run.ref, "--yes")
    assert confirmed("publishing confirmed") == [("bert", "researcher")]


def test_one_person_s_command_pays_nobody_and_another_amount_is_another_request(
    lab, give, stand_in, bonus_file, confirmed
):
    for who in ("anna", "bert"):
        give(who, "publish", lab.run.ref, "--yes")
    submission, way = lab.arrive(stand_in.person(), offers_of(stand_in))
    visitor = lab.visit(lab.agree(way))
    visitor.client.post(f"{visitor.home}screening", data={"reads_english": "Yes", "try": "0"})
    lab.finish(visitor.home)
    lab.report()
    lab.poll()
    approve = ("approve", lab.run.ref, "--yes")
    for _ in range(2):
        assert "the study asks two people for payments" in give("anna", *approve)
    assert stand_in.payments() == []
    give("bert", *approve)
    assert stand_in.payments() == [("reward", submission, 20)]
    bonus = ("bonus", lab.run.ref, "--file")
    small, large = bonus_file(submission, "0.10"), "0.20"
    assert "asks two people for payments" in give("bert", *bonus, small, "--yes")
    assert "asks two people" in give("anna", *bonus, bonus_file(submission, large), "--yes")
    assert len(stand_in.payments()) == 1
    give("bert", *bonus, bonus_file(submission, large), "--yes")
    assert [each for each in stand_in.payments() if each[0] == "bonus"] == [
        ("bonus", submission, 20)
    ]
    assert confirmed("payment ordered") == [("bert", "anna")] * 2


def test_more_paid_screen_outs_are_publishing_too(lab, give, stand_in, confirmed):
    for who in ("anna", "bert"):
        give(who, "publish", lab.run.ref, "--yes")
    more = ("recruitment", "screen-outs", lab.run.ref, "--places", "5")
    for _ in range(2):
        assert "the study asks two people for publishing" in give("anna", *more)
        assert "1 more" in give("anna", *more[:3])
    assert "5 more" in give("bert", *more)
    assert confirmed("publishing confirmed") == [("bert", "anna")] * 2


def offers_of(stand_in) -> str:
    [study] = stand_in.call("GET", "/studies/")["results"]
    return study["id"]
