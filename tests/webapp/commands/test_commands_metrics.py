"""Prometheus asks one port and gets what all of the server's processes counted."""

import socket
from collections.abc import Callable

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families as read_metrics

from webapp import server

Figures = dict[tuple[str, frozenset[tuple[str, str]]], float]


@pytest.fixture
def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return listening.getsockname()[1]


@pytest.fixture
def figures(instance, free_port, monkeypatch) -> Callable[[], Figures]:
    """Return a function that asks for the figures; servers of the test offer them."""
    monkeypatch.setenv("PARALLAX_METRICS_PORT", str(free_port))
    monkeypatch.setenv("PARALLAX_JOBS_IN_SERVER", "false")

    def ask() -> Figures:
        text = httpx.get(f"http://127.0.0.1:{free_port}/metrics", trust_env=False).text
        return {
            (sample.name, frozenset(sample.labels.items())): sample.value
            for family in read_metrics(text)
            for sample in family.samples
        }

    return ask


def of(found: Figures, name: str, **labels: str) -> float | None:
    return found.get((name, frozenset(labels.items())))


def test_the_figures_are_those_of_all_processes_and_of_the_database(shell, instance, figures):
    run = shell("launch", "minimal", "--seed", "1", "--recruiter", "simulator")
    run = run.rpartition("/run/")[2].split()[0]
    started = server.start(instance, workers=2)
    shell("simulate", run, "--participants", "3", "--url", started.url)
    httpx.get(f"{started.url}/nowhere", trust_env=False)
    found = figures()
    assert of(found, "parallax_requests_total", endpoint="answers.save", status="200") == 24
    assert of(found, "parallax_requests_total", endpoint="none", status="404") == 1
    assert of(found, "parallax_request_seconds_count", endpoint="answers.save") == 24
    assert of(found, "parallax_responses_stored") == 24
    assert of(found, "parallax_participants", run=run, state="finished") == 3
    assert of(found, "parallax_places_free", run=run) == 5
    assert of(found, "parallax_database_up") == 1
    assert of(figures(), "parallax_request_seconds_count", endpoint="answers.save") == 24


@pytest.mark.one_database
def test_counts_go_on_when_the_server_begins_anew(shell, instance, figures):
    started = server.start(instance)
    for _ in range(3):
        httpx.get(f"{started.url}/nowhere", trust_env=False)
    shell("reload")
    for _ in range(3):
        httpx.get(f"{started.url}/nowhere", trust_env=False)
    assert of(figures(), "parallax_requests_total", endpoint="none", status="404") == 6
