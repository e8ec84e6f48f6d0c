"""What is shown or drafted of a person, and what is asked of their data: their own alone."""

import json

import pytest

from webapp.commands.privacy import find_platform_name
from webapp.database.models import Device, Event, Verdict
from webapp.errors import RequestError
from webapp.privacy.amendments import release_use, restrict_use, was_corrected_since_verdict
from webapp.privacy.own_data import _INTERNAL_KEYS, collect_own_data

pytestmark = pytest.mark.one_database


def test_own_data_are_ones_own_and_no_key_of_the_database(book):
    links = [book.link("single"), book.link("multi")]
    people = [book.person(link_id=link.id) for link in links]
    for number, person in enumerate((*people, book.person())):
        for order in "ab":
            device = Device(
                participant_id=person.id, mark=f"{order}{number}", user_agent_family=f"F{number}",
                language="", noted_at=book.now,
            )  # fmt: skip
            book.add(device)
        book.note(person)
        book.visit(person, worker=f"W{number}")
        book.report(person, "done")
    data = [collect_own_data(book.session, book.run, book.study, each) for each in people]
    assert [each["your_link"] and each["your_link"]["label"] for each in data] == ["label 1", None]
    for number, each in enumerate(data):
        assert [device["mark"] for device in each["devices"]] == [f"a{number}", f"b{number}"]
        assert each["what_your_link_said"] == [{"workerId": f"W{number}"}]
        assert len(each["notes_of_the_researchers"]) == len(each["told_to_the_platform"]) == 1
        assert each["exclusion"] is None
        rows = [each["you"], *each["devices"], *each["notes_of_the_researchers"]]
        assert all(value not in (None, "") for row in rows for value in row.values())
        names = {name for row in (*rows, *each["told_to_the_platform"]) for name in row}
        assert not names & set(_INTERNAL_KEYS) and not [
            name for name in names if name.endswith("_key")
        ]
        json.dumps(each)


def test_a_verdict_is_older_than_ones_own_correction_alone(book, clock):
    def verdict(person, at):
        row = Verdict(participant_id=person.id, kept=True, rule="", evidence="", decided_at=at)
        return book.add(row)

    first, second = book.person(), book.person()
    verdict(first, book.now)
    clock.go_on(minutes=2)
    verdict(second, clock())
    for person, kind in ((second, "corrected"), (second, "restricted"), (first, "restricted")):
        detail = {"field": "native_language"}
        at = book.now.replace(minute=1) if kind == "corrected" else clock()
        book.add(Event(participant_id=person.id, kind=kind, detail=detail, at=at))
    assert not was_corrected_since_verdict(book.session, second)
    assert not was_corrected_since_verdict(book.session, first)
    again = Event(participant_id=second.id, kind="corrected", detail={}, at=clock())
    book.add(again)
    assert not was_corrected_since_verdict(book.session, second), "at the same moment it was known"
    again.at = clock().replace(minute=30)
    assert was_corrected_since_verdict(book.session, second)


def test_nothing_stored_is_nothing_to_restrict_and_nothing_restricted_is_not_released(book):
    declined = book.person(visit_mark="a mark")
    declined.state = "declined"
    with pytest.raises(RequestError) as refused:
        restrict_use(book.session, declined, book.now, None)
    assert refused.value.status == 409
    assert not release_use(book.session, book.person(), book.now, None)


def test_a_draft_names_who_recruits(study):
    panel = {"preset": "prolific"}
    found = study.model_copy(update={"panel": type("Panel", (), panel), "recruitment": None})
    unnamed = study.model_copy(update={"panel": type("Panel", (), {"preset": ""})})
    nobody = study.model_copy(update={"panel": None, "recruitment": None})
    assert [find_platform_name(each) for each in (found, unnamed, study, nobody)] == [
        "prolific", "[recruiting platform]", "[recruiting platform]", "",
    ]  # fmt: skip
