"""Money on the marketplace: reviewed, approved, bonused, rejected, compensated, reconciled."""

import json
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from click.testing import CliRunner, Result
from sqlalchemy import select

import parallax
from experiment.payment import PaymentError
from webapp.db import reading
from webapp.errors import RunError
from webapp.models import Participant
from webapp.recruiters.mturk import opening

pytestmark = pytest.mark.one_database


@pytest.fixture
def shell(instance, run, platform, monkeypatch) -> Callable[..., Result]:
    """Return a function that gives a command of the run, to a client that tries once."""
    monkeypatch.setattr(opening, "open_client", lambda _endpoint: platform)
    runner = CliRunner(env={"PARALLAX_INSTANCE": str(instance)})

    def call(command: str, *arguments: str, ask: str = "") -> Result:
        return runner.invoke(parallax.cli, [command, run.ref, *arguments], input=ask)

    return call


@pytest.fixture
def control(endpoint):
    """Return a function that sets faults or moves the marketplace's clock."""

    def post(address: str, **body: object) -> None:
        answer = httpx.post(f"{endpoint}/control/{address}", json=body, trust_env=False)
        assert answer.status_code == 200, answer.text

    yield post
    post("faults", faults=[])


@pytest.fixture
def paid(endpoint):
    """Return a function that gives what a worker was really paid: kind and cents."""

    def read(worker_id: str) -> list[tuple[str, int]]:
        told = httpx.get(f"{endpoint}/control/payments", trust_env=False).json()["payments"]
        return [(p["kind"], p["amount_cents"]) for p in told if p["worker_id"] == worker_id]

    return read


@pytest.fixture
def ref_of(sessions, run):
    def find(worker_id: str) -> str:
        named = (Participant.run_id == run.id, Participant.platform_id == worker_id)
        with reading(sessions) as session:
            return session.scalars(select(Participant.ref).where(*named)).one()

    return find


@pytest.fixture
def problems(shell):
    """Return a function that gives what reconciling finds: problem and whether it is safe."""

    def find(*arguments: str) -> list[tuple[str, bool]]:
        result = shell("reconcile", "--json", *arguments)
        assert isinstance(result.exception, SystemExit | None), result.exception
        found = json.loads(result.output)
        return [(finding["problem"], finding["safe"]) for finding in found]

    return find


@pytest.fixture
def bonus_file(tmp_path, ref_of):
    """Return a function that writes a file of one bonus."""

    def write(worker_id: str, cents: int, reason: str) -> str:
        path = tmp_path / "bonuses.csv"
        row = f"{ref_of(worker_id)},{cents},{reason}"
        path.write_text(f"participant,amount_cents,reason\n{row}\n", encoding="utf-8")
        return str(path)

    return write


def test_everyone_who_finished_is_paid_once_and_the_run_reconciles_clean(
    publish_run, worker, shell, paid
):
    publish_run()
    for name in ("AMANN", "AMBEA"):
        worker(name).take_part()
    before = shell("reconcile", "--json")
    assert before.exit_code == 1
    assert {found["problem"] for found in json.loads(before.output)} == {"never_paid"}
    assert "2 finished and submitted, and are not paid" in shell("review").output
    first = shell("approve", ask="y\n")
    assert "2 in all: $0.40, with the platform's fee $0.48" in first.output
    assert "2 done" in first.output
    assert "Nothing is left to be done" in shell("approve", "--yes").output
    review = shell("review").output
    assert "$0.20 done" in review
    assert "AMANN" not in review
    assert paid("AMANN") == paid("AMBEA") == [("reward", 20)]
    assert "is clean" in shell("reconcile").output


def test_a_bonus_whose_reply_was_lost_is_paid_once_even_days_later(
    publish_run, worker, shell, paid, control, bonus_file, problems
):
    publish_run()
    worker("ABCECIL").take_part()
    assert "1 more get theirs" in shell("bonus", "--file", bonus_file("ABCECIL", 50, "Fine")).output
    shell("approve", "--yes")
    control("faults", faults=[{"kind": "reply_lost", "operation": "SendBonus"}])
    lost = shell("bonus", "--file", bonus_file("ABCECIL", 50, "Fine"), "--yes")
    assert isinstance(lost.exception, RunError)
    assert "nothing is done twice" in str(lost.exception)
    control("faults", faults=[])
    control("clock", advance_s=30 * 3600)
    assert problems() == [("payment_unknown", True)]
    assert problems("--fix") == []
    again = shell("bonus", "--file", bonus_file("ABCECIL", 50, "Fine"), "--yes")
    assert "Nothing is left" in again.output
    assert paid("ABCECIL") == [("reward", 20), ("bonus", 50)]


def test_a_bonus_beyond_the_cap_is_refused_before_anything_is_asked(
    publish_run, worker, shell, paid, bonus_file
):
    publish_run()
    worker("ADORA").take_part()
    shell("approve", "--yes")
    refused = shell("bonus", "--file", bonus_file("ADORA", 5000, "A slip of the finger"))
    assert isinstance(refused.exception, PaymentError)
    assert "$50.20 in all" in str(refused.exception)
    assert paid("ADORA") == [("reward", 20)]


def test_a_bonus_that_the_balance_does_not_cover_is_refused_and_rewards_were_set_aside(
    publish_run, worker, shell, paid, control, bonus_file, platform
):
    publish_run()
    worker("ALENA").take_part()
    balance_cents = platform.balance_cents()
    control("deposit", cents=-balance_cents)
    assert "1 done" in shell("approve", "--yes").output
    refused = shell("bonus", "--file", bonus_file("ALENA", 50, "Fine"), "--yes")
    control("deposit", cents=balance_cents)
    assert isinstance(refused.exception, RunError)
    assert "at least $0.60" in str(refused.exception)
    assert paid("ALENA") == [("reward", 20)]


def test_nobody_is_paid_without_a_yes(publish_run, worker, shell, paid):
    publish_run()
    worker("AERIK").take_part()
    assert shell("approve", ask="n\n").exit_code == 1
    assert paid("AERIK") == []


def test_a_rejection_wants_a_reason_and_stands(publish_run, worker, shell, paid, ref_of, problems):
    publish_run()
    worker("AFAYE").take_part()
    ref = ref_of("AFAYE")
    assert shell("reject", ref).exit_code == 2
    assert "1 done" in shell("reject", ref, "--reason", "Another person answered", "--yes").output
    turned = shell("approve", "--only", ref, "--yes")
    assert isinstance(turned.exception, PaymentError)
    assert "rejected already" in str(turned.exception)
    assert "Nothing is left" in shell("approve", "--yes").output
    assert paid("AFAYE") == []
    assert problems() == []


def test_who_submitted_without_taking_part_is_listed_and_paid_only_by_name(
    publish_run, worker, shell, paid, problems
):
    publish_run()
    greg = worker("AGREG")
    greg.accept()
    form = {"assignmentId": greg.assignment_id, "receipt": "=HYPERLINK(1)"}
    assert greg.site.post("/mturk/externalSubmit", data=form).status_code == 200
    assert problems("--fix") == [("submitted_by_nobody", False)]
    assert "Nothing is left" in shell("approve", "--yes").output
    assert "AGREG" not in shell("reconcile").output
    assert "1 done" in shell("approve", "--only", greg.assignment_id, "--yes").output
    assert paid("AGREG") == [("reward", 20)]
    assert problems() == []


def test_a_forged_receipt_is_told(publish_run, worker, problems):
    publish_run()
    hal = worker("AHAL")
    form = hal.finish(hal.consent(hal.accept()))
    form.fields["receipt"] = "somebody.else"
    hal.submit(form)
    assert problems() == [("never_paid", False), ("receipt_of_another", False)]


def test_what_the_platform_approved_by_itself_is_written_down(
    publish_run, worker, shell, paid, control, problems
):
    publish_run()
    worker("AINGA").take_part()
    control("clock", advance_s=4 * 24 * 3600)
    assert problems() == [("judged_elsewhere", True)]
    assert problems("--fix") == []
    assert "Nothing is left" in shell("approve", "--yes").output
    assert paid("AINGA") == [("reward", 20)]


def compensations(worker) -> list[str]:
    groups = worker.site.get("/projects").json()["groups"]
    return [group["group_id"] for group in groups if group["title"].startswith("Compensation")]


def accept_compensation(worker) -> str:
    [group] = compensations(worker)
    accepted = worker.site.post(f"/projects/{group}/tasks/accept")
    frame = worker.site.get(accepted.headers["location"]).json()["frame"]
    parts = urlsplit(frame["address"])
    return f"{parts.path}?{parts.query}"


def test_who_finished_and_could_not_submit_is_compensated_once(
    publish_run, worker, shell, paid, ref_of, problems, client
):
    publish_run()
    jo = worker("AJO")
    jo.finish(jo.consent(jo.accept()))
    jo.give_back()
    assert problems() == [("finished_not_submitted", False)]
    pay = ("compensate", ref_of("AJO"), "--cents", "20", "--reason", "It broke.", "--yes")
    assert "only they can take it" in shell(*pay).output
    assert "only they can take it" in shell(*pay).output
    assert problems() == []
    stranger = worker("AKIM")
    assert compensations(stranger) == []
    page = client.get(accept_compensation(jo))
    assert "Hand this in to be paid" in page.text
    fields = {"assignmentId": parse_qs(urlsplit(page.request.url).query)["assignmentId"][0]}
    handed_in = jo.site.post("/mturk/externalSubmit", data={**fields, "receipt": "compensation"})
    assert handed_in.status_code == 200
    assert problems() == [("payment_intended", True)]
    assert "1 of 1 compensations are paid" in shell("approve", "--yes").output
    assert problems() == []
    assert paid("AJO") == [("reward", 20)]
