"""Metrics must not fail because what they are about has failed."""

import re

from prometheus_client import generate_latest
from sqlalchemy import event
from sqlalchemy.exc import OperationalError

from webapp import create_app
from webapp.core.clock import utc_now
from webapp.core.metrics import METRICS, Metrics
from webapp.database.backup.routine import record_last_backup
from webapp.server.private_port import collect_registry


def test_a_database_that_does_not_answer_is_a_figure_too(app, sessions, instance):
    metrics = Metrics()
    metrics.count_job("release_leases", done=False)

    @event.listens_for(app.extensions["parallax"].engine, "begin")
    def refuse(_connection: object) -> None:
        raise OperationalError("BEGIN", {}, Exception("gone"))

    made = utc_now()
    (instance / "backup").write_bytes(b"1")
    record_last_backup(instance, made, instance / "backup", None)
    text = generate_latest(collect_registry(metrics, sessions, instance)).decode()
    assert "parallax_database_up 0.0" in text
    assert 'parallax_jobs_total{job="release_leases",outcome="failed"} 1.0' in text
    assert "parallax_responses_stored" not in text
    [age] = re.findall(r"^parallax_backup_age_seconds (\S+)$", text, re.MULTILINE)
    assert 0 <= float(age) <= (utc_now() - made).total_seconds()


def test_nothing_is_counted_unless_somebody_asks(app, instance, monkeypatch):
    assert app.extensions[METRICS] is None
    monkeypatch.setenv("PARALLAX_METRICS_PORT", "9100")
    other = create_app(instance)
    assert other.extensions[METRICS] is not None
    other.extensions["parallax"].engine.dispose()
