"""Prometheus asks one port and gets what all of the server's processes counted."""

from collections.abc import Callable

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families as read_metrics

from tests.free_ports import free_port
from tests.patience import PATIENCE_S
from webapp.server import process as server

pytestmark = pytest.mark.one_database
Metrics = dict[tuple[str, frozenset[tuple[str, str]]], float]


@pytest.fixture
def metrics(instance, monkeypatch) -> Callable[[], Metrics]:
    """Return a function that asks for the metrics; servers of the test offer them."""
    port = free_port()
    monkeypatch.setenv("PARALLAX_METRICS_PORT", str(port))
    monkeypatch.setenv("PARALLAX_JOBS_IN_SERVER", "false")

    def ask() -> Metrics:
        text = httpx.get(
            f"http://127.0.0.1:{port}/metrics", trust_env=False, timeout=PATIENCE_S
        ).text
        return {
            (sample.name, frozenset(sample.labels.items())): sample.value
            for family in read_metrics(text)
            for sample in family.samples
        }

    return ask


def of(found: Metrics, name: str, **labels: str) -> float | None:
    return found.get((name, frozenset(labels.items())))


def test_the_metrics_are_those_of_all_processes_and_of_the_database(shell, instance, metrics):
    run = shell("launch", "minimal", "--seed", "1", "--recruiter", "simulator")
    run = run.rpartition("/run/")[2].split()[0]
    started = server.start(instance, workers=2)
    shell("simulate", run, "--participants", "3", "--url", started.url)
    httpx.get(f"{started.url}/nowhere", trust_env=False, timeout=PATIENCE_S)
    found = metrics()
    assert of(found, "parallax_requests_total", endpoint="answers.save", status="200") == 24
    assert of(found, "parallax_requests_total", endpoint="none", status="404") == 1
    assert of(found, "parallax_request_seconds_count", endpoint="answers.save") == 24
    assert of(found, "parallax_responses_stored") == 24
    assert of(found, "parallax_participants", run=run, state="finished") == 3
    assert of(found, "parallax_places_free", run=run) == 5
    assert of(found, "parallax_database_up") == 1
    assert of(metrics(), "parallax_request_seconds_count", endpoint="answers.save") == 24
    assert not (instance / "jobs.sqlite3").exists(), "this server does none, as it was told"
