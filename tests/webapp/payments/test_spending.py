"""Every line of the statement of spending, from a ledger made by hand."""

from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace as Some

from experiment.payment.payment import PaymentItem, PaymentKind
from tests.webapp.payments.by_hand import NOW, account, line, snapshot, study, work
from webapp.core.sealing import FORGOTTEN_PREFIX
from webapp.payments import spending
from webapp.payments.reconciliation.statement import Statement
from webapp.payments.spending import SpendingStatus, compute_totals, render_page, sum_by_funder
from webapp.recruiters.platform import Bonus


def test_each_line_of_the_statement_says_who_paid_whether_and_at_what_fee(monkeypatch):
    ledger_ = [
        line(), line(id=2, called_at=None, assignment="WORK2", participant_id=2),
        line("bonus", minor=5, answer="paid by hand"), line("reward", "unknown", 6, settled_at=NOW),
        line("reward", "calling", 7), line("reward", "ordered", 8),
        line("reward", "intended", 9, participant_id=None), line("reward", "refused", 10),
        line("reward", "withdrawn", 11), line("rejection", minor=12), line(minor=0),
        line(minor=13, worker_id=f"{FORGOTTEN_PREFIX}x", settled_at=None),
    ]  # fmt: skip
    works = [
        work(hit_id=2), work("submitted", 2, hit_id=None), work("screened_out", 3, 9, hit_id=3),
        work("rejected", 4, None), work("approved", 5, None, hit_id=2),
        work("approved", 6, 6, hit_id=4), work("approved", 7, 7, hit_id=None),
    ]  # fmt: skip
    hits = [Some(id=1, places=4), Some(id=2, places=9), Some(id=3, places=2)]
    said = [
        Statement("ref1", 99, 20, "USD", 30), Statement("ref5", 25, 20, "USD", 24),
        Statement("ref6", 20, 20, "USD", 20), Statement("ref7", None, 0, "USD"),
        Statement("ref8", 5, 0, "USD"),
    ]  # fmt: skip
    hand = PaymentItem("WORK1", PaymentKind.BONUS, 3, "", "elsewhere\x1f")
    seen = snapshot(
        line("reward", "unknown"), works=works, hits=hits, statements=said,
        accounts=[account(), account(id=2)], platform_rewards={1: 30, 2: 15, 4: 0},
        elsewhere=[(Bonus("AWORKER1", "WORK1", 3), hand)],
    )  # fmt: skip
    monkeypatch.setattr(spending, "reading", nullcontext)
    monkeypatch.setattr(spending, "load_payments", lambda *_: ledger_)
    platform = Some(fees_minor=lambda charges, _: sum(100 * c.places + c.payments for c in charges))
    run = Some(ref="r", study="s", recruiter="mturk", currency="USD")
    rule = study().recruitment.model_copy(update={"screen_out_reward": "0.07"})
    made = study().model_copy(update={"recruitment": rule})
    found = list(spending.RunSpending(None, platform, run, made, seen).lines())
    noon = NOW.isoformat()
    assert [
        (x.payee, x.kind, x.by, str(x.standing), x.amount_minor, x.fee_minor, x.at) for x in found
    ] == [
        ("ref1", "reward", "parallax", "paid", 20, 901, noon),
        ("ref2", "reward", "elsewhere", "paid", 20, 101, noon),
        ("ref1", "bonus", "elsewhere", "paid", 5, 101, noon),
        ("ref1", "reward", "parallax", "in doubt", 6, 901, ""),
        ("ref1", "reward", "parallax", "in doubt", 7, 901, ""),
        ("ref1", "reward", "parallax", "in doubt", 8, 901, ""),
        ("(no participant)", "reward", "parallax", "to be paid", 9, 901, ""),
        ("ref1", "reward", "parallax", "to be paid", 10, 901, ""),
        ("(forgotten)", "reward", "parallax", "paid", 13, 901, ""),
        ("(no participant)", "screen_out", "elsewhere", "paid, not in the ledger", 7, 201, ""),
        ("(no participant)", "reward", "elsewhere", "paid, not in the ledger", 15, 901, ""),
        ("(no participant)", "reward", "elsewhere", "paid, not in the ledger", 20, 101, ""),
        ("ref1", "bonus", "elsewhere", "paid, not in the ledger", 3, 101, ""),
        ("ref5", "owed", "", "to be paid", 1, 101, ""),
        ("ref8", "owed", "", "to be paid", 5, 101, ""),
    ]
    assert [x.total_minor for x in found[:2]] == [921, 121]
    [total] = compute_totals(found)
    assert total.spent_minor == {"bonus": 8, "reward": 88, "screen_out": 7}
    assert total.elsewhere_minor == 20 + 5 + 7 + 15 + 20 + 3
    assert total.fees_minor == 901 + 101 + 101 + 901 + 201 + 901 + 101 + 101
    assert (total.doubtful_minor, total.owed_minor) == (21, 25)
    assert total.total_minor == 103 + total.fees_minor
    assert sum_by_funder([total, total]) == {("", "USD"): 2 * total.total_minor}
    assert list(total.spent_minor) == sorted(total.spent_minor)
    again = [replace(each, run=run) for run in ("z", "b") for each in found]
    assert [each.run for each in compute_totals(again)] == ["b", "z"]


def test_the_page_lists_what_is_owed_doubtful_or_missing_apart(monkeypatch):
    monkeypatch.setattr(spending, "_load_template", lambda: Some(render=lambda **facts: facts))
    rows = [Some(standing=each, funder="f", study="s", run="r", platform="p", currency="USD",
                 kind="reward", by="", amount_minor=1, fee_minor=1,
                 is_spent=each in (SpendingStatus.PAID, SpendingStatus.NOT_IN_THE_LEDGER))
            for each in SpendingStatus]  # fmt: skip
    facts = render_page(rows, NOW)
    for name, standing in (
        ("owed", SpendingStatus.TO_BE_PAID), ("doubtful", SpendingStatus.IN_DOUBT),
        ("missing", SpendingStatus.NOT_IN_THE_LEDGER),
    ):  # fmt: skip
        assert [each.standing for each in facts[name]] == [standing]
