"""A session as a film: its own times and choices, and nothing of it while the run is blind."""

import json
import re

import pytest
from sqlalchemy import select

from webapp.database.models import Participant
from webapp.runs.blinding import unblind_run
from webapp.users.roles import Role

pytestmark = pytest.mark.one_database


def test_a_film_has_each_answer_at_its_time_and_is_refused_while_blind(
    run, start, sessions, researcher, clock
):
    visitor = start(run)
    visitor.answer(1, "first", rt_ms=1234.0)
    clock.go_on(seconds=9)
    visitor.answer(2, "second", rt_ms=500.0)
    start(run)
    here = researcher(Role.VIEWER)
    with sessions() as session:
        who, other = session.scalars(select(Participant.ref).order_by(Participant.id))
    blind = here.get(f"/runs/{run.ref}/film?who={who}")
    assert (blind.status_code, "1234" in blind.text) == (409, False)
    with sessions.begin() as session:
        unblind_run(session, run, by="a test", reason="the test looks", now=clock())
    page = here.get(f"/runs/{run.ref}/film?who={who}").text
    [film] = json.loads(re.search(r'id="films">(.*?)</script>', page, re.DOTALL)[1])
    first, second = film["scenes"]
    assert (first["rt_ms"], first["chosen"], second["chosen"]) == (1234.0, "first", "second")
    assert first["until_s"] - first["from_s"] == pytest.approx(1.234)
    assert second["until_s"] - first["until_s"] == pytest.approx(9)
    nothing = here.get(f"/runs/{run.ref}/film?who={who}&beside={other}")
    said = f"The run {run.ref} has no participant {other} who answered a trial."
    assert (nothing.status_code, said in nothing.text) == (404, True)
    assert here.get(f"/runs/{run.ref}/film").status_code == 404
