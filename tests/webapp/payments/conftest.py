"""A run whose participants finished and submitted, and a platform that owes them."""

from collections.abc import Callable, Sequence

import pytest

from experiment.payment.payment import Caps
from tests.webapp.payments.platform_double import PlatformDouble
from tests.webapp.privacy.conftest import book  # noqa: F401 - a fixture
from tests.webapp.test_transactions import OpenTransactions
from webapp.database.engine import Sessions, reading
from webapp.database.models import Assignment, Hit, Participant, Payment, Run
from webapp.gate.gate import begin_ledger_entry, store_ledger_state
from webapp.payments.accounts import load_accounts
from webapp.payments.pay import pay_entries
from webapp.payments.rewards import build_reward_entries

CAPS = Caps(per_participant_minor=500, per_run_minor=5_000, currency="USD")
REWARD_CENTS = 20  # what the study of the run says


@pytest.fixture
def platform(app, clock) -> PlatformDouble:
    engine = app.extensions["parallax"].engine
    return PlatformDouble(now=clock(), refuse_open_transaction=OpenTransactions(engine).refuse)


@pytest.fixture
def hit(sessions: Sessions, run: Run, clock) -> Hit:
    with sessions.begin() as session:
        # As publishing does: the file beside the database knows of the offer.
        begin_ledger_entry(session.connection())
        hit = Hit(
            run_id=run.id, token="t" * 64, purpose="recruitment", places=9,
            platform_id="HIT1", posted_at=clock(),
        )  # fmt: skip
        session.add(hit)
        session.flush()
        store_ledger_state(session.connection())
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
            entries = build_reward_entries(load_accounts(session, run), REWARD_CENTS)
        return pay_entries(sessions, platform, run, entries, CAPS, clock)

    return pay


Pay = Callable[[], Sequence[Payment]]
