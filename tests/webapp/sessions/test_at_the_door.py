"""Who is let in by the questions before the start, and what is stored of them; nobody else is."""

import pytest
from sqlalchemy import select

from experiment.participation import EventKind
from experiment.studies.files import study_files
from experiment.studies.load import frozen_study
from experiment.studies.study import Study
from tests.webapp.participant.test_admission import (
    COMPREHENSION,
    FIT,
    RIGHT,
    SCREENING,
    WRONG,
)
from tests.webapp.sessions.people import NOW, People
from webapp.database.models import Answer, Event, Participant
from webapp.sessions.admission import check_comprehension, check_screening, count_tries

pytestmark = pytest.mark.one_database


class Door:
    """Asks people, and knows to whom a place was given."""

    def __init__(self, people: People) -> None:
        self.people, self.let_in = people, []

    def screen(self, who: Participant, study: Study, given: dict[str, str]) -> dict[str, str]:
        session, run = self.people.session, self.people.run
        return check_screening(session, run, who, study, given, NOW, give=self._give)

    def check(
        self, who: Participant, study: Study, answers: dict[str, str], attempt: int = 1
    ) -> dict[str, str]:
        session, run, given = self.people.session, self.people.run, {"try": str(attempt)} | answers
        return check_comprehension(session, run, who, study, given, NOW, give=self._give)

    def _give(self, _session, _run, _study, who: Participant, *_: object) -> None:
        self.let_in.append(who)

    def stored(self, who: Participant) -> dict[str, str]:
        of_theirs = select(Answer).where(Answer.participant_id == who.id)
        return {each.field: each.value for each in self.people.session.scalars(of_theirs)}


@pytest.fixture
def door(people: People) -> Door:
    return Door(people)


@pytest.fixture
def asking(study: Study):
    def ask(*more: str) -> Study:
        files = study_files(study)
        toml = "\n".join([files["study.toml"].decode(), *more])
        return frozen_study({**files, "study.toml": toml.encode()}, study.folder)

    return ask


def test_who_is_not_at_the_door_is_asked_nothing(people, door, study, asking):
    both, last = asking(SCREENING, COMPREHENSION), asking(COMPREHENSION)
    for state, consented in (("arrived", None), ("working", NOW), ("left", NOW)):
        person = people.person(state, consented_at=consented)
        person.consented_at = consented
        assert door.screen(person, both, FIT) == {} == door.screen(person, both, {})
        assert door.check(person, last, RIGHT) == {} == door.check(person, last, WRONG)
        assert (person.state, door.stored(person), count_tries(people.session, person)) == (
            state, {}, 0,
        )  # fmt: skip
    waiting = people.person("arrived")
    # The instructions come after the questions about the person, and not without any.
    assert door.check(waiting, both, RIGHT) == {} == door.check(waiting, study, RIGHT)
    assert door.screen(waiting, last, FIT) == {}
    assert (door.let_in, door.stored(waiting), waiting.state) == ([], {}, "arrived")


def test_whom_the_study_is_for_goes_on_and_others_leave_with_nothing_stored(people, door, asking):
    alone, both = asking(SCREENING), asking(SCREENING, COMPREHENSION)
    fit, child, unclear, next_ = (people.person("arrived") for _ in range(4))
    assert set(door.screen(unclear, alone, {"age": "x", "native": "yes"})) == {"age"}
    assert door.screen(child, alone, FIT | {"age": "17"}) == {}
    for _ in range(2):
        assert door.screen(fit, alone, FIT) == {} == door.screen(next_, both, FIT)
    assert door.let_in == [fit]
    stored = [door.stored(one) for one in (fit, next_, child, unclear)]
    assert stored == [FIT, FIT, {}, {}]
    states = [(one.state, one.ending) for one in (fit, next_, child, unclear)]
    waiting = ("arrived", None)
    assert states == [waiting, waiting, ("left", "screened_out"), waiting]


def test_the_instructions_are_asked_as_often_as_the_study_says(people, door, asking):
    study = asking(COMPREHENSION)
    person, quick = people.person("arrived"), people.person("arrived")
    for attempt in (0, 2, 3):
        assert door.check(person, study, WRONG, attempt) == {}
    assert set(door.check(person, study, {})) == {"task"}
    assert count_tries(people.session, person) == 0
    assert set(door.check(person, study, WRONG)) == {""}
    # The same form once more is no second try.
    assert door.check(person, study, WRONG) == {} == door.check(person, study, RIGHT)
    assert (person.state, count_tries(people.session, person)) == ("arrived", 1)
    assert door.check(person, study, WRONG, 2) == {}
    assert (person.state, person.ending) == ("left", "failed_check")
    assert door.check(quick, study, RIGHT) == {}
    assert (door.let_in, door.stored(quick), door.stored(person)) == ([quick], RIGHT, {})
    kept = people.session.scalars(select(Event).order_by(Event.id)).all()
    wrong = [each for each in kept if each.kind == EventKind.COMPREHENSION_WRONG]
    assert [(each.participant_id, each.detail) for each in wrong] == [(person.id, WRONG)] * 2
