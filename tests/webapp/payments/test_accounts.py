"""What somebody is owed and got, by the ledger, the platform and the study's rule."""

import pytest

from tests.webapp.payments.by_hand import NOW, account, line, study, work
from webapp.payments.accounts import list_account_names
from webapp.payments.reconciliation.statement import (
    Statement,
    build_statements,
    compute_owed_minor,
    compute_platform_pay_minor,
    sum_paid_minor,
)

DONE, REFUSED, INTENDED = ({"state": state} for state in ("done", "refused", "intended"))
REWARD, REJECTION, COMPENSATION = (
    {"kind": kind, "id": number}
    for number, kind in enumerate(("reward", "rejection", "compensation"))
)


@pytest.mark.parametrize(
    ("lines", "status", "is_"),
    [
        ((), "submitted", "waits"),
        ((), "approved", "approved"),
        ((), "screened_out", "approved"),
        ((), "partially_approved", "approved"),
        ((), "rejected", "rejected"),
        ((), None, ""),
        (({**REWARD, **DONE},), "submitted", "approved"),
        (({**REWARD, **INTENDED},), "submitted", "waits"),
        (({**REWARD, "state": "withdrawn"},), "submitted", "waits"),
        (({**REJECTION, **DONE},), "submitted", "rejected"),
        (({**REJECTION, **INTENDED},), "submitted", "rejected"),
        (({**REJECTION, **REFUSED},), "submitted", "waits"),
        (({**REJECTION, "state": "withdrawn"},), "approved", "approved"),
        (({**REJECTION, **DONE}, {**REWARD, **DONE}), "rejected", "approved rejected"),
        (({**COMPENSATION, "assignment": "WORK9", **DONE},), None, "compensated"),
        (({**COMPENSATION, "assignment": "WORK9", **INTENDED},), None, ""),
        (({**COMPENSATION, "assignment": "WORK9", **DONE},), "submitted", "compensated"),
    ],
)
def test_who_was_paid_rejected_or_waits(lines, status, is_):
    found = account(*(line(**each) for each in lines), status=status)
    assert found.approved == ("approved" in is_) and found.rejected == ("rejected" in is_)
    assert found.awaits_pay == (is_ == "waits")
    paid = {"approved": "WORK1", "compensated": "WORK9"}
    assert found.paid_assignment == paid.get(is_.partition(" ")[0])
    unfinished = account(*found.payments, status=status, finished=False)
    assert not unfinished.awaits_pay


@pytest.mark.parametrize(
    ("lines", "reported", "shown"),
    [
        ((), "submitted", "submitted"),
        ((), None, None),
        (({**REWARD, **INTENDED},), "submitted", "submitted"),
        (({**REWARD, **REFUSED},), "submitted", "submitted"),
        (({**REWARD, **DONE},), "submitted", "approved"),
        (({**REWARD, **DONE},), "partially_approved", "partially_approved"),
        (({**REJECTION, **INTENDED},), "submitted", "submitted"),
        (({**REJECTION, **DONE},), "submitted", "rejected"),
        (({**REJECTION, "state": "withdrawn"},), "submitted", "approved"),
        (({**REJECTION, **DONE}, {**REWARD, **DONE}), "rejected", "approved"),
        (({**COMPENSATION, "assignment": "WORK9", **DONE},), "submitted", "submitted"),
    ],
)
def test_the_status_at_the_platform_includes_what_was_done_since_its_last_report(
    lines, reported, shown
):
    found = account(*(line(**each) for each in lines), status=reported)
    assert found.platform_status == shown


def test_what_is_asked_of_a_rule_is_nothing_of_whom_asked_not_to_be_judged():
    assert account().bonus_candidate.kept is True and not account().is_restricted
    restricted = account(restricted=NOW)
    assert restricted.bonus_candidate.kept is None and restricted.is_restricted
    assert list_account_names(account()) == {"ref1", "code1", "WORK1"}
    assert list_account_names(account(status=None)) == {"ref1", "code1"}


@pytest.mark.parametrize(
    ("status", "finished", "lines", "paid", "owed"),
    [
        ("submitted", True, (), None, 25),
        ("submitted", False, (), None, 0),
        (None, True, (), None, 25),
        (None, False, (), None, 0),
        ("rejected", True, (), None, 0),
        ("rejected", True, ({**REWARD, **DONE},), None, 25),
        ("screened_out", False, (), None, 7),
        ("screened_out", True, (), None, 7),
        ("partially_approved", False, (), 8, 8),
        ("partially_approved", False, (), None, 0),
        ("partially_approved", True, (), 8, 13),
        ("partially_approved", True, (), None, 5),
        ("submitted", False, (), 8, 0),
    ],
)
def test_what_the_rule_owes(status, finished, lines, paid, owed):
    found = account(*(line(**each) for each in lines), status=status, finished=finished)
    if found.assignment is not None:
        found.assignment.paid_minor = paid
    recruitment = study().recruitment.model_copy(update={"screen_out_reward": "0.07"})
    everyone = study("everyone", "0.05").model_copy(update={"recruitment": recruitment})
    assert compute_owed_minor(found, everyone) == owed


def test_an_undecided_rule_owes_nobody_knows_what():
    kept = study("kept", "0.05")
    assert compute_owed_minor(account(kept=None), kept) is None
    assert compute_owed_minor(account(kept=False), kept) == 20
    assert compute_owed_minor(account(kept=True), kept) == 25
    assert compute_owed_minor(account(kept=None, finished=False), kept) == 0


@pytest.mark.parametrize(
    ("status", "paid", "stated"),
    [
        ("approved", None, 20), ("approved", 0, 0), ("approved", 9, 9), ("screened_out", None, 7),
        ("partially_approved", None, 0), ("rejected", None, 0), ("submitted", None, 0),
        ("submitted", 20, 20),
    ],
)  # fmt: skip
def test_what_the_platform_says_that_it_paid(status, paid, stated):
    assert compute_platform_pay_minor(work(status, paid_minor=paid), 20, 7) == stated


def test_only_what_is_done_and_no_rejection_is_paid():
    lines = [line(minor=1), line("bonus", minor=2), line("compensation", minor=4)]
    undone = [line(state=state, minor=8) for state in ("refused", "unknown", "withdrawn")]
    assert sum_paid_minor([*lines, *undone, line("rejection", minor=16)]) == 7


def test_everybody_has_one_statement_and_each_amount_stands_in_one():
    first, second = account(line()), account(id=2, status=None, finished=False)
    nameless = account(line("bonus", minor=3, worker_id="AWORKER5"), id=3)
    nameless.participant.platform_id = None
    stranger = line(minor=9, worker_id="AWORKER8", assignment=None, participant_id=None)
    on_work = line(minor=1, worker_id="AWORKER9", assignment="WORK9", participant_id=None)
    ledger = [line(), line("bonus", minor=5), stranger, on_work]
    people = (first, second, nameless)
    assert build_statements(people, ledger, study()) == [
        Statement("ref1", 20, 25, "USD"), Statement("ref2", 0, 0, "USD"),
        Statement("ref3", 20, 3, "USD"), Statement(stranger.token[:12], 0, 9, "USD"),
        Statement("WORK9", 0, 1, "USD"),
    ]  # fmt: skip
    there = {"AWORKER1": 25, "AWORKER2": 0, "AWORKER8": 4, "AWORKER7": 2, "AWORKER6": 0}
    assert [each.platform_minor for each in build_statements(people, ledger, study(), there)] == [
        25, 0, 0, 4, 0, 2,
    ]  # fmt: skip
    stranger_there = Statement("(no participant)", 0, 0, "USD", 2)
    assert build_statements((), (), study(), {"AWORKER7": 2}) == [stranger_there]


def test_a_statement_agrees_or_is_short_to_the_smallest_unit():
    assert Statement("p", 20, 20, "USD").agrees and Statement("p", 20, 20, "USD", 20).agrees
    assert (
        not Statement("p", 20, 20, "USD", 19).agrees and not Statement("p", 0, 1, "USD", 0).agrees
    )
    assert [Statement("p", owed, 20, "USD").is_short for owed in (None, 19, 20, 21)] == [
        False, False, False, True,
    ]  # fmt: skip
