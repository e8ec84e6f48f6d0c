"""Which rows of the database make an account, and who is compensated."""

from dataclasses import replace
from datetime import timedelta

import pytest

from experiment.payment.payment import PaymentError
from webapp.database.models import Hit, Payment, Response, RunItem, Trial, Verdict
from webapp.payments import compensation_request
from webapp.payments.accounts import load_accounts
from webapp.payments.compensate import (
    build_compensation_entry,
    find_unsubmitted_assignment,
    record_accepted_compensation,
)
from webapp.payments.ledger import load_payments
from webapp.payments.reconciliation.snapshot import _load_submitted_assignments, _may_have_bonus
from webapp.payments.rewards import build_reward_entries, normalize_reason
from webapp.payments.run_payments import is_decided

pytestmark = pytest.mark.one_database


def test_accounts_are_of_who_consented_and_of_their_first_submission(book):
    here = book.offer()
    people = [book.person(consented_at=book.now, platform_id=f"A{n}") for n in range(3)]
    book.person()
    book.person(run=book.other, consented_at=book.now)
    works = [book.work("A0", people[0], "submitted", hit=here) for _ in range(2)]
    for row, hours in zip(works, (2, 1), strict=True):
        row.submitted_at = book.now + timedelta(hours=hours)
    book.work("A1", people[1], "returned", hit=here)
    book.work("forgotten:1", people[1], "submitted", hit=here)
    book.work("A1", people[1], "submitted", hit=book.offer("c", "compensation"))
    book.work("A1", people[1], "submitted", run=book.other, hit=here)
    lines = [book.pay("A0", works[0], people[0]), book.pay("A1", None, people[1])]
    found = load_accounts(book.session, book.run)
    assert [each.participant for each in found] == people
    assert [each.assignment for each in found] == [works[1], None, None]
    assert [each.payments for each in found] == [(lines[0],), (lines[1],), ()]
    [only] = load_accounts(book.session, book.run, [people[0].id])
    assert (only.participant, only.assignment, only.payments) == (people[0], works[1], (lines[0],))
    assert list(load_payments(book.session, book.run, [people[1].id])) == [lines[1]]


def test_correct_catch_trials_are_counted_of_each_and_of_nothing_else(book, monkeypatch):
    monkeypatch.setattr("webapp.payments.accounts.is_blind", lambda *_: False)
    people = [book.person(consented_at=book.now) for _ in range(3)]
    items = book.session.query(RunItem).filter_by(run_id=book.run.id)
    kinds = {kind: items.filter_by(kind=kind).first().id for kind in ("catch", "target")}
    for person, given in zip(people, ("rrwtn", "r", ""), strict=True):
        for position, what in enumerate(given):
            item = kinds["target" if what == "t" else "catch"]
            of = {"participant_id": person.id, "position": position, "run_item_id": item}
            trial = book.add(Trial(good_side="first", **of))
            if what != "n":
                side = "second" if what == "w" else "first"
                rest = {"input_method": "key", "recorded_at": book.now, "chosen_side": side}
                book.add(Response(trial_id=trial.id, client_uuid=f"u{trial.id}", **rest))
    found = load_accounts(book.session, book.run)
    assert [each.correct_catch_trials for each in found] == [2, 1, 0]
    [second] = load_accounts(book.session, book.run, [people[1].id])
    assert second.correct_catch_trials == 1
    assert rewards_of_paid(found[0], book) == [20, 30]


def rewards_of_paid(account, book):
    """Return what is paid of a reward that was raised to 30 cents: what is done stays."""
    work = book.work("A", account.participant, "approved")
    lines = (book.pay("A", work, account.participant), book.pay("A", work, account.participant))
    lines[1].state = "refused"
    paid = [replace(account, assignment=work, payments=(line,)) for line in lines]
    return [entry.item.amount_minor for entry in build_reward_entries(paid, 30)]


def test_verdicts_and_catch_trials_are_ones_own_and_told_where_they_may_be(book, monkeypatch):
    people = [book.person(consented_at=book.now) for _ in range(3)]
    people[2].restricted_at = book.now
    for person, kept in zip(people, (True, False), strict=False):
        decided = {"kept": kept, "rule": "", "evidence": "", "decided_at": book.now}
        book.add(Verdict(participant_id=person.id, **decided))
    found = load_accounts(book.session, book.run)
    assert [each.kept for each in found] == [True, False, None]
    assert {each.correct_catch_trials for each in found} == {None}, "the run is blind"
    monkeypatch.setattr("webapp.payments.accounts.is_blind", lambda *_: False)
    counted = [each.correct_catch_trials for each in load_accounts(book.session, book.run)]
    assert counted == [0, 0, None]


@pytest.mark.parametrize(
    ("state", "fields", "answered", "finished"),
    [
        ("finished", {}, 0, True),
        ("working", {}, 2, False),
        ("abandoned", {}, 2, True),
        ("abandoned", {}, 1, False),
        ("abandoned", {}, None, False),
        ("withdrawn", {}, 2, True),
        ("withdrawn", {}, 1, False),
        ("withdrawn", {}, None, False),
        ("withdrawn", {"finished_at": True}, None, True),
        ("withdrawn", {"ending": "completed"}, None, True),
        ("withdrawn", {"ending": "withdrawn"}, None, False),
        ("left", {"ending": "completed"}, 2, False),
    ],
)
def test_who_answered_everything_is_owed_the_reward(
    book,
    state,
    fields,
    answered,
    finished,
):
    if "finished_at" in fields:
        fields = {"finished_at": book.now}
    person, other = (book.person(consented_at=book.now) for _ in range(2))
    for name, value in {"state": state, **fields}.items():
        setattr(person, name, value)
    item = book.session.query(RunItem).filter_by(run_id=book.run.id).first()
    for who, number in ((person, answered), (other, 1)):
        for position in range(0 if number is None else 2):
            of = {"participant_id": who.id, "position": position, "run_item_id": item.id}
            trial = book.add(Trial(good_side="first", **of))
            if position < number:
                given = {"chosen_side": "first", "input_method": "key", "recorded_at": book.now}
                book.add(Response(trial_id=trial.id, client_uuid=f"u{trial.id}", **given))
    assert load_accounts(book.session, book.run)[0].finished is finished


def test_compensation_is_of_the_worker_s_last_work_and_of_nobody_who_submitted(book):
    [first, last] = [book.work("A", status="returned") for _ in range(2)]
    book.work("A", run=book.other)
    book.work("B")
    assert (
        find_unsubmitted_assignment(book.session, book.run, "A")
        == last.platform_id
        != first.platform_id
    )
    with pytest.raises(PaymentError, match="lists no assignment"):
        find_unsubmitted_assignment(book.session, book.run, "C")
    person = book.person(consented_at=book.now, platform_id="D")
    book.work("D", person, "submitted", hit=book.offer())
    [account] = load_accounts(book.session, book.run)
    with pytest.raises(PaymentError, match="has submitted"):
        build_compensation_entry(account, "D", 5, "It broke.")
    gone, _, standing = (
        book.pay("A", kind="compensation", state=state)
        for state in ("withdrawn", "withdrawn", "intended")
    )
    book.pay("B", kind="compensation", state="withdrawn")
    book.pay("A", kind="bonus", state="withdrawn")
    assert compensation_request.find_offers(book.session, book.run, "A") == (standing, 2)
    assert compensation_request.find_offers(book.session, book.run, "C") == (None, 0)
    works = []
    for line, worker, status in ((standing, "A", "submitted"), (gone, "A", "submitted")):
        hit = book.add(Hit(run_id=book.run.id, token=line.token, purpose="compensation", places=1))
        works.append(book.work(worker, status=status, hit=hit.id))
        book.work("Z", status=status, hit=hit.id)
    assert record_accepted_compensation(book.session, book.run) == [standing]
    assert standing.assignment == works[0].platform_id and gone.assignment is None
    assert record_accepted_compensation(book.session, book.run) == []


def test_what_is_handed_in_and_what_may_have_a_bonus(book):
    works = [
        book.work("A", status="submitted", hit=book.offer()), book.work("B", status="approved"),
        book.work("C", status="returned"), book.work("D", status="active"),
    ]  # fmt: skip
    book.work("E", status="submitted", hit=book.offer("c", "compensation"))
    book.work("F", status="submitted", run=book.other)
    assert list(_load_submitted_assignments(book.session, book.run)) == works[:2]
    assert [_may_have_bonus(each, []) for each in works] == [True, True, True, False]
    paid, free = book.pay("D", works[3]), book.pay("D", works[3])
    free.amount_minor = 0
    assert _may_have_bonus(works[3], [paid]) and not _may_have_bonus(works[3], [free])
    assert not _may_have_bonus(works[3], [book.pay("A", works[0])])


def test_what_is_decided_is_done_or_was_paid_by_hand_in_its_place():
    cases = [
        ("reward", "done"),
        ("bonus", "withdrawn"),
        ("reward", "withdrawn"),
        ("bonus", "refused"),
    ]
    assert [is_decided(Payment(kind=kind, state=state)) for kind, state in cases] == [
        True, True, False, False,
    ]  # fmt: skip


@pytest.mark.parametrize(("length", "lets"), [(0, False), (1, True), (1000, True), (1001, False)])
def test_a_reason_has_between_one_and_a_thousand_characters(length, lets):
    if lets:
        assert normalize_reason("x" * length) == "x" * length
    else:
        with pytest.raises(PaymentError, match="1001 characters" if length else "is empty"):
            normalize_reason("x" * length)
