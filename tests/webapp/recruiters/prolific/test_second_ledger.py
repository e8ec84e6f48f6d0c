"""The platform is the second ledger: what it shows decides where ours is incomplete."""

import pytest

from tests.webapp import restoring
from webapp.payments import non_idempotent_bonuses

pytestmark = pytest.mark.one_database


@pytest.fixture
def copied(instance):
    """Return a function that copies the database with what lies beside it."""
    return lambda sessions: restoring.copied_with_ledger(sessions, instance)


def by_hand(stand_in, submission: str, amount: str) -> None:
    """Pay a bonus as a colleague does on the platform's own pages."""
    study = stand_in.submission(submission)["study_id"]
    asked = {"study_id": study, "csv_bonuses": f"{submission},{amount}"}
    made = stand_in.call("POST", "/submissions/bonus-payments/", asked)
    stand_in.call("POST", f"/bulk-bonus-payments/{made['id']}/pay/")


def bonuses(stand_in) -> list[int]:
    return [amount for kind, _, amount in stand_in.payments() if kind == "bonus"]


@pytest.fixture
def submission(lab, shell) -> str:
    """A submission whose reward is paid."""
    submission = lab.hand_in(lab.publish())
    assert shell("approve", lab.run.ref, "--yes").exit_code == 0
    return submission


def test_a_bonus_that_an_older_backup_forgot_is_not_paid_again(
    lab, copied, sessions, stand_in, submission, shell, bonus_file, problems
):
    bonus = ("bonus", lab.run.ref, "--file", bonus_file(submission, "0.25"), "--yes")
    restore = copied(sessions)
    assert shell(*bonus).exit_code == 0
    restore()
    assert lab.ledger() == [("reward", 20, "done")]
    refused = str(shell(*bonus).exception)
    assert "shows a bonus of $0.25 for the same work that is missing from the ledger" in refused
    assert f"parallax reconcile {lab.run.ref} --fix" in refused
    assert bonuses(stand_in) == [25]
    # Written down as somebody's, it still is not paid again before a person decides.
    assert problems("--fix") == [("payment_refused", False)]
    assert "already received a bonus paid by hand" in shell(*bonus).output
    assert bonuses(stand_in) == [25]
    assert shell("settle", lab.run.ref, "2", "--paid").exit_code == 0
    assert problems() == []
    assert "There is nothing left to do" in shell(*bonus[:4], "--additional", "--yes").output
    assert bonuses(stand_in) == [25]


def test_a_backup_from_between_the_order_and_its_answer_pays_nothing_again(
    lab, copied, sessions, stand_in, clock, submission, shell, bonus_file, problems
):
    bonus = ("bonus", lab.run.ref, "--file", bonus_file(submission, "0.25"), "--yes")
    stand_in.faults({"kind": "request_lost", "operation": "create-bonus-payments", "count": 1})
    shell(*bonus)
    restore = copied(sessions)  # the line is there, and nothing was ordered
    clock.go_on(hours=1)
    shell(*bonus)
    restore()
    for _ in range(2):
        clock.go_on(hours=1)
        shell(*bonus)
        problems("--fix")
    assert bonuses(stand_in) == [25]


def test_a_bonus_that_the_platform_never_made_is_not_taken_for_a_colleagues(
    lab, stand_in, submission, shell, bonus_file, problems
):
    by_hand(stand_in, submission, "0.60")
    assert problems("--fix") == []
    stand_in.faults({"kind": "accepted_not_done", "operation": "pay-bonus-payments", "count": 1})
    bonus = ("bonus", lab.run.ref, "--file", bonus_file(submission, "0.60"), "--additional")
    shell(*bonus, "--yes")
    assert lab.ledger()[1:] == [("bonus", 60, "done"), ("bonus", 60, "unknown")]
    assert ("payment_unknown", True) in problems("--fix")
    assert bonuses(stand_in) == [60]
    assert shell("settle", lab.run.ref, "3", "--not-paid").exit_code == 0
    assert shell(*bonus, "--yes").exit_code == 0
    assert bonuses(stand_in) == [60, 60]
    assert problems() == []


@pytest.mark.parametrize("written_down", [False, True])
@pytest.mark.parametrize("amount", ["0.40", "0.15"])
def test_a_colleagues_bonus_stops_ours_until_somebody_decides(
    lab, stand_in, submission, shell, bonus_file, problems, written_down, amount
):
    by_hand(stand_in, submission, amount)
    if written_down:
        assert problems("--fix") == []
    bonus = ("bonus", lab.run.ref, "--file", bonus_file(submission, "0.40"))
    shell(*bonus, "--yes")
    assert len(bonuses(stand_in)) == 1
    problems("--fix")
    assert len(bonuses(stand_in)) == 1
    assert shell(*bonus, "--additional", "--yes").exit_code == 0
    assert sorted(bonuses(stand_in)) == sorted([40, round(float(amount) * 100)])
    assert problems() == []


@pytest.mark.parametrize(
    "more", ['[payment]\ncurrency = "USD"\nbonus = "everyone"\nbonus_amount = "0.05"\n']
)
def test_whom_a_colleague_paid_is_left_out_of_the_rules_bonuses_by_name(
    lab, stand_in, submission, shell, problems
):
    by_hand(stand_in, submission, "0.05")
    problems("--fix")
    told = shell("bonus", lab.run.ref, "--yes").output
    assert "1 already received a bonus paid by hand" in told
    assert lab.ref_of(submission) in told
    assert bonuses(stand_in) == [5]
    assert problems() == []
    assert shell("bonus", lab.run.ref, "--additional", "--yes").exit_code == 0
    assert bonuses(stand_in) == [5, 5]


@pytest.mark.parametrize("launched", [True, False])
def test_places_that_an_older_backup_forgot_are_not_offered_again(
    lab, copied, sessions, stand_in, shell, problems, launched
):
    restore = copied(sessions)

    def publish_in_vain() -> None:
        stand_in.faults({"kind": "request_lost", "operation": "publish-study", "count": 9})
        shell("publish", lab.run.ref, "--yes")
        stand_in.faults()

    if not launched:
        publish_in_vain()
    study = lab.publish() if launched else stand_in.call("GET", "/studies/")["results"][0]["id"]
    restore()
    if not launched:
        publish_in_vain()  # it is written down again, and as closed as before
    assert lab.publish() == study
    assert [one["id"] for one in stand_in.call("GET", "/studies/")["results"]] == [study]
    assert stand_in.call("GET", f"/studies/{study}/")["status"] == "ACTIVE"
    # Who comes from it is admitted, and paid once.
    submission = lab.hand_in(study)
    assert shell("approve", lab.run.ref, "--yes").exit_code == 0
    assert stand_in.payments() == [("reward", submission, 20)]
    assert problems() == []
    assert "nothing to" in shell("publish", lab.run.ref, "--yes").output.lower()


def test_a_colleague_who_pays_between_the_reading_and_the_order_is_seen_before_it_is_sent(
    stand_in, submission, shell, bonus_file, problems, monkeypatch, lab
):
    set_up = non_idempotent_bonuses._set_up_bonus

    def meanwhile(*arguments: object) -> str:
        made = set_up(*arguments)
        by_hand(stand_in, submission, "0.40")
        return made

    monkeypatch.setattr(non_idempotent_bonuses, "_set_up_bonus", meanwhile)
    bonus = ("bonus", lab.run.ref, "--file", bonus_file(submission, "0.40"))
    refused = str(shell(*bonus, "--yes").exception)
    assert "of the same amount was paid for the same work at this moment" in refused
    assert bonuses(stand_in) == [40]
    assert lab.ledger()[1:] == [("bonus", 40, "refused")]
    problems("--fix")
    assert bonuses(stand_in) == [40]
    assert shell("settle", lab.run.ref, "2", "--paid").exit_code == 0
    # The line that was due stands as paid, and the sum is what the platform shows.
    assert lab.ledger()[1:] == [("bonus", 40, "done"), ("bonus", 40, "withdrawn")]
    assert problems() == []


def test_compensation_that_an_older_backup_forgot_becomes_the_one_that_stands_there(
    lab, copied, sessions, stand_in, clock, shell, problems
):
    submission, _ = lab.work(lab.publish())
    clock.go_on(hours=2)
    lab.report()
    lab.poll()
    why = ("--amount", "0.20", "--reason", "The time was over.", "--yes")
    pay = ("compensate", lab.run.ref, lab.ref_of(submission), *why)
    restore = copied(sessions)
    assert shell(*pay).exit_code == 0
    restore()
    shell(*pay)
    problems("--fix")
    assert bonuses(stand_in) == [20]
    assert shell("settle", lab.run.ref, "1", "--paid").exit_code == 0
    assert problems() == []
    assert ("compensation", 20, "done") in lab.ledger()
