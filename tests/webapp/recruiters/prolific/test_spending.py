"""The statement of spending equals the platform's books to the minor unit."""

import csv
from collections import Counter

import pytest

from tests.webapp.recruiters.prolific.test_second_ledger import by_hand
from tests.webapp.restoring import copied_with_ledger

pytestmark = pytest.mark.one_database


@pytest.fixture
def more() -> str:
    return '[payment]\nfunder = "=Grant 17"\n'


@pytest.fixture
def stated(lab, shell, tmp_path):
    """Return a function that gives the lines of the statement, and leaves the page beside it."""

    def read() -> list[dict[str, str]]:
        out = tmp_path / "statement"
        said = shell("statement", lab.run.ref, "--out", str(out))
        assert said.exit_code == 0, (said.output, said.exception)
        with (out / "statement.csv").open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    return read


def books(stand_in) -> Counter[tuple[str, int, int]]:
    """What the platform took: kind, amount, and fee with tax."""
    found = stand_in.web.get("/control/payments").json()["payments"]
    kinds = {"reward": "reward", "bonus": "bonus"}
    return Counter(
        (kinds[each["kind"]], each["amount_minor"], each["fee_minor"] + each["tax_minor"])
        for each in found
    )


def spent(lines) -> Counter[tuple[str, int, int]]:
    return Counter(
        (
            "bonus" if line["kind"] == "compensation" else line["kind"],
            int(line["amount_minor"]),
            int(line["fee_minor"]),
        )
        for line in lines
        if line["standing"].startswith("paid")
    )


def test_what_we_paid_and_what_was_paid_by_hand_add_up_to_the_platforms_books(
    lab, stand_in, shell, bonus_file, stated, clock, tmp_path
):
    stand_in.control("workspace", fee_per_mille=333, tax_percent=20)
    study = lab.publish()
    ours, theirs = lab.hand_in(study), lab.hand_in(study)
    stand_in.decide(theirs, "APPROVE")
    owed = [line for line in stated() if line["standing"] == "to be paid"]
    assert [(line["kind"], line["amount_minor"]) for line in owed] == [("owed", "20")]
    only = ("approve", lab.run.ref, "--only", lab.ref_of(ours), "--yes")
    assert shell(*only).exit_code == 0
    assert shell("bonus", lab.run.ref, "--file", bonus_file(ours, "0.25"), "--yes").exit_code == 0
    by_hand(stand_in, theirs, "0.07")
    lines = stated()
    assert spent(lines) == books(stand_in)
    assert {line["funder"] for line in lines} == {"'=Grant 17"}
    assert {(line["kind"], line["standing"]) for line in lines if line["by"] == "elsewhere"} == {
        ("reward", "paid, not in the ledger"),
        ("bonus", "paid, not in the ledger"),
    }
    page = (tmp_path / "statement" / "statement.html").read_text(encoding="utf-8")
    total_minor = sum(int(line["total_minor"]) for line in lines)
    assert f"${total_minor / 100:.2f}" in page
    assert "=Grant 17" in page and "On the platform, and not in the ledger" in page
    shell("reconcile", lab.run.ref, "--fix")
    assert spent(stated()) == books(stand_in)
    assert {line["standing"] for line in stated()} == {"paid"}
    assert Counter(line["by"] for line in stated()) == {"parallax": 2, "elsewhere": 2}
    # Who is forgotten was paid all the same.
    assert shell("forget", lab.ref_of(ours), "--yes").exit_code == 0
    assert spent(stated()) == books(stand_in)
    assert "(forgotten)" in {line["payee"] for line in stated()}


def test_compensation_and_what_is_in_doubt_are_told_apart(lab, stand_in, shell, stated, clock):
    submission, _ = lab.work(lab.publish())
    clock.go_on(hours=2)
    lab.report()
    lab.poll()
    why = ("--amount", "0.20", "--reason", "Your time was over.", "--yes")
    stand_in.faults({"kind": "accepted_not_done", "operation": "pay-bonus-payments", "count": 1})
    shell("compensate", lab.run.ref, lab.ref_of(submission), *why)
    [line] = stated()
    assert (line["kind"], line["standing"], line["amount_minor"]) == (
        "compensation",
        "in doubt",
        "20",
    )
    assert shell("settle", lab.run.ref, "1", "--not-paid").exit_code == 0
    shell("reconcile", lab.run.ref, "--fix")
    [line] = stated()
    assert line["standing"] == "paid"
    assert spent([line]) == books(stand_in)


def test_without_a_run_every_published_one_is_stated_and_nothing_is_no_error(lab, shell):
    assert "Nothing was paid, and nothing is owed." in shell("statement").output
    lab.hand_in(lab.publish())
    assert shell("approve", lab.run.ref, "--yes").exit_code == 0
    said = shell("statement").output
    assert lab.run.ref in said
    assert "=Grant 17: $0." in said


def test_compensation_that_an_older_backup_does_not_know_is_stated_and_not_paid_again(
    lab, stand_in, shell, stated, clock, sessions, instance
):
    submission, _ = lab.work(lab.publish())
    clock.go_on(hours=2)
    lab.report()
    lab.poll()
    put_back = copied_with_ledger(sessions, instance)
    why = ("--amount", "0.20", "--reason", "Your time was over.", "--yes")
    compensate = ("compensate", lab.run.ref, lab.ref_of(submission), *why)
    assert shell(*compensate).exit_code == 0
    paid = books(stand_in)
    put_back()
    # The work had timed out: such work is looked at, too.
    assert "bonus_elsewhere" in shell("reconcile", lab.run.ref).output
    assert spent(stated()) == paid
    assert "missing from the ledger" in str(shell(*compensate).exception)
    shell("reconcile", lab.run.ref, "--fix")
    assert spent(stated()) == paid == books(stand_in)
