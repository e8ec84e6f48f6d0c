"""When a run's day of erasure has come: after it was closed, and after each time again."""

from datetime import UTC, datetime, timedelta

import pytest

from experiment.studies.load import load_study
from webapp.database.models import Run
from webapp.privacy.retention import is_erasure_due

CLOSED = datetime(2026, 3, 1, tzinfo=UTC)
DAY = timedelta(days=1)


def study(days: int | None):
    found = load_study("minimal")
    privacy = found.privacy.model_copy(update={"keep_identifying_days": days})
    return found.model_copy(update={"privacy": privacy})


@pytest.mark.parametrize(
    ("closed", "erased", "now", "due"),
    [
        (CLOSED, None, CLOSED + 30 * DAY - timedelta(seconds=1), False),
        (CLOSED, None, CLOSED + 30 * DAY, True),
        (CLOSED, CLOSED + 30 * DAY, CLOSED + 40 * DAY, False),
        (CLOSED, CLOSED, CLOSED + 40 * DAY, False),
        # Opened again and closed again: the people who came since then are still named.
        (CLOSED + 50 * DAY, CLOSED + 30 * DAY, CLOSED + 79 * DAY, False),
        (CLOSED + 50 * DAY, CLOSED + 30 * DAY, CLOSED + 80 * DAY, True),
        # Open again: there is no day.
        (None, CLOSED + 30 * DAY, CLOSED + 400 * DAY, False),
    ],
)
def test_a_run_is_due_its_days_after_each_time_it_was_closed(closed, erased, now, due):
    run = Run(closed_at=closed, identities_erased_at=erased)
    assert is_erasure_due(run, study(30), now) is due


def test_a_study_that_sets_no_days_is_never_due():
    assert not is_erasure_due(Run(closed_at=CLOSED), study(None), CLOSED + 9999 * DAY)
