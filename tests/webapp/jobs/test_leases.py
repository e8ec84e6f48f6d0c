"""Places fall free by themselves when their participants are gone."""

from sqlalchemy import func, select

from webapp.database.engine import reading
from webapp.database.models import Place
from webapp.jobs.housekeeping import release_leases


def held(sessions) -> int:
    with reading(sessions) as session:
        return session.scalar(select(func.count(Place.participant_id)))


def test_leases_end_while_nobody_new_comes(app, sessions, visitor, clock):
    services = app.extensions["parallax"]
    assert (release_leases(services), held(sessions)) == (0, 1)
    clock.go_on(hours=2)
    assert (release_leases(services), held(sessions)) == (1, 0)
    assert release_leases(services) == 0
