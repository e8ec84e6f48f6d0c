"""Bonuses: two steps, asynchronous, and paid again by each further call."""

import pytest


@pytest.fixture
def worked(stand_in) -> tuple[str, str]:
    """A study and its approved submission."""
    study = stand_in.study()
    ref = stand_in.person().work(study)
    stand_in.decide(ref, "APPROVE")
    return study, ref


def set_up(stand_in, study: str, csv: str) -> dict[str, object]:
    asked = {"study_id": study, "csv_bonuses": csv}
    return stand_in.call("POST", "/submissions/bonus-payments/", asked)


def pay(stand_in, setup: dict[str, object]) -> object:
    return stand_in.call("POST", f"/bulk-bonus-payments/{setup['id']}/pay/")


def test_setting_up_takes_major_units_pays_nothing_and_tells_minor_ones(stand_in, worked):
    study, ref = worked
    bonus = set_up(stand_in, study, f"{ref},0.50")
    assert [bonus[name] for name in ("amount", "fees", "vat", "total_amount")] == [50, 17, 4, 71]
    assert stand_in.submission(ref)["bonus_payments"] == []


def test_each_call_to_pay_pays_again(stand_in, worked):
    study, ref = worked
    setup = set_up(stand_in, study, f"{ref},0.50")
    for _ in range(2):
        pay(stand_in, setup)
    assert stand_in.submission(ref)["bonus_payments"] == [50, 50]


def test_participants_may_stand_for_their_submissions(stand_in, worked):
    study, ref = worked
    participant = stand_in.submission(ref)["participant"]
    pay(stand_in, set_up(stand_in, study, f"{participant},1.00"))
    assert stand_in.submission(ref)["bonus_payments"] == [100]


def test_thirty_is_thirty_pounds(stand_in, worked):
    study, ref = worked
    assert set_up(stand_in, study, f"{ref},30")["amount"] == 3000


@pytest.mark.parametrize(
    ("csv", "words"),
    [("", "needed"), ("REF,0", "no amount"), ("REF,0.505", "no amount"), ("REF,ten", "no amount"),
     ("0" * 24 + ",1.00", "Not in the study")],
)  # fmt: skip
def test_what_cannot_be_paid_is_not_set_up(stand_in, worked, csv, words):
    study, ref = worked
    asked = {"study_id": study, "csv_bonuses": csv.replace("REF", ref)}
    assert words in stand_in.refused("POST", "/submissions/bonus-payments/", asked)


def test_paying_takes_its_time_and_the_wallet_one_call_at_a_time(stand_in, worked):
    stand_in.control("workspace", bulk_s=60)
    study, ref = worked
    first, second = (set_up(stand_in, study, f"{ref},{amount}") for amount in ("0.50", "0.75"))
    pay(stand_in, first)
    assert stand_in.submission(ref)["bonus_payments"] == []
    where = f"/api/v1/bulk-bonus-payments/{second['id']}/pay/"
    busy = stand_in.api.post(where)
    assert (busy.status_code, busy.headers["Retry-After"]) == (429, "1")
    stand_in.clock.go_on(minutes=1)
    assert stand_in.submission(ref)["bonus_payments"] == [50]
    pay(stand_in, second)
    stand_in.clock.go_on(minutes=1)
    assert stand_in.submission(ref)["bonus_payments"] == [50, 75]


def test_accepted_and_silence(stand_in, worked):
    study, ref = worked
    stand_in.faults({"kind": "accepted_not_done", "operation": "pay-bonus-payments", "count": 1})
    setup = set_up(stand_in, study, f"{ref},0.50")
    pay(stand_in, setup)
    stand_in.clock.go_on(days=1)
    assert stand_in.submission(ref)["bonus_payments"] == []


def test_an_empty_wallet_pays_no_bonus(stand_in, worked):
    study, ref = worked
    setup = set_up(stand_in, study, f"{ref},0.50")
    stand_in.control("workspace", deposited_minor=0)
    refused = stand_in.refused("POST", f"/bulk-bonus-payments/{setup['id']}/pay/")
    assert "not enough money" in refused


def test_whoever_ran_out_of_time_can_be_paid_a_bonus(stand_in):
    study = stand_in.study()
    ref = stand_in.person().begin(study)
    stand_in.clock.go_on(hours=1)
    pay(stand_in, set_up(stand_in, study, f"{ref},1.50"))
    assert stand_in.submission(ref)["bonus_payments"] == [150]
