"""One HIT that cannot be polled does not keep the others from being polled."""

import pytest
from sqlalchemy import select

from webapp.core.clock import utc_now
from webapp.database.engine import reading
from webapp.database.models import Assignment, Hit
from webapp.recruiters.platform import PlatformError, PlatformUnreachable
from webapp.recruitment.poll import poll_run

pytestmark = pytest.mark.one_database


class Partly:
    """A platform that fails for some HITs, and counts how often it was asked for any."""

    def __init__(self, platform, failures: dict[str, PlatformError]):
        self._platform, self._failures, self.asked = platform, failures, list[str]()

    def state(self, hit_id: str):
        self.asked.append(hit_id)
        if hit_id in self._failures:
            raise self._failures[hit_id]
        return self._platform.state(hit_id)

    def __getattr__(self, name: str):
        return getattr(self._platform, name)


@pytest.fixture
def add_hit(sessions, run):
    def add(number: int) -> str:
        name = f"GONE{number}"
        with sessions.begin() as session:
            # Polled before those that were published.
            hit = Hit(id=-number, run_id=run.id, token=name, purpose="recruitment", places=1)
            hit.platform_id = name
            session.add(hit)
        return name

    return add


def statuses(sessions) -> list[str]:
    with reading(sessions) as session:
        return [row.status for row in session.scalars(select(Assignment))]


def submit(worker) -> None:
    ann = worker("AANN")
    ann.submit(ann.finish(ann.consent(ann.accept())))


def test_a_hit_that_is_refused_is_raised_when_the_others_are_polled(
    publish_run, worker, sessions, platform, run, add_hit
):
    publish_run()
    submit(worker)
    failing = Partly(platform, {add_hit(1): PlatformError("this HIT does not exist")})
    with pytest.raises(PlatformError, match="this HIT does not exist"):
        poll_run(sessions, failing, run.ref, utc_now())
    assert statuses(sessions) == ["submitted"]


def test_one_and_two_that_do_not_answer_are_passed_by(
    publish_run, worker, sessions, platform, run, add_hit
):
    publish_run()
    submit(worker)
    silent = {add_hit(number): PlatformUnreachable("no answer") for number in (1, 2)}
    with pytest.raises(PlatformUnreachable):
        poll_run(sessions, Partly(platform, silent), run.ref, utc_now())
    assert statuses(sessions) == ["submitted"]


def test_a_platform_that_is_away_is_not_asked_for_every_hit(
    publish_run, sessions, platform, run, add_hit
):
    publish_run()
    silent = {add_hit(number): PlatformUnreachable("no answer") for number in range(1, 6)}
    away = Partly(platform, silent)
    with pytest.raises(PlatformUnreachable):
        poll_run(sessions, away, run.ref, utc_now())
    assert len(away.asked) == 3
