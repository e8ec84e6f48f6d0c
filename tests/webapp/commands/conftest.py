"""The command line in a temporary installation, and what its server counts."""

import socket
from collections.abc import Callable, Iterator

import httpx
import pytest
from click.testing import CliRunner
from prometheus_client.parser import text_string_to_metric_families as read_metrics

import parallax
from tests.free_ports import free_port
from tests.patience import PATIENCE_S
from webapp.errors import WebappError
from webapp.server import server_control as server

Shell = Callable[..., str]
Metrics = dict[tuple[str, frozenset[tuple[str, str]]], float]


@pytest.fixture
def shell(instance) -> Iterator[Shell]:
    """Return a function that runs a command and gives what it printed; errors are raised.

    A server that it starts has one process, because each takes a second of the processor to start.
    """
    runner = CliRunner(env={"PARALLAX_INSTANCE": str(instance), "PARALLAX_WORKERS": "1"})

    def run(*arguments: str) -> str:
        return runner.invoke(parallax.cli, arguments, catch_exceptions=False).output

    yield run
    try:
        server.stop(instance)
    except WebappError:
        return


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]


@pytest.fixture
def metrics(monkeypatch) -> Callable[[], Metrics]:
    """Return a function that asks for the metrics; servers of the test offer them."""
    port = free_port()
    monkeypatch.setenv("PARALLAX_METRICS_PORT", str(port))

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
