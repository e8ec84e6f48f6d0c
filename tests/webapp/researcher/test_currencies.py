"""A whole run in another currency: what commands, pages and exports say, and what is paid."""

import csv
import json
import random
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from sqlalchemy import select

import parallax
from experiment.studies.load import STUDIES_FOLDER
from tests.webapp.recruiters.late_platform import LatePlatform, LateRecruiter
from webapp.database.engine import reading
from webapp.database.models import Participant, Run
from webapp.recruiters.statuses import AssignmentStatus
from webapp.users.roles import Role

pytestmark = pytest.mark.one_database
# Of each currency: the reward and the bonus as files have them; an hour's wage, the reward, the
# bonus, both, and eight of both with fees, as people read them; an amount with a digit too many.
CASES = {
    "EUR": ("1.50", "0.30", "€90.00", "€1.50", "€0.30", "€1.80", "€19.20", "0.305"),
    "GBP": ("1.50", "0.30", "£90.00", "£1.50", "£0.30", "£1.80", "£19.20", "0.305"),
    "JPY": ("150", "30", "¥9,000", "¥150", "¥30", "¥180", "¥1,920", "30.5"),
    "KWD": (
        *("0.150", "0.030", "KWD 9.000", "KWD 0.150", "KWD 0.030", "KWD 0.180", "KWD 1.920"),
        "0.0305",
    ),
}


@pytest.fixture(params=CASES)
def currency(request) -> str:
    return request.param


@pytest.fixture
def instance(instance: Path, currency: str) -> Path:
    instance.mkdir(exist_ok=True)
    most = ("most_per_participant", "most_per_run", "most_per_hour")
    limits = [f'{name} = "100000 {currency}"' for name in most]
    settings = ['public_url = "http://127.0.0.1:8000"', f'least_per_hour = "1 {currency}"', *limits]
    (instance / "parallax.toml").write_text("\n".join(settings), encoding="utf-8")
    return instance


@pytest.fixture
def folder(tmp_path: Path, currency: str) -> Path:
    made, (reward, bonus, *_) = tmp_path / "minimal", CASES[currency]
    shutil.copytree(STUDIES_FOLDER / "minimal", made)
    toml = (made / "study.toml").read_text(encoding="utf-8")
    toml = toml.replace('reward = "0.20"', f'reward = "{reward}"')
    money = f'currency = "{currency}"\nbonus = "everyone"\nbonus_amount = "{bonus}"'
    (made / "study.toml").write_text(f"{toml}\n[payment]\n{money}\n", encoding="utf-8")
    return made


@pytest.fixture
def platform(clock, currency: str) -> LatePlatform:
    LateRecruiter.platform = LatePlatform(clock, random.Random(1), currency=currency)
    return LateRecruiter.platform


@pytest.fixture
def shell(instance: Path):
    """Return a function that gives what a command prints, and what it is refused with."""
    runner = CliRunner(env={"PARALLAX_INSTANCE": str(instance)})

    def call(*command: str) -> str:
        done = runner.invoke(parallax.cli, command)
        return " ".join(f"{done.output} {done.exception or ''}".split())

    return call


@pytest.fixture
def run_ref(folder, platform, shell, sessions) -> str:
    """A launched run."""
    shell("launch", str(folder), "--seed", "1", "--recruiter", LateRecruiter.name)
    with reading(sessions) as session:
        return session.scalars(select(Run.ref)).one()


def take_part(platform, client, visit, run_ref: str) -> None:
    submission = platform.take("ann")
    link = f"/run/{run_ref}?person=ann&submission={submission}"
    visitor = visit(client.post(link, data={"decision": "accept"}).location)
    visitor.answer_all()
    visitor.questionnaire(native_language="English")
    platform.become(submission, AssignmentStatus.SUBMITTED)


def test_every_word_and_every_payment_is_in_the_runs_own_currency(
    currency, folder, platform, shell, run_ref, client, visit, sessions, researcher, clock,
    tmp_path, monkeypatch,
):  # fmt: skip
    _, _, hourly, in_reward, in_bonus, in_both, in_all, too_fine = CASES[currency]
    assert f"{hourly} an hour" in shell("study", "show", str(folder))
    for limit in ("most_per_participant", "most_per_run", "least_per_hour", "most_per_hour"):
        monkeypatch.setenv(f"PARALLAX_{limit.upper()}", "20 USD")
        said = f"the setting {limit} has no amount in {currency}"
        assert said in shell("publish", run_ref, "--yes")
        monkeypatch.delenv(f"PARALLAX_{limit.upper()}")
    assert platform.offers == {}
    cost = shell("publish", run_ref, "--yes")
    assert f"in all, at most {in_all}" in cost
    assert f"hourly pay at the median time {hourly}" in cost
    take_part(platform, client, visit, run_ref)
    for command in ("approve", "bonus"):
        for _ in range(4):
            shell(command, run_ref, "--yes")
            clock.go_on(hours=2)
    assert platform.paid("ann") == [("reward", 150), ("bonus", 30)]
    with reading(sessions) as session:
        person = session.scalars(select(Participant)).one()

    table = tmp_path / "bonuses.csv"
    table.write_text(f"participant,amount,reason\n{person.ref},{too_fine},More\n", encoding="utf-8")
    assert f"not an amount of {currency}" in shell("bonus", run_ref, "--file", str(table), "--yes")
    statement = f"{person.ref} {in_both} {in_both}"
    assert f"{statement} not asked" in shell("review", run_ref)
    assert f"{statement} {in_both}" in shell("reconcile", run_ref)
    assert "is clean" in shell("reconcile", run_ref)
    assert f"{in_reward} done" in shell("review", run_ref)
    assert "Median time" in shell("recruitment", "status", run_ref)

    shell("unblind", run_ref, "--reason", "Everybody was paid.")
    shell("export", run_ref, "--out", str(tmp_path / "export"))
    with (tmp_path / "export" / "payments.csv").open(encoding="utf-8", newline="") as file:
        rows = [
            (row["paid_for"], row["amount_minor"], row["currency"]) for row in csv.DictReader(file)
        ]
    assert rows == [("reward", "150", currency), ("bonus", "30", currency)]
    own = json.loads(client.post(f"/run/{run_ref}/data", data={"code": person.code}).data)
    assert {payment["amount"] for payment in own["payments"]} == {in_reward, in_bonus}
    money = researcher(Role.RESEARCHER).get(f"/runs/{run_ref}/money").text.replace("\xa0", " ")
    assert in_reward in money
    assert in_bonus in money
    for word in ("$", "USD", "cents"):
        assert word not in money
