"""Bonuses: two steps, asynchronous, and paid again by each further call."""

import pytest


@pytest.fixture
def worked(town) -> tuple[str, str]:
    """A study and its approved submission."""
    study = town.study()
    ref = town.person().work(study)
    town.decide(ref, "APPROVE")
    return study, ref


def set_up(town, study: str, csv: str) -> dict[str, object]:
    asked = {"study_id": study, "csv_bonuses": csv}
    return town.call("POST", "/submissions/bonus-payments/", asked)


def pay(town, setup: dict[str, object]) -> object:
    return town.call("POST", f"/bulk-bonus-payments/{setup['id']}/pay/")


def test_setting_up_takes_major_units_pays_nothing_and_tells_minor_ones(town, worked):
    study, ref = worked
    told = set_up(town, study, f"{ref},0.50")
    assert [told[name] for name in ("amount", "fees", "vat", "total_amount")] == [50, 17, 4, 71]
    assert town.submission(ref)["bonus_payments"] == []


def test_each_call_to_pay_pays_again(town, worked):
    study, ref = worked
    setup = set_up(town, study, f"{ref},0.50")
    for _ in range(2):
        pay(town, setup)
    assert town.submission(ref)["bonus_payments"] == [50, 50]


def test_participants_may_stand_for_their_submissions(town, worked):
    study, ref = worked
    participant = town.submission(ref)["participant"]
    pay(town, set_up(town, study, f"{participant},1.00"))
    assert town.submission(ref)["bonus_payments"] == [100]


def test_thirty_is_thirty_pounds(town, worked):
    study, ref = worked
    assert set_up(town, study, f"{ref},30")["amount"] == 3000


@pytest.mark.parametrize(
    ("csv", "words"),
    [("", "needed"), ("REF,0", "no amount"), ("REF,0.505", "no amount"), ("REF,ten", "no amount"),
     ("0" * 24 + ",1.00", "Not in the study")],
)  # fmt: skip
def test_what_cannot_be_paid_is_not_set_up(town, worked, csv, words):
    study, ref = worked
    asked = {"study_id": study, "csv_bonuses": csv.replace("REF", ref)}
    assert words in town.refused("POST", "/submissions/bonus-payments/", asked)


def test_paying_takes_its_time_and_the_wallet_one_call_at_a_time(town, worked):
    town.control("workspace", bulk_s=60)
    study, ref = worked
    first, second = (set_up(town, study, f"{ref},{amount}") for amount in ("0.50", "0.75"))
    pay(town, first)
    assert town.submission(ref)["bonus_payments"] == []
    where = f"/api/v1/bulk-bonus-payments/{second['id']}/pay/"
    busy = town.api.post(where)
    assert (busy.status_code, busy.headers["Retry-After"]) == (429, "1")
    town.clock.go_on(minutes=1)
    assert town.submission(ref)["bonus_payments"] == [50]
    pay(town, second)
    town.clock.go_on(minutes=1)
    assert town.submission(ref)["bonus_payments"] == [50, 75]


def test_accepted_and_silence(town, worked):
    study, ref = worked
    town.faults({"kind": "accepted_not_done", "operation": "pay-bonus-payments", "count": 1})
    setup = set_up(town, study, f"{ref},0.50")
    pay(town, setup)
    town.clock.go_on(days=1)
    assert town.submission(ref)["bonus_payments"] == []


def test_an_empty_wallet_pays_no_bonus(town, worked):
    study, ref = worked
    setup = set_up(town, study, f"{ref},0.50")
    town.control("workspace", deposited_minor=0)
    refused = town.refused("POST", f"/bulk-bonus-payments/{setup['id']}/pay/")
    assert "not enough money" in refused


def test_whoever_ran_out_of_time_can_be_paid_a_bonus(town):
    study = town.study()
    ref = town.person().begin(study)
    town.clock.go_on(hours=1)
    pay(town, set_up(town, study, f"{ref},1.50"))
    assert town.submission(ref)["bonus_payments"] == [150]
