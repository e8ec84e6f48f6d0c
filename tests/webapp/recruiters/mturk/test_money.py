"""Money on the marketplace: reviewed, approved, bonused, rejected, compensated, reconciled."""

import json
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from experiment.payment.payment import PaymentError
from tests.patience import PATIENCE_S
from tests.webapp.recruiters.mturk.conftest import accept_compensation, compensations
from webapp.errors import RunError

pytestmark = pytest.mark.one_database


@pytest.fixture
def control(endpoint):
    """Return a function that sets faults or moves the marketplace's clock."""

    def post(address: str, **body: object) -> None:
        answer = httpx.post(
            f"{endpoint}/control/{address}", json=body, trust_env=False, timeout=PATIENCE_S
        )
        assert answer.status_code == 200, answer.text

    yield post
    post("faults", faults=[])


def test_everyone_who_finished_is_paid_once_and_the_run_reconciles_clean(
    publish_run, worker, shell, paid
):
    publish_run()
    for name in ("AMANN", "AMBEA"):
        worker(name).take_part()
    before = shell("reconcile", "--json")
    assert before.exit_code == 1
    assert {found["problem"] for found in json.loads(before.output)} == {"never_paid"}
    assert "2 finished, submitted and not yet paid" in shell("review").output
    first = shell("approve", ask="y\n")
    assert "2 in all: $0.40, with the platform's fee $0.48" in first.output
    assert "2 done" in first.output
    assert "There is nothing left to do" in shell("approve", "--yes").output
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
    assert (
        "1 more can get their bonus"
        in shell("bonus", "--file", bonus_file("ABCECIL", "0.50", "Fine")).output
    )
    shell("approve", "--yes")
    control("faults", faults=[{"kind": "reply_lost", "operation": "SendBonus"}])
    lost = shell("bonus", "--file", bonus_file("ABCECIL", "0.50", "Fine"), "--yes")
    assert isinstance(lost.exception, RunError)
    assert "nothing is paid twice" in str(lost.exception)
    control("faults", faults=[])
    control("clock", advance_s=30 * 3600)
    assert problems() == [("payment_unknown", True)]
    assert problems("--fix") == []
    again = shell("bonus", "--file", bonus_file("ABCECIL", "0.50", "Fine"), "--yes")
    assert "There is nothing left" in again.output
    assert paid("ABCECIL") == [("reward", 20), ("bonus", 50)]


def test_a_bonus_beyond_the_cap_is_refused_before_anything_is_asked(
    publish_run, worker, shell, paid, bonus_file
):
    publish_run()
    worker("ADORA").take_part()
    shell("approve", "--yes")
    refused = shell("bonus", "--file", bonus_file("ADORA", "50", "A slip of the finger"))
    assert isinstance(refused.exception, PaymentError)
    assert "$50.20 in all" in str(refused.exception)
    assert paid("ADORA") == [("reward", 20)]


def test_a_bonus_that_the_balance_does_not_cover_is_refused_and_rewards_were_set_aside(
    publish_run, worker, shell, paid, control, bonus_file, platform
):
    publish_run()
    worker("ALENA").take_part()
    balance_minor = platform.balance_minor()
    control("deposit", cents=-balance_minor)
    assert "1 done" in shell("approve", "--yes").output
    refused = shell("bonus", "--file", bonus_file("ALENA", "0.50", "Fine"), "--yes")
    control("deposit", cents=balance_minor)
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
    assert "already rejected" in str(turned.exception)
    assert "There is nothing left" in shell("approve", "--yes").output
    assert "0 finished, submitted and not yet paid" in shell("review").output
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
    assert "There is nothing left" in shell("approve", "--yes").output
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
    assert problems() == [("reviewed_elsewhere", True)]
    assert problems("--fix") == []
    assert "There is nothing left" in shell("approve", "--yes").output
    assert paid("AINGA") == [("reward", 20)]


def test_who_finished_and_could_not_submit_is_compensated_once(
    publish_run, worker, shell, paid, ref_of, problems, client
):
    publish_run()
    jo = worker("AJO")
    jo.finish(jo.consent(jo.accept()))
    jo.give_back()
    assert problems() == [("finished_not_submitted", False)]
    pay = ("compensate", ref_of("AJO"), "--amount", "0.20", "--reason", "It broke.", "--yes")
    assert "visible to this person only" in shell(*pay).output
    assert "visible to this person only" in shell(*pay).output
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


def test_whoever_had_everything_erased_is_paid_all_the_same(
    publish_run, worker, visit, shell, paid, ref_of, problems
):
    publish_run()
    handed_in, half_way = worker("ADONE"), worker("AHALF")
    home = handed_in.consent(handed_in.accept())
    form = handed_in.finish(home)
    handed_in.submit(form)
    handed_in.study.post(f"{home}withdraw", data={"wish": "erase"})
    other = visit(half_way.consent(half_way.accept()))
    other.answer(1)
    other.client.post(f"{other.home}withdraw", data={"wish": "erase"})
    assert "return the task" in other.page().text
    half_way.give_back()
    shell("approve", "--yes")
    assert paid("ADONE") == [("reward", 20)]
    # Who stopped half-way is paid what the consent text promises, through the one way there is.
    offered = shell(
        "compensate", ref_of("AHALF"), "--amount", "0.20", "--reason", "You stopped.", "--yes"
    )
    assert offered.exit_code == 0, offered.output
    assert len(compensations(half_way)) == 1
    assert problems() == []
