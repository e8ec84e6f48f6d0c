import json
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest
from sqlalchemy import Engine, event, func, select, update

from experiment.participation import State
from experiment.records import Side
from experiment.responses.base import ResponseType
from experiment.responses.choice.choice import SentencePair
from webapp.database.engine import reading
from webapp.database.models import Participant, Response, Trial
from webapp.sessions.consent import Decision, enroll
from webapp.sessions.record import PostedAnswer, read_answer
from webapp.sessions.record_batch import SentAnswer, record_in_one_transaction

NOW = datetime(2026, 3, 1, tzinfo=UTC)
DAYS = 30


@pytest.fixture
def engine(sessions) -> Engine:
    return sessions.kw["bind"]


@pytest.fixture
def refs(sessions, run, study) -> list[str]:
    """The references of four participants at work on eight trials each."""
    with sessions() as session:
        people = [enroll(session, run, study, Decision.ACCEPT, NOW) for _ in range(4)]
        session.commit()
        return [person.ref for person in people]


def sent(
    ref: str, position: int = 1, uuid: UUID | None = None, at: datetime = NOW, side=Side.FIRST
) -> SentAnswer:
    answer = PostedAnswer(uuid=uuid or uuid4(), position=position, side=side, input_method="key")
    return SentAnswer(ref, answer, at)


class _EveryRun(dict[int, ResponseType]):
    """Every run asks for a choice of two."""

    def __contains__(self, key: object) -> bool:
        return True

    def __missing__(self, key: int) -> ResponseType:
        return SentencePair()


EVERY_RUN = _EveryRun()


def record(engine: Engine, batch: list[SentAnswer]) -> list[int | None]:
    return record_in_one_transaction(engine, DAYS, EVERY_RUN, lambda: batch)


def stored(sessions) -> dict[tuple[str, int], str]:
    with reading(sessions) as session:
        rows = session.execute(
            select(Participant.ref, Trial.position, Response.client_uuid)
            .join(Trial, Trial.participant_id == Participant.id)
            .join(Response, Response.trial_id == Trial.id)
        ).all()
    return {(ref, position): uuid for ref, position, uuid in rows}


def test_the_answers_of_many_become_one_row_each_in_one_transaction(engine, sessions, refs):
    transactions: list[object] = []
    event.listen(engine, "checkout", lambda *_: transactions.append(1))
    batch = [sent(ref, position) for position, ref in enumerate(refs, start=2)]
    assert record(engine, batch) == [7, 7, 7, 7]
    assert len(transactions) == 1
    assert stored(sessions) == {
        (each.ref, each.answer.position): str(each.answer.uuid) for each in batch
    }


def test_a_resend_is_acknowledged_and_changes_nothing(engine, sessions, refs):
    batch = [sent(ref) for ref in refs]
    for _ in range(2):
        assert record(engine, batch) == [7, 7, 7, 7]
    assert len(stored(sessions)) == 4


def test_the_last_answer_moves_its_participant_on_and_nobody_else(engine, sessions, refs):
    for position in range(1, 9):
        batch = [sent(refs[0], position), sent(refs[1], min(position, 7))]
        outcomes = record(engine, batch)
    assert outcomes == [0, None]  # the second one's is another answer to their seventh trial
    with reading(sessions) as session:
        states = dict(session.execute(select(Participant.ref, Participant.state)).all())
    assert [states[ref] for ref in refs[:2]] == [State.ANSWERED, State.WORKING]


def test_what_is_not_plain_is_left_undone_and_its_neighbours_are_stored(engine, sessions, refs):
    expired = NOW + timedelta(days=DAYS, seconds=1)
    first = sent(refs[0])
    record(engine, [first])
    batch = [
        sent(refs[1]),
        sent(refs[0], side=Side.SECOND),  # a later answer
        sent(refs[1], position=3),  # the second of one participant
        sent(refs[2], position=9),  # a trial they do not have
        sent("nobody"),
        sent(refs[3], at=expired),
    ]
    assert record(engine, batch) == [7, None, None, None, None, None]
    assert stored(sessions) == {
        (each.ref, each.answer.position): str(each.answer.uuid) for each in (first, batch[0])
    }


def test_who_is_not_at_work_is_left_to_the_longer_way(engine, sessions, refs):
    for state in set(State) - {State.WORKING}:
        with sessions() as session:
            one = session.scalars(select(Participant).where(Participant.ref == refs[0])).one()
            one.state = state
            session.commit()
        assert record(engine, [sent(refs[0])]) == [None]
    assert not stored(sessions)


def test_where_the_database_fails_nothing_is_stored_for_anybody(
    engine, sessions, refs, monkeypatch
):
    def without_side(*_: object) -> dict[str, object]:
        with reading(sessions) as session:
            trial_id = session.execute(select(func.min(Trial.id))).scalar_one()
        return {"trial_id": trial_id, "client_uuid": "u", "input_method": "key", "recorded_at": NOW}

    with monkeypatch.context() as broken:
        broken.setattr("webapp.sessions.record_batch.response_values", without_side)
        assert record(engine, [sent(refs[0]), sent(refs[1])]) == [None] * 2
    assert not stored(sessions)
    assert record(engine, [sent(refs[0])]) == [7]


def test_in_a_run_whose_type_of_response_is_not_known_yet_an_answer_goes_alone(engine, refs):
    answers = [sent(refs[0])]
    assert record_in_one_transaction(engine, DAYS, {}, lambda: answers) == [None]
    assert record(engine, answers) == [7]


def test_trials_whose_keys_are_not_in_a_row_are_counted_too(engine, sessions, refs):
    with sessions() as session:
        theirs = select(func.max(Trial.id)).join(Participant).where(Participant.ref == refs[0])
        last = session.scalar(theirs)
        session.execute(update(Trial).where(Trial.id == last).values(id=last + 1_000))
        session.commit()
    for position in range(1, 8):
        batch = [sent(ref, position) for ref in refs[:2]]
        assert record(engine, batch) == [8 - position] * 2
    assert record(engine, [sent(refs[0], 8)]) == [0]


def test_a_clock_of_any_time_zone_keeps_no_neighbour_s_answer_waiting(engine, sessions, refs):
    zones = [
        "0001-01-03T00:00:00Z", "2026-03-01T10:00:00.123456+23:59", "9998-01-01T00:00:00-18:00",
    ]  # fmt: skip
    common = {"position": 1, "side": "first", "input_method": "key"}
    bodies = [{"uuid": str(uuid4()), "client_time": zone, **common} for zone in zones]
    answers = [read_answer(json.dumps(body).encode()) for body in bodies]
    times = [answer.client_time for answer in answers]
    batch = [SentAnswer(ref, each, NOW) for ref, each in zip(refs, answers, strict=False)]
    assert None not in times and record(engine, batch) == [7] * 3
    with reading(sessions) as session:
        assert session.scalars(select(Response.client_time).order_by(Response.id)).all() == times
