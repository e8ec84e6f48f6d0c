"""Bonuses beside the platform's list, who may get one, and every line of the statement."""

from collections import Counter
from types import SimpleNamespace as Some

import pytest

from experiment.payment.payment import PaymentError, PaymentItem, PaymentKind
from tests.webapp.payments.by_hand import NOW, account, line, study
from tests.webapp.payments.platform_double import PlatformDouble
from tests.webapp.payments.test_pay import PaysAnybody
from webapp.payments import bonuses, ledger
from webapp.payments.ledger import Entry
from webapp.payments.platform_payments import (
    OtherBonuses,
    find_workers_paid_by_hand,
    get_bonus_mark,
    refuse_unexplained_bonuses,
)
from webapp.payments.reconciliation.snapshot import find_unrecorded, match_bonuses
from webapp.payments.run_payments import PaymentOutcome, Proposal
from webapp.recruiters.platform import Bonus, PlatformError


def bonus(minor, reason="", on="WORK1", worker="AWORKER1"):
    return Bonus(worker, on, minor, reason, NOW)


@pytest.mark.parametrize(
    ("shown", "ours", "by_hand", "additional", "refused"),
    [
        ((), (), (), False, ""),
        ((5,), (5,), (), False, ""),
        ((5, 5), (5,), (), False, "missing from the ledger"),
        ((5,), (), (5,), False, "was paid by hand for the same work"),
        ((5,), (), (5,), True, ""),
        ((5, 6), (), (5,), True, "a bonus of $0.06 for the same work"),
        ((6, 5), (), (), True, "bonuses of $0.05 and $0.06 for the same work"),
    ],
)
def test_a_bonus_passes_only_beside_what_is_accounted_for(
    shown, ours, by_hand, additional, refused
):
    others, wanted = OtherBonuses(ours, by_hand, ()), line("bonus", id=7, run_ref="r1")

    def decide():
        refuse_unexplained_bonuses(wanted, shown, others, additional=additional)

    if not refused:
        decide()
        return
    with pytest.raises(PlatformError) as caught:
        decide()
    assert refused in str(caught.value) and "parallax bonus r1, with --additional" in str(
        caught.value
    )


def test_whose_bonus_was_paid_by_hand():
    lines = [
        line("bonus", called_at=None), line("bonus", worker_id="B"),
        line("reward", called_at=None, worker_id="C"),
        line("bonus", "refused", called_at=None, worker_id="D"),
    ]  # fmt: skip
    assert find_workers_paid_by_hand(lines) == {"AWORKER1"}


def test_a_listed_bonus_is_the_line_s_whose_mark_it_ends_with():
    ours, reward = line("bonus", id=11), line("reward", id=12)
    listed = [bonus(5, f"Fine {get_bonus_mark(ours)}"), bonus(5, f"{get_bonus_mark(ours)} Fine"),
              bonus(5), bonus(5, f"Fine {get_bonus_mark(reward)}")]  # fmt: skip
    books = match_bonuses(PlatformDouble(), listed, [ours, reward])
    assert books.n_shown == {11: 1} and [each for each, _ in books.unrecorded] == listed[1:]
    kept = [line(token=books.unrecorded[0][1].token("r"))]
    assert [each for each, _ in find_unrecorded(books, "r", kept)] == listed[2:]


def test_what_shows_its_amount_alone_is_a_done_line_s_first_and_each_once():
    lines = [
        line("bonus", "unknown", 5, id=1, ordered_at=NOW), line("bonus", "done", 5, id=2),
        line("bonus", "refused", 5, id=3), line("bonus", "done", 5, id=4, assignment="WORK2"),
        line("compensation", "done", 6, id=5), line("reward", "done", 7, id=6),
    ]  # fmt: skip
    listed = [bonus(5), bonus(5), bonus(5), bonus(6), bonus(7), bonus(5)]
    books = match_bonuses(PaysAnybody(), listed, lines)
    assert books.n_shown == {1: 1, 2: 1, 5: 1}
    assert [each.amount_minor for each, _ in books.unrecorded] == [5, 7, 5]
    serials = [item.serial for _, item in books.unrecorded]
    assert serials == ["elsewhere\x1f5\x1f4", "elsewhere\x1f7\x1f1", "elsewhere\x1f5\x1f5"]
    assert match_bonuses(PaysAnybody(), [bonus(5)], lines).n_shown == {2: 1}


def entry(who=1, minor=5, reason="Fine.", worker=None):
    item = PaymentItem(f"ref{who}", PaymentKind.BONUS, minor, reason, reason)
    return Entry(item, worker or f"AWORKER{who}", f"WORK{who}", who)


def paying(*accounts, lines=(), rule=None):
    return Some(
        load_accounts=lambda: list(accounts), ledger=lambda: list(lines), study=rule or study(),
        run=Some(ref="r", currency="USD"),
    )  # fmt: skip


def test_a_rule_gives_its_bonus_to_who_finished_was_paid_and_may_be_judged():
    paid = line()
    people = [
        account(paid), account(id=2), account(paid, id=3, finished=False),
        account(paid, id=4, restricted=NOW), account(paid, id=5, kept=False),
    ]  # fmt: skip
    found = bonuses.find_rule_bonuses(paying(*people, rule=study("kept", "0.05")))
    assert [each.item.payee for each in found.entries] == ["ref1"]
    assert (found.waiting, found.held, found.restricted, found.no_rule) == (1, (), 1, False)
    by_hand = line("bonus", called_at=None)
    everyone = paying(*people, lines=[by_hand], rule=study("everyone", "0.05"))
    found = bonuses.find_rule_bonuses(everyone)
    assert [each.item.payee for each in found.entries] == ["ref4", "ref5"]
    assert (found.waiting, found.held, found.restricted) == (1, ("ref1",), 0)
    found = bonuses.find_rule_bonuses(everyone, additional=True)
    assert [each.item.payee for each in found.entries] == ["ref1", "ref4", "ref5"]
    item = bonuses.find_rule_bonuses(everyone, additional=True).entries[0].item
    ours = line("bonus", token=item.token("r"), id=8)
    had = paying(*people, lines=[by_hand, ours], rule=study("everyone", "0.05"))
    assert bonuses.find_rule_bonuses(had).held == ()
    none = bonuses.find_rule_bonuses(paying(*people))
    assert none.no_rule and not none.entries and none.restricted == 0
    people[0].participant.platform_id = None
    assert bonuses.build_bonus_entries(people[:1], [entry().item])[0] == []


def test_what_was_left_out_is_told_and_nothing_else():
    assert bonuses.RequestedBonuses([], 0, ()).notes("r") == []
    told = bonuses.RequestedBonuses([], 2, ("ref1", "ref2"), 3, True).notes("r")
    assert [each.split(" ")[0] for each in told] == ["The", "2", "2", "3"]


@pytest.mark.parametrize(
    ("wanted", "line_", "refused"),
    [
        ([(1, 5, "Fine.")], {"minor": 5}, "may have been paid before"),
        ([(1, 5, "Fine.")], {"minor": 5, "reason": ""}, "paid by hand"),
        ([(1, 5, "Fine.")], {"minor": 5, "state": "withdrawn"}, ""),
        ([(1, 5, "Fine.")], {"minor": 5, "kind": "reward"}, ""),
        ([(1, 5, "Fine.")], {"minor": 6}, ""),
        ([(1, 5, "Thanks.")], {"minor": 5}, ""),
        ([(1, 5, "Fine.")], {"minor": 5, "worker_id": "B"}, ""),
        ([(1, 5, "Fine."), (1, 5, "Good.")], {"minor": 6}, "ref1 would get $0.05 twice"),
        ([(1, 5, "Fine."), (1, 7, "Good.")], {"minor": 6}, ""),
        ([(1, 5, "Fine."), (2, 5, "Good.")], {"minor": 6}, ""),
    ],
)
def test_a_listed_bonus_that_may_be_a_second_payment_is_refused(wanted, line_, refused):
    run = paying(account(line()), account(line(), id=2), lines=[line(**{"kind": "bonus", **line_})])
    items = [entry(*each).item for each in wanted]
    if refused:
        with pytest.raises(PaymentError, match=refused.replace("$", r"\$")):
            bonuses.prepare_listed_bonuses(run, items, additional=False)
        assert bonuses.prepare_listed_bonuses(run, items, additional=True).entries
    else:
        assert len(bonuses.prepare_listed_bonuses(run, items, additional=False).entries) == len(
            items
        )


@pytest.mark.parametrize(
    ("line_", "same"),
    [
        ({"kind": "bonus", "reason": "fine."}, True),
        ({"kind": "bonus", "reason": "fine.", "state": "withdrawn"}, False),
        ({"kind": "bonus", "reason": "other"}, False),
        ({"kind": "bonus", "reason": "fine.", "worker_id": "B"}, False),
        ({"kind": "reward", "reason": "fine."}, False),
        ({"kind": "bonus", "reason": "MARK"}, True),
        ({"kind": "bonus", "reason": "MARK", "state": "unknown"}, False),
        ({"kind": "reward", "reason": "MARK"}, False),
        ({"kind": "bonus", "token": "TOKEN", "worker_id": "B", "reason": "x"}, True),
    ],
)
def test_a_line_is_an_entry_s_by_token_mark_or_reason(line_, same):
    token = entry().item.token("r")
    given = {**line_, "reason": line_["reason"].replace("MARK", ledger.compute_bonus_mark(token))}
    given["token"] = line_.get("token", "").replace("TOKEN", token) or "0" * 64
    found = ledger.find_line(entry(), "r", [line(id=5), line(id=3, **given)])
    assert (found.id if found else None) == (3 if same else None)
    reward = Entry(PaymentItem("x", PaymentKind.REWARD, 20, "y"), "Z", "WORK1", None)
    assert ledger.find_line(reward, "r", [line(id=4, assignment=None), line(id=5)]).id == 5
    unplaced = Entry(PaymentItem("x", PaymentKind.REWARD, 20, "y"), "Z", None, None)
    assert ledger.find_line(unplaced, "r", [line(assignment=None), line(assignment="A")]) is None


def test_a_proposal_is_told_apart_by_whom_how_much_what_for_and_what_else_it_may_do():
    def of(*entries, currency="USD"):
        return Proposal(tuple(entries), 0, 0, 0, currency)

    others = [of(), of(entry(2)), of(entry(1, 6)), of(entry(reason="x"))]
    others.append(of(entry(), currency="EUR"))
    assert len({each.digest for each in (of(entry()), *others)}) == 6
    assert of(entry(), entry(2)).digest == of(entry(2), entry()).digest
    ways = [
        of(entry()).digest_request(undo_rejections=a, additional=b) for a in (0, 1) for b in (0, 1)
    ]
    assert len(set(ways)) == 4
    outcome = PaymentOutcome(Counter(refused=1, done=2), ())
    assert outcome.n_unpaid == 1 and str(outcome) == "2 done, 1 refused"
