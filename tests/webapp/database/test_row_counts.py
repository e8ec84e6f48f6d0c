"""The kept counts are what is stored, however rows come, change and go."""

import pytest
from sqlalchemy import text

from webapp.database.engine import reading
from webapp.database.row_counts import find_wrong_counts, recount
from webapp.database.schema import upgrade


def counts(sessions) -> dict[str, int]:
    with reading(sessions) as session:
        rows = session.execute(text("SELECT subject, sum(n) FROM run_count GROUP BY subject"))
        return {subject: int(n) for subject, n in rows if n}


def wrong(sessions) -> dict[object, tuple[int, int]]:
    with reading(sessions) as session:
        return find_wrong_counts(session.connection())


def test_a_session_is_counted_at_each_step(sessions, run, visitor):
    assert counts(sessions) == {"places": 8, "taken": 1, "participants working": 1}
    trials = len(visitor.session()["trials"])
    visitor.answer_all()
    assert counts(sessions) == {
        "places": 8, "taken": 1, "participants answered": 1, "responses": trials,
    }  # fmt: skip
    assert wrong(sessions) == {}


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE place SET participant_id = NULL",
        "DELETE FROM place WHERE participant_id IS NULL",
        "UPDATE participant SET state = 'abandoned'",
        "DELETE FROM response",
        "DELETE FROM response WHERE id = 1",
    ],
)
def test_statements_of_any_program_are_counted(sessions, visitor, change):
    visitor.answer_all()
    before = counts(sessions)
    with sessions.begin() as session:
        session.execute(text(change))
    assert counts(sessions) != before
    assert wrong(sessions) == {}


def test_verdicts_are_counted_by_what_they_say(sessions, visitor):
    says = (
        "INSERT INTO verdict (participant_id, kept, rule, evidence, decided_at)"
        " VALUES (1, TRUE, '', '', '2026-01-01 00:00:00+00')"
    )
    for change, counted in (
        (says, {"verdict kept": 1}),
        (
            "UPDATE verdict SET kept = FALSE, rule = 'few'",
            {"verdict excluded few": 1},
        ),
        ("UPDATE verdict SET rule = 'too_fast'", {"verdict excluded too_fast": 1}),
        ("UPDATE verdict SET evidence = 'x'", {"verdict excluded too_fast": 1}),
        ("DELETE FROM verdict", {}),
    ):
        with sessions.begin() as session:
            session.execute(text(change))
        found = {name: n for name, n in counts(sessions).items() if name.startswith("verdict")}
        assert found == counted, change
        assert wrong(sessions) == {}
        with reading(sessions) as session:
            assert find_wrong_counts(session.connection(), run_id=1) == {}


def test_a_transaction_that_fails_is_not_counted(sessions, visitor):
    before = counts(sessions)
    with sessions() as session:
        session.execute(text("UPDATE participant SET state = 'finished'"))
        session.rollback()
    assert counts(sessions) == before


def test_recounting_sets_right_what_is_wrong_and_nothing_else(sessions, visitor):
    before = counts(sessions)
    with sessions.begin() as session:
        session.execute(text("UPDATE run_count SET n = n + 5 WHERE subject = 'taken'"))
        session.execute(text("DELETE FROM run_count WHERE subject = 'places'"))
    assert {subject for _, subject, _ in wrong(sessions)} == {"taken", "places"}
    with sessions.begin() as session:
        recount(session.connection())
    assert counts(sessions) == before
    assert wrong(sessions) == {}


def test_an_upgrade_counts_again_and_goes_on_counting(app, sessions, visitor):
    before = counts(sessions)
    engine = app.extensions["parallax"].engine
    with sessions.begin() as session:
        session.execute(text("UPDATE run_count SET n = n + 5 WHERE subject = 'taken'"))
    upgrade(engine)
    engine.dispose()
    assert counts(sessions) == before
    visitor.answer_all()
    assert counts(sessions)["responses"] > 0
    assert wrong(sessions) == {}
