"""Which rows of the database decide about money: those of the same person, work and run alone."""

from datetime import timedelta

import pytest

from experiment.payment.payment import PaymentError, PaymentKind
from webapp.payments import non_idempotent_bonuses
from webapp.payments.accounts import load_accounts
from webapp.payments.platform_payments import OtherBonuses
from webapp.payments.rewards import build_review_entry

pytestmark = pytest.mark.one_database
REWARD = (PaymentKind.REWARD, 20, "Thanks.")
REJECTION = (PaymentKind.REJECTION, 0, "Nothing.")


def test_what_stands_beside_a_bonus_is_of_the_same_work_and_run(book):
    here, there = book.work("A"), book.work("B")

    def pay(work=here, run=None, **fields):
        row = book.pay("A", work, kind=fields.pop("kind", "bonus"), run=run)
        for name, value in fields.items():
            setattr(row, name, value)
        book.session.flush()
        return row

    wanted = pay(amount_minor=1, state="intended")
    pay(amount_minor=2, called_at=book.now)
    pay(amount_minor=4)
    pay(amount_minor=8, kind="compensation")
    pay(amount_minor=16, kind="reward")
    pay(there, amount_minor=32)
    pay(run=book.other, amount_minor=64)
    doubtful = pay(amount_minor=3, state="unknown", ordered_at=book.now)
    pay(amount_minor=5, state="done", ordered_at=book.now, called_at=book.now)
    pay(amount_minor=6, state="refused")
    assert OtherBonuses.of(book.session, wanted) == OtherBonuses((2, 8, 5), (4,), (doubtful.id,))


def test_a_bonus_that_was_refused_becomes_one_by_hand_once_and_only_its_like(book):
    work, other = book.work("A"), book.work("B")

    def pay(state, minor=5, on=work, run=None, **fields):
        row = book.pay("A", on, kind="bonus", state=state, run=run)
        row.amount_minor = minor
        for name, value in fields.items():
            setattr(row, name, value)
        book.session.flush()
        return row

    def take(row, run=None):
        now = book.now + timedelta(hours=1)
        return non_idempotent_bonuses._identify_with_manual_bonus(
            book.session, run or book.run, row.id, now
        )

    refused, second = pay("refused"), pay("refused")
    ordered, doubtful = pay("refused", ordered_at=book.now), pay("unknown")
    for on, minor, run, fields in (
        (other, 5, None, {}), (work, 6, None, {}), (work, 5, book.other, {}),
        (work, 5, None, {"answer": "paid by hand"}), (work, 5, None, {"called_at": book.now}),
    ):  # fmt: skip
        pay("done", minor, on, run, **fields)
    assert take(refused) is None, "nothing of the same work and amount is free"
    first, later = pay("done"), pay("done")
    assert take(ordered) is None and take(doubtful) is None
    assert take(refused, book.other) is None
    assert take(refused) is refused and (refused.state, refused.answer) == ("done", "paid by hand")
    assert (refused.called_at, refused.settled_at) == (None, book.now + timedelta(hours=1))
    assert (first.state, first.answer) == ("withdrawn", f"is payment {refused.id}")
    assert later.state == "done" and take(refused) is None
    assert take(second) is second and later.state == "withdrawn"


@pytest.mark.parametrize(
    ("item", "status", "line", "refused"),
    [
        (REWARD, "submitted", None, False),
        (REWARD, "rejected", None, True),
        (REWARD, "approved", None, False),
        (REJECTION, "approved", None, True),
        (REJECTION, "submitted", ("reward", "done"), True),
        (REJECTION, "submitted", ("reward", "intended"), True),
        (REJECTION, "submitted", ("reward", "refused"), False),
        (REJECTION, "submitted", ("reward", "withdrawn"), False),
        (REJECTION, "submitted", ("bonus", "done"), False),
        (REWARD, "submitted", ("rejection", "done"), True),
        (REWARD, "submitted", ("reward", "done"), False),
    ],
)
def test_a_decision_is_not_turned_back(book, item, status, line, refused):
    work, elsewhere = book.work("A", status=status), book.work("B", status="submitted")
    for kind in ("reward", "rejection"):
        book.pay("B", elsewhere, kind=kind)
        book.pay("A", work, run=book.other, kind=kind)
    if line:
        book.pay("A", work, kind=line[0], state=line[1])

    def decide(**options):
        return build_review_entry(book.session, book.run, [], work.platform_id, item, **options)

    if not refused:
        assert decide().assignment == work.platform_id
        return
    with pytest.raises(PaymentError) as caught:
        decide()
    assert ("--undo-rejection" in str(caught.value)) == (item is REWARD)
    if item is REWARD:
        assert decide(undo_rejection=True).item.kind == "reward"
    else:
        with pytest.raises(PaymentError):
            decide(undo_rejection=True)


def test_a_decision_is_about_a_submission_of_the_run(book):
    person = book.person(platform_id="A", consented_at=book.now)
    first = book.work("A", person, "submitted", hit=book.offer())
    second = book.work("A", person, "submitted")
    active = book.work("B", status="active")
    there = book.work("C", status="submitted", run=book.other)
    owed = load_accounts(book.session, book.run)
    for who in (person.ref, person.code, first.platform_id):
        found = build_review_entry(book.session, book.run, owed, who, REWARD)
        assert (found.item.payee, found.assignment) == (person.ref, first.platform_id)
    found = build_review_entry(book.session, book.run, owed, second.platform_id, REWARD)
    assert (found.item.payee, found.assignment) == (second.platform_id, second.platform_id)
    for who in (active.platform_id, there.platform_id, "nobody"):
        with pytest.raises(PaymentError, match="has submitted nothing"):
            build_review_entry(book.session, book.run, owed, who, REWARD)
