"""Metrics must not fail because what they are about has failed."""

import re
import socket
import threading

import httpx
from prometheus_client import generate_latest
from sqlalchemy import event
from sqlalchemy.exc import OperationalError

from tests.patience import PATIENCE_S
from webapp import create_app
from webapp.core.clock import utc_now
from webapp.core.metrics import METRICS, Metrics
from webapp.database.backup.routine import note
from webapp.server.metrics_endpoint import MetricsServer, collect_registry


def test_a_database_that_does_not_answer_is_a_figure_too(app, sessions, instance):
    metrics = Metrics()
    metrics.count_job("release_leases", done=False)

    @event.listens_for(app.extensions["parallax"].engine, "begin")
    def refuse(_connection: object) -> None:
        raise OperationalError("BEGIN", {}, Exception("gone"))

    made = utc_now()
    (instance / "backup").write_bytes(b"1")
    note(instance, made, instance / "backup", None)
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


def test_a_process_that_did_not_answer_ends_without_waiting_for_the_next_question(
    sessions, instance
):
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/metrics"
        servers = [MetricsServer(listening, Metrics(), sessions, instance) for _ in range(4)]
        for _ in range(5):
            assert httpx.get(url, trust_env=False, timeout=PATIENCE_S).status_code == 200
        ending = [threading.Thread(target=server.stop, daemon=True) for server in servers]
        for each in ending:
            each.start()
        for each in ending:
            each.join(PATIENCE_S / 10)
        assert not any(each.is_alive() for each in ending)
