"""Who decides about a run's money waits for who does so now; PostgreSQL has many writers."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select

from experiment.payment.payment import Caps
from tests.webapp.payments.by_hand import snapshot, study, written
from tests.webapp.runs.test_exclude import wait_until_held_up
from webapp.database.models import Run
from webapp.payments import non_idempotent_bonuses as two_step
from webapp.payments.ledger import record_payments
from webapp.payments.platform_payments import OtherBonuses
from webapp.payments.reconciliation.reconcile import fix_discrepancies

CAPS = Caps(per_participant_minor=500, per_run_minor=5_000, currency="USD")
NOTHING = two_step._Baseline(0, OtherBonuses((), (), ()))


@pytest.mark.one_database("postgresql")
def test_each_that_decides_about_a_run_s_money_waits_for_the_run(sessions, run, platform, clock):
    ordered, shown = (written(sessions, run, assignment=f"WORK{n}") for n in (1, 2))
    refused = written(sessions, run, assignment="WORK3", state="refused")
    written(sessions, run, assignment="WORK3", state="done")
    platform.add("WORK4", "AWORKER1")
    platform.refuse_open_transaction = lambda: None  # ours is open, and holds the run

    def record():
        with sessions.begin() as session:
            return record_payments(session, run, [], CAPS, clock())

    def take():
        return two_step.settle_by_hand(sessions, run, refused.id, clock, is_paid=True).state

    def fix():
        fix_discrepancies(sessions, platform, run, study(), "http://x", snapshot(), clock)

    deeds = {
        record: [],
        lambda: two_step._commit_order(sessions, ordered, NOTHING, clock): True,
        lambda: two_step._settle_if_shown(sessions, shown, [50], clock): True,
        take: "done",
        fix: None,
    }
    with ThreadPoolExecutor(1) as pool:
        for deed, result in deeds.items():
            with sessions.begin() as session:
                # Lines of the run may be written meanwhile, which is no waiting for it.
                holds = select(Run.id).where(Run.id == run.id).with_for_update(key_share=True)
                session.execute(holds)
                other = pool.submit(deed)
                wait_until_held_up(session.get_bind(), other)
                if deed is fix:
                    # It reads the ledger when its turn comes, not before.
                    written(sessions, run, kind="reward", state="intended", assignment="WORK4")
            assert other.result() == result
    assert platform.approvals == ["WORK4"]
