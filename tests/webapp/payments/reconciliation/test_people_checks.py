"""What the checks of people tell of a ledger made by hand."""

from datetime import timedelta
from types import SimpleNamespace as Some

from tests.webapp.payments.by_hand import NOW, account, line, snapshot, work
from tests.webapp.payments.reconciliation.test_checks import told
from webapp.payments.reconciliation import reconcile as people


def test_who_finished_and_was_not_paid_is_told_by_what_they_handed_in():
    offered = {"kind": "compensation", "assignment": None}
    accounts = [
        account(status=None), account(status=None, id=2, finished=False),
        account(line(**offered), status=None, id=3), account(id=4),
        account(status="approved", id=5), account(id=6, finished=False),
        account(line(**offered), id=7), account(id=8),
    ]  # fmt: skip
    paid = line(id=8, assignment="WORK8")
    assert told(people.check_finished_not_submitted, accounts=accounts) == [
        ("finished_not_submitted", "ref1", False)
    ]
    assert told(people.check_never_paid, paid, accounts=accounts) == [
        ("never_paid", "ref4", False), ("compensated_and_submitted", "ref7", False),
    ]  # fmt: skip
    receipts = {"WORK4": "ref9", "WORK5": "ref9", "WORK7": None, "WORK8": "ref8"}
    assert [who for _, who, _ in told(people.check_receipts, accounts=accounts,
            receipts=receipts)] == ["ref4", "ref7"]  # fmt: skip


def test_a_submission_without_finished_work_waits_for_a_decision():
    accounts = [account(), account(id=2, finished=False), account(status=None, id=3)]
    works = [
        work("submitted"), work("submitted", 2, 2), work("submitted", 4, 1),
        work("submitted", 5, None), work("approved", 6, None), work("submitted", 7, None),
    ]  # fmt: skip
    decided = line("rejection", assignment="WORK7", state="refused")
    assert told(people.check_submissions_without_work, decided, accounts=accounts, works=works) == [
        ("submitted_unfinished", "ref2", False),
        ("submitted_twice", "ref1", False),
        ("submitted_by_nobody", "WORK5", False),
    ]


def test_offers_that_were_not_confirmed_or_not_taken():
    def offer(token, posted_at=None, expires_at=None):
        return Some(
            token=token * 64, posted_at=posted_at, expires_at=expires_at, purpose="compensation",
            places=1,
        )  # fmt: skip

    over = [offer(each, NOW, NOW) for each in "df0"]
    later = offer("e", NOW, NOW + timedelta(seconds=1))
    hits = [offer("a"), offer("b"), offer("c"), *over, later]
    lines = [
        line("compensation", token=each * 64, state=state, assignment=on,
             participant_id=1 if each in "bd" else None)
        for each, state, on in (
            ("b", "intended", None), ("c", "withdrawn", None), ("d", "intended", None),
            ("e", "intended", None), ("f", "intended", "WORK1"), ("0", "withdrawn", None),
        )
    ]  # fmt: skip
    assert told(people.check_unposted_offers, *lines, hits=hits, accounts=[account()]) == [
        ("unposted_offer", "a" * 12, False),
        ("unposted_offer", "ref1", True),
    ]
    hits.append(offer("9", NOW, NOW))
    lines.append(line("compensation", "intended", token="9" * 64, assignment=None,
                      participant_id=None))  # fmt: skip
    assert told(people.check_untaken_compensation, *lines, hits=hits, accounts=[account()]) == [
        ("compensation_not_taken", "ref1", False),
        ("compensation_not_taken", "9" * 12, False),
    ]


def test_a_bonus_on_compensation_is_of_whom_the_ledger_knows():
    seen = snapshot(line("compensation", assignment="WORK5"), works=[work(), work(id=2, who=None)])
    assert [seen.participant_of(f"WORK{number}") for number in (1, 2, 5, 6)] == [1, None, 1, None]
