"""A run whose participants finished and submitted, and a platform that owes them."""

from collections.abc import Callable, Sequence

import pytest
from platform_double import PlatformDouble

from experiment.payment import Caps
from webapp.db import Sessions, reading
from webapp.flow.entries import rewards
from webapp.flow.owed import accounts
from webapp.flow.pay import pay_entries
from webapp.models import Assignment, Hit, Participant, Payment, Run

CAPS = Caps(per_participant_cents=500, per_run_cents=5_000)
REWARD_CENTS = 120


@pytest.fixture
def platform(clock) -> PlatformDouble:
    return PlatformDouble(now=clock())


@pytest.fixture
def hit(sessions: Sessions, run: Run) -> Hit:
    with sessions.begin() as session:
        hit = Hit(
            run_id=run.id, token="t" * 64, purpose="recruitment", places=9,
            platform_id="HIT1", hit_type_id="TYPE",
        )  # fmt: skip
        session.add(hit)
    return hit


@pytest.fixture
def worked(sessions: Sessions, run: Run, hit: Hit, platform: PlatformDouble, clock):
    """Return a function that stores somebody who took part and submitted, and gives their ref."""

    def store(
        number: int, state: str = "finished", status: str | None = "submitted", receipt: str = ""
    ) -> str:
        ref, worker, assignment = f"ref{number}", f"AWORKER{number}", f"ASSIGNMENT{number}"
        with sessions.begin() as session:
            person = Participant(
                run_id=run.id, ref=ref, platform_id=worker, state=state,
                arrived_at=clock(), consented_at=clock(), finished_at=clock(),
            )  # fmt: skip
            session.add(person)
            session.flush()
            if status is not None:
                session.add(
                    Assignment(
                        run_id=run.id,
                        hit_id=hit.id,
                        platform_id=assignment,
                        status=status,
                        participant_id=person.id,
                        worker_id=worker,
                        submit_to="",
                        receipt=receipt,
                        accepted_at=clock(),
                        submitted_at=clock(),
                    )
                )
                platform.add(assignment, worker, receipt=receipt)
        return ref

    return store


@pytest.fixture
def pay_rewards(sessions: Sessions, run: Run, platform: PlatformDouble, clock):
    """Return a function that pays everybody's reward, as far as the platform lets it."""

    def pay() -> list[Payment]:
        with reading(sessions) as session:
            entries = rewards(accounts(session, run), REWARD_CENTS)
        return pay_entries(sessions, platform, run, entries, CAPS, clock)

    return pay


Pay = Callable[[], Sequence[Payment]]
