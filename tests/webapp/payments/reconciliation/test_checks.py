"""What each check tells of a ledger made by hand, and what mending may do by itself."""

from types import SimpleNamespace as Some

import pytest

from experiment.payment.payment import PaymentItem, PaymentKind
from tests.webapp.payments.by_hand import NOW, account, line, snapshot, work
from webapp.payments.reconciliation import payment_checks as money
from webapp.payments.reconciliation.statement import Statement
from webapp.recruiters.platform import Bonus

BY_HAND = {"kind": "bonus", "called_at": None, "id": 9}


def told(check, *payments, **fields):
    """Return each problem, whose it is, and whether mending may do it."""
    return [(each.problem, each.who, each.safe) for each in check(snapshot(*payments, **fields))]


@pytest.mark.parametrize(
    ("fields", "status", "beside", "safe", "next_"),
    [
        ({"state": "done"}, "submitted", (), None, ""),
        ({"state": "withdrawn"}, "submitted", (), None, ""),
        ({"state": "intended", "assignment": None}, "submitted", (), None, ""),
        ({"state": "intended"}, "submitted", (), True, "--fix asks"),
        ({"state": "unknown", "id": 5}, "submitted", (), False, "again in five minutes"),
        ({"state": "ordered", "kind": "bonus", "ordered_at": NOW}, "approved", (), True, "settle"),
        ({"state": "refused"}, "rejected", (), False, "--undo-rejection"),
        ({"state": "refused", "kind": "bonus"}, "rejected", (), True, "--fix asks"),
        ({"state": "refused", "kind": "rejection"}, "submitted", (), False, "or reject again"),
        ({"state": "refused", "kind": "rejection"}, "approved", (), None, ""),
        ({"state": "intended", "kind": "rejection"}, "approved", (), True, "--fix asks"),
        ({"state": "refused", "kind": "bonus"}, "approved", (BY_HAND,), False, "--additional"),
        ({"state": "unknown", "kind": "bonus"}, "approved", (BY_HAND,), True, "--fix asks"),
        ({"state": "refused", "kind": "bonus"}, "approved", ({**BY_HAND, "called_at": NOW},),
         True, "--fix asks"),
        ({"state": "refused", "kind": "bonus", "ordered_at": NOW}, "approved", (BY_HAND,),
         True, "settle"),
    ],
)  # fmt: skip
def test_what_is_not_settled_says_what_is_next_and_whether_mending_does_it(
    fields, status, beside, safe, next_
):
    seen = snapshot(
        line(**fields), *(line(**each) for each in beside), works=[work(status)],
        claimed=frozenset({5}), accounts=[account()],
    )  # fmt: skip
    found = list(money.check_unsettled(seen))
    assert [each.safe for each in found] == ([] if safe is None else [safe])
    assert all(next_ in each.remedy and each.who == "ref1" for each in found)
    for each in found:
        assert ("moment ago" in each.detail) == (fields.get("id") == 5)
        assert each.detail.startswith("a rejection " if fields.get("kind") == "rejection" else
                                      f"a {fields.get('kind', 'reward')} of $0.20 ")  # fmt: skip
        assert ":" not in each.detail


def test_what_the_platform_answered_is_told():
    [found] = money.check_unsettled(snapshot(line(state="refused", answer="no money")))
    assert found.detail == "a reward of $0.20 was refused by the platform: no money"


def test_a_decision_that_the_ledger_lacks_is_told_once_and_a_second_one_as_paid_twice():
    works = [
        work("approved", 1), work("approved", 2, 1), work("submitted", 3), work("rejected", 4, 1),
        work("rejected", 5, 1), work("approved", 6, None), work("approved", 7, None),
        work("screened_out", 8, 8),
    ]  # fmt: skip
    assert told(money.check_outside_decisions, line(), works=works, accounts=[account()]) == [
        ("paid_twice", "ref1", True),
        ("reviewed_elsewhere", "ref1", True),
        ("reviewed_elsewhere", "ref1", True),
        ("reviewed_elsewhere", "WORK6", True),
        ("reviewed_elsewhere", "WORK7", True),
        ("reviewed_elsewhere", "WORK8", True),
    ]
    kinds = [kind for _, kind, _ in money.find_unrecorded_decisions(snapshot(line(), works=works))]
    assert kinds == ["reward", "rejection", "rejection", "reward", "reward", "screen_out"]


def test_a_bonus_listed_twice_or_in_no_line_is_told():
    by_hand = Bonus("AWORKER1", "WORK1", 7, "From the site")
    item = PaymentItem("WORK1", PaymentKind.BONUS, 7, "From the site", "elsewhere\x1f")
    bonuses = [line("bonus", id=number) for number in (1, 2, 3)]
    twice = told(
        money.check_unexpected_bonuses, *bonuses, line("reward", id=4, participant_id=None),
        accounts=[account()], works=[work()], shown={1: 2, 2: 1, 4: 2}, elsewhere=[(by_hand, item)],
    )  # fmt: skip
    assert twice == [("paid_twice", "ref1", False), ("bonus_elsewhere", "ref1", True)]


@pytest.mark.parametrize(
    ("payment", "status", "shown", "missing"),
    [
        ({}, "approved", 0, False),
        ({}, "submitted", 0, True),
        ({}, "rejected", 0, True),
        ({"called_at": None}, "submitted", 0, False),
        ({"state": "unknown"}, "submitted", 0, False),
        ({"assignment": "WORK7"}, "submitted", 0, False),
        ({"kind": "compensation"}, "approved", 0, False),
        ({"kind": "rejection"}, "rejected", 0, False),
        ({"kind": "rejection"}, "submitted", 0, True),
        ({"kind": "bonus"}, "approved", 0, True),
        ({"kind": "bonus"}, "approved", 1, False),
    ],
)
def test_what_the_ledger_alone_calls_done(payment, status, shown, missing):
    seen = snapshot(line(**payment), works=[work(status)], shown={1: shown})
    assert [each.problem for each in money.check_recorded_not_made(seen)] == missing * [
        "recorded_not_made"
    ]


@pytest.mark.parametrize(("state", "undone"), [("done", True), ("refused", False)])
def test_a_rejection_that_a_reward_undid_is_not_missed(state, undone):
    lines = [line("rejection"), line(id=2, state=state, called_at=None)]
    found = told(money.check_recorded_not_made, *lines, works=[work("approved")])
    assert found == ([] if undone else [("recorded_not_made", "WORK1", False)])


def test_changed_rewards_parts_and_sums():
    hits = [Some(id=number, platform_id=f"HIT{number}", token="t" * 64) for number in (1, 2, 3)]
    hits.append(Some(id=4, platform_id=None, token="a" * 64))
    posted = {1: 20, 2: 20, 3: 20, 4: 20}
    assert told(
        money.check_changed_rewards,
        hits=hits,
        posted_rewards=posted,
        platform_rewards={1: 20, 2: 19, 4: 0},
    ) == [("reward_changed", "HIT2", False), ("reward_changed", "a" * 12, False)]
    parts = [work("partially_approved"), work("partially_approved", 2, paid_minor=3), work(id=3)]
    assert told(money.check_partial_payments, works=parts) == [("paid_in_part", "WORK1", False)]
    said = [
        Statement("ref1", 25, 20, "USD", 20), Statement("ref2", 20, 20, "USD", 19),
        Statement("ref3", 25, 20, "USD", 20), Statement("ref4", 20, 20, "USD", 0),
    ]  # fmt: skip
    differ = list(money.check_totals(snapshot(statements=said)))
    assert [each.who for each in differ] == ["ref2", "ref4"]
    for each, there in zip(differ, ("$0.19", "$0.00"), strict=True):
        assert f"$0.20 according to the ledger, but {there} according" in each.detail
    paid = [account(line()), account(line(), id=2), account(id=3)]
    [short] = money.check_underpayments(snapshot(statements=said, accounts=paid))
    assert short.who == "ref1" and "is owed $0.25 by" in short.detail and "$0.20" in short.detail


def test_a_line_of_nobody_is_named_by_the_beginning_of_its_token():
    unnamed = line("bonus", "refused", assignment=None, participant_id=None, token="8" * 64)
    assert money._get_payee(snapshot(), unnamed) == "8" * 12
