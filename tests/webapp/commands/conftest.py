"""The command line in a temporary installation."""

import socket
from collections.abc import Callable, Iterator

import pytest
from click.testing import CliRunner

import parallax
from webapp.errors import WebappError
from webapp.server import process as server

Shell = Callable[..., str]


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
