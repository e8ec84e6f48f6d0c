"""A marketplace that answers over HTTP, with a clock of its own, a requester and workers."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config

from marketplace.mturk import create_marketplace
from tests.marketplace.door import Door, served
from tests.marketplace.mturk.market import Market


@pytest.fixture(scope="session")
def door() -> Iterator[tuple[Door, str]]:
    with served() as door:
        yield door


@pytest.fixture(scope="session")
def client(door) -> Callable[..., Any]:
    """Return a function that gives boto3's client of a service at the door."""
    session, made = boto3.session.Session("any", "any", region_name="us-east-1"), {}

    def make(service: str) -> Any:
        once = Config(retries={"total_max_attempts": 1}, proxies={})
        if service not in made:
            made[service] = session.client(service, endpoint_url=door[1], config=once)
        return made[service]

    return make


@pytest.fixture(scope="session")
def untouched(tmp_path_factory) -> Path:
    """The folder of a new marketplace: copying it is quicker than making its tables."""
    folder = tmp_path_factory.mktemp("untouched") / "marketplace"
    create_marketplace(folder).extensions["marketplace"].engine.dispose()
    return folder


@pytest.fixture
def open_market(door, client, untouched: Path, tmp_path: Path) -> Iterator[Callable[..., Market]]:
    """Return a function that opens a marketplace, always in the same folder."""
    opened, folder = [], tmp_path / "marketplace"

    def begin(**options: object) -> Market:
        if not folder.exists() and "balance_cents" not in options:
            shutil.copytree(untouched, folder)
        door[0].app = app = create_marketplace(folder, **options)
        market = Market(door[1], client, app.extensions["marketplace"])
        opened.append(market)
        return market

    yield begin
    for market in opened:
        market.close()


@pytest.fixture
def market(open_market) -> Market:
    return open_market()
