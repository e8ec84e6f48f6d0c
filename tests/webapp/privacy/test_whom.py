"""Who is erased or forgotten: that person alone, by any one mark of theirs."""

from types import SimpleNamespace as Some

import pytest
from sqlalchemy import select

from experiment.payment.payment import LONGEST_TOKEN
from webapp.database.models import (
    Answer,
    Event,
    Hit,
    LinkVisit,
    Note,
    OutgoingReport,
    Payment,
)
from webapp.privacy.forget import (
    explain_unsettled_payments,
    find_forgotten_participants,
    find_participant,
    find_person,
    forget_person,
    replace_ids,
)
from webapp.recruitment.reports import ReportState

pytestmark = pytest.mark.one_database


@pytest.mark.parametrize("mark", ["platform_id", "visit_mark", "visit", "answer", "note"])
def test_each_single_mark_makes_a_person_known_and_nobody_else(book, mark):
    field = {mark: "AWORKER"} if mark in ("platform_id", "visit_mark") else {}
    named = book.person(**field)
    unknown = [book.person(), book.person(platform_id="forgotten:1"), book.person()]
    elsewhere = book.person(run=book.other, visit_mark="other mark")
    for who in (named, elsewhere):
        if not field:
            getattr(book, mark)(who)
    book.answer(unknown[0], "favourite_colour")
    label = book.link("single")
    named.link_id = label.id
    assert book.erase() == (1, 0)
    assert book.erase() == (0, 0)
    book.session.expire_all()
    assert book.left(Answer) == 1 + (mark == "answer")
    assert book.left(LinkVisit) == (mark == "visit") and book.left(Note) == (mark == "note")
    assert label.label == "" and elsewhere.visit_mark == "other mark"
    assert named.platform_id is None or named.platform_id.startswith("forgotten:")
    assert unknown[0].platform_id is None and unknown[1].platform_id == "forgotten:1"


def test_a_report_on_its_way_keeps_a_person_and_one_that_arrived_does_not(book):
    people = {state: book.person(visit_mark=state) for state in ReportState}
    reports = {state: book.report(person, state) for state, person in people.items()}
    bystander = book.report(book.person(run=book.other), ReportState.DONE)
    assert book.erase() == (3, 2)
    assert book.run.identities_erased_at is None
    book.session.expire_all()
    kept = {state for state, person in people.items() if person.visit_mark}
    assert kept == {ReportState.WAITING, ReportState.SENDING}
    assert {state for state, report in reports.items() if report.answer} == kept
    assert bystander.answer == "about them"


def test_work_and_payments_of_whoever_never_became_a_participant_are_erased_once(book):
    on_it = book.pay("AWORKER1", book.work("AWORKER1"))
    book.pay("AWORKER1", book.work("AWORKER1"))
    alone, lone = book.pay("AWORKER2"), book.work("AWORKER3")
    unpaid = book.work("AWORKER4", status="submitted")
    elsewhere = [book.work("AWORKER5", run=book.other), book.pay("AWORKER5", run=book.other)]
    assert book.erase() == (4, 1)
    assert book.erase() == (0, 1)
    assert alone.worker_id.startswith("forgotten:") and lone.worker_id.startswith("forgotten:")
    assert on_it.assignment == on_it.worker_id and on_it.assignment.startswith("forgotten:")
    assert alone.assignment is None and len(alone.token) == LONGEST_TOKEN
    assert unpaid.worker_id == "AWORKER4" and {each.worker_id for each in elsewhere} == {"AWORKER5"}


def test_a_platform_s_id_stands_for_them_in_every_run_and_a_reference_in_one(book):
    here = book.person(platform_id="AWORKER1")
    there = book.person(run=book.other, platform_id="AWORKER1")
    mine = [book.work("AWORKER1", here), book.work("AWORKER1")]
    theirs = book.work("AWORKER1", there, run=book.other)
    paid = [
        book.pay("AWORKER1", mine[0], here),
        book.pay("AWORKER1"),
        book.pay("RENAMED", None, here),
    ]
    paid_there = book.pay("AWORKER1", theirs, there, run=book.other)
    book.pay("AWORKER2", book.work("AWORKER2", book.person(platform_id="AWORKER2")))
    for found in (find_person(book.session, here.ref), find_participant(book.session, here)):
        assert list(found.participants) == [here]
        assert set(found.assignments) == set(mine) and set(found.payments) == set(paid)
    found = find_person(book.session, "AWORKER1")
    assert list(found.participants) == [here, there]
    assert set(found.assignments) == {*mine, theirs}
    assert set(found.payments) == {*paid, paid_there}
    assert not found.is_nobody and find_person(book.session, "nobody").is_nobody
    only_paid = book.pay("AWORKER7")
    assert list(find_person(book.session, "AWORKER7").payments) == [only_paid]
    assert not find_person(book.session, "AWORKER7").is_nobody


@pytest.mark.parametrize(
    ("status", "state", "advice"),
    [
        ("submitted", "done", ""),
        ("submitted", "refused", "parallax approve {run} --only {work}"),
        ("submitted", None, "parallax approve {run} --only {work}"),
        ("returned", None, ""),
        ("approved", "withdrawn", ""),
        ("approved", "intended", "parallax reconcile {run} --fix"),
    ],
)
def test_it_is_said_of_whoever_waits_for_money(book, status, state, advice):
    person = book.person(platform_id="AWORKER1")
    work = book.work("AWORKER1", person, status)
    if state:
        book.pay("AWORKER1", work, person, state=state)
    explained = explain_unsettled_payments(find_participant(book.session, person))
    advice = advice.format(run=book.run.ref, work=work.platform_id)
    assert explained.endswith(advice) and bool(explained) == bool(advice)


def test_the_offer_made_to_one_person_alone_goes_with_them_and_no_other(book):
    def offer(token, purpose="compensation"):
        return book.add(Hit(run_id=book.run.id, token=token, purpose=purpose, places=1))

    person = book.person(platform_id="AWORKER1")
    theirs, others = offer("token1"), offer("token2")
    works = [book.work("AWORKER1", person, hit=theirs.id), book.work("AWORKER2", hit=others.id)]
    for kind, token in (("compensation", "token1"), ("reward", "token2")):
        book.pay("AWORKER1", works[0], person, kind=kind).token = token
    book.session.flush()
    replace_ids(book.session, find_participant(book.session, person))
    book.session.expire_all()
    assert book.session.scalars(select(Hit.token)).all() == ["token2"]
    assert [each.hit_id for each in works] == [None, others.id]
    # A participant's line keeps its token: it says of nobody who they are.
    assert {each.token for each in book.session.scalars(select(Payment))} == {"token1", "token2"}


def test_forgetting_takes_what_is_theirs_and_leaves_what_is_others(book):
    links = [book.link(kind) for kind in ("single", "single", "multi")]
    people = [book.person(link_id=each.id, visit_mark=each.token) for each in links]
    for each in people:
        book.visit(each, worker="AWORKER9")
        book.report(each, ReportState.DONE)
        book.add(Event(participant_id=each.id, kind="consented", detail={}, at=book.now))
    astray = [book.visit(None, worker=worker) for worker in ("AWORKER1", "AWORKER2")]
    people[0].platform_id = "AWORKER1"
    people[0].state = "declined"
    book.session.flush()
    noted = []
    record = Some(
        record_final_wishes=lambda _session, deed, marks, _now: noted.append((deed, len(marks)))
    )
    for each in (people[0], people[2]):
        forget_person(book.session, find_person(book.session, each.ref), book.now, record)
    assert [count for deed, count in noted if deed == "forgotten"] == [1, 1]
    book.session.expire_all()
    assert [bool(each.label) for each in links] == [False, True, True]
    assert [each.revoked_at is None for each in links] == [False, True, True]
    kept = book.session.scalars(select(LinkVisit)).all()
    assert {(each.participant_id, each.parameters["workerId"]) for each in kept} == {
        (people[1].id, "AWORKER9"), (None, "AWORKER2"),
    }  # fmt: skip
    assert astray[1] in kept
    told = book.session.scalars(select(OutgoingReport.participant_id)).all()
    assert told == [people[1].id]
    assert find_forgotten_participants(book.session, book.run) == {people[0].id, people[2].id}
    assert find_forgotten_participants(book.session, book.other) == set()
    erased = book.person(platform_id="forgotten:1")
    assert erased.id in find_forgotten_participants(book.session, book.run)
