"""What one person answered before the start, or pasted, is nobody else's."""

from types import SimpleNamespace as Some
from uuid import UUID

import pytest
from sqlalchemy.exc import IntegrityError

from experiment.participation import EventKind
from experiment.records import Side
from experiment.responses.choice.choice import SentencePair
from experiment.studies.files import study_files
from experiment.studies.load import frozen_study
from experiment.studies.study import Study
from tests.webapp.participant.test_admission import COMPREHENSION, SCREENING
from tests.webapp.sessions.people import NOW, People
from webapp.database.models import Answer, Event
from webapp.errors import RequestError
from webapp.sessions.admission import Step, count_tries, has_assented, next_step, record_assent
from webapp.sessions.consent import Decision
from webapp.sessions.consent_texts import store_agreed_text
from webapp.sessions.finish import PASTED_FIELD, has_answered_any, pasted_events
from webapp.sessions.record import PostedAnswer, record_answer

pytestmark = pytest.mark.one_database


@pytest.fixture
def asking(study: Study) -> Study:
    files = study_files(study)
    toml = f"{files['study.toml'].decode()}\n{SCREENING}\n{COMPREHENSION}"
    return frozen_study({**files, "study.toml": toml.encode()}, study.folder)


def test_what_a_neighbour_answered_is_not_asked_less_of_anybody(people: People, study, asking):
    session, here, there = people.session, people.person("arrived"), people.person("arrived")
    assert next_step(session, here, study) is Step.COMPREHENSION
    assert next_step(session, here, asking) is Step.SCREENING
    people.add(Answer(participant_id=there.id, field="age", value="30"))
    people.add(Answer(participant_id=here.id, field="favourite", value="blue"))
    assert [next_step(session, one, asking) for one in (here, there)] == [
        Step.SCREENING, Step.COMPREHENSION,
    ]  # fmt: skip
    for kind in (EventKind.COMPREHENSION_WRONG, EventKind.COMPREHENSION_WRONG, EventKind.PASTED):
        people.add(Event(participant_id=there.id, kind=kind, detail={}, at=NOW))
    assert [count_tries(session, one) for one in (here, there)] == [0, 2]
    screened = [has_answered_any(session, one, asking.screening) for one in (here, there)]
    assert screened == [False, True] and has_answered_any(session, here, ())


def test_assent_is_each_person_s_own_and_asked_after_the_consent(people: People, study):
    session, run = people.session, people.run
    here, there, early, left = (people.person("arrived") for _ in range(4))
    early.consented_at, left.state = None, "declined"
    plain = Some(taking_part=Some(assent=""))
    asks = Some(taking_part=Some(assent="assent"), text=lambda page: f"{page}?",
                screening=("one",), comprehension=None)  # fmt: skip
    assert has_assented(session, here, plain) and not has_assented(session, here, asks)
    for one, decision in (
        (there, Decision.ACCEPT), (there, Decision.DECLINE), (early, Decision.ACCEPT),
        (left, Decision.ACCEPT),
    ):  # fmt: skip
        record_assent(session, run, one, asks, decision, NOW)
    assented = [has_assented(session, one, asks) for one in (here, there, early, left)]
    assert assented == [False, True, False, False]
    record_assent(session, run, here, asks, Decision.DECLINE, NOW)
    assert (here.state, here.ending, there.state) == ("left", "declined", "arrived")


def test_of_a_paste_its_length_is_kept_where_it_can_be_one():
    told = '{"a": 0, "b": 1, "c": 999999999, "d": 1000000000, "e": true, "f": "3", "g": 5}'
    found = pasted_events(7, ("a", "b", "c", "d", "e", "f", "h"), {PASTED_FIELD: told}, NOW)
    assert [(each.participant_id, each.detail) for each in found] == [
        (7, {"question": "b", "n_characters": "1"}),
        (7, {"question": "c", "n_characters": "999999999"}),
    ]
    for text in ("", "[1]", "7", "null", "{"):
        assert pasted_events(7, ("a",), {PASTED_FIELD: text}, NOW) == []


def test_a_text_that_cannot_be_kept_is_tried_ten_times(people: People):
    tries = []

    def begin() -> None:
        tries.append(1)
        raise IntegrityError("", {}, ValueError())

    with pytest.raises(RuntimeError, match="could not be stored"):
        store_agreed_text(Some(scalar=lambda _: None, begin_nested=begin), people.run, "text", NOW)
    assert len(tries) == 10


@pytest.mark.parametrize(
    ("state", "position", "rating", "code", "status"),
    [
        ("withdrawn", 1, None, "wrong_state", 409),
        ("working", 9, None, "unknown_position", 404),
        ("working", 1, 5, "impossible_answer", 400),
    ],
)
def test_an_answer_that_cannot_be_is_refused(people: People, state, position, rating, code, status):
    person = people.person(state)
    people.trials(person, 1)
    side = None if rating else Side.FIRST
    answer = PostedAnswer(
        uuid=UUID(int=1), position=position, side=side, rating=rating, input_method="key"
    )
    with pytest.raises(RequestError) as caught:
        record_answer(people.session, person, answer, NOW, SentencePair())
    assert (caught.value.code, caught.value.status) == (code, status)


def test_a_later_answer_is_kept_once_for_each_person_and_trial(people: People):
    session, persons = people.session, (people.person(), people.person())
    for person in persons:
        people.answers(people.trials(person, 2))
    for person in (*persons, persons[0]):
        for position in (1, 2):
            for number in (1, 2, 1):
                answer = PostedAnswer(
                    uuid=UUID(int=number), position=position, side=Side.FIRST, input_method="key"
                )
                assert record_answer(session, person, answer, NOW, SentencePair()) == 0
    kept = session.query(Event).order_by(Event.id).all()
    assert [(e.participant_id, e.detail["position"], e.detail["uuid"][-1]) for e in kept] == [
        (person.id, position, number) for person in persons for position in "12" for number in "12"
    ]
