"""A stand-in with a clock of its own; each test begins with a new one."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from marketplace.prolific import create_prolific
from marketplace.serving import serve_in_thread
from tests.marketplace.prolific.stand_in import Clock, StandIn

HERE = "http://127.0.0.1"


@pytest.fixture(scope="session")
def new_folder(tmp_path_factory) -> Path:
    """The folder of a new stand-in: copying it is quicker than making keys and tables."""
    folder = tmp_path_factory.mktemp("new") / "prolific"
    create_prolific(folder).extensions["prolific"].engine.dispose()
    return folder


@pytest.fixture
def open_stand_in(new_folder: Path, tmp_path: Path) -> Iterator[Callable[..., StandIn]]:
    """Return a function that opens a stand-in, always in the same folder."""
    opened, folder = [], tmp_path / "prolific"

    def begin(**options: Any) -> StandIn:
        if not folder.exists() and not options:
            shutil.copytree(new_folder, folder)
        clock = Clock()
        app = create_prolific(folder, now=clock, webhooks_by_themselves=False, **options)
        opened.append(app)
        return StandIn(HERE, app, clock, lambda: httpx.WSGITransport(app=app))

    yield begin
    for app in opened:
        app.extensions["prolific"].engine.dispose()


@pytest.fixture
def stand_in(open_stand_in) -> StandIn:
    return open_stand_in()


@pytest.fixture
def served(stand_in: StandIn) -> Iterator[StandIn]:
    """The stand-in behind a real socket, for connections that break."""
    with serve_in_thread(stand_in.app) as url:
        yield StandIn(url, stand_in.app, stand_in.clock)
