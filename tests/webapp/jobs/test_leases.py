"""Places fall free by themselves when their participants are gone."""

from sqlalchemy import func, select

from webapp.db import reading
from webapp.jobs.leases import release_leases
from webapp.models import Place


def held(sessions) -> int:
    with reading(sessions) as session:
        return session.scalar(select(func.count(Place.participant_id)))


def test_leases_end_while_nobody_new_comes(app, sessions, visitor, clock):
    own = app.extensions["parallax"]
    assert (release_leases(own), held(sessions)) == (0, 1)
    clock.go_on(hours=2)
    assert (release_leases(own), held(sessions)) == (1, 0)
    assert release_leases(own) == 0
