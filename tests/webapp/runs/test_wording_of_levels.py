"""Simulated participants of every level answer what their level is asked, and nothing else."""

from collections import defaultdict
from datetime import UTC, datetime

import pytest
from sqlalchemy import select

from experiment.studies.load import load_study
from tests.webapp.participant.test_wording import worded
from webapp.database.engine import reading
from webapp.database.models import Answer, Participant
from webapp.runs.exclude import store_verdicts

pytestmark = pytest.mark.one_database


@pytest.fixture
def prelaunched() -> bool:
    return False


@pytest.fixture
def study(tmp_path):
    return load_study(worded(tmp_path))


def test_each_level_answers_its_own_questions(study, send, sessions, simulated_run):
    send(participants=4)
    with sessions.begin() as session:
        store_verdicts(session, session.merge(simulated_run), datetime(2026, 3, 1, tzinfo=UTC))
    asked: dict[str, set[str]] = defaultdict(set)
    with reading(sessions) as session:
        rows = select(Participant.list, Answer.field).join(
            Answer, Answer.participant_id == Participant.id
        )
        for list_, field in session.execute(rows):
            asked[study.design.levels(list_)["filler_length"]].add(field)
    assert "hurried" in asked["long"]
    assert "hurried" not in asked["short"]
