"""``parallax marketplace``."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import click
from flask import Flask

from marketplace.mturk import BALANCE_CENTS, create_marketplace
from marketplace.mturk.store import EXTENSION
from marketplace.panels import create_panels
from marketplace.prolific import create_prolific
from marketplace.prolific.store import EXTENSION as PROLIFIC
from marketplace.serving import Gunicorn, address, listen

_MONEY = re.compile(r"([0-9]{1,9})(?:\.([0-9]{1,2}))?")


@dataclass(frozen=True, slots=True)
class _Asked:
    """How a stand-in starts.

    Attributes:
        folder: Where its state is kept.
        url: Where it answers.
        balance: The play money, minor units.
        currency: Its currency.
        keys: Who may call; empty for anybody.
        public: Whether others than this machine's users come.
    """

    folder: Path
    url: str
    balance: int
    currency: str
    keys: tuple[str, ...]
    public: bool


def _mturk(asked: _Asked) -> tuple[Flask, str]:
    app = create_marketplace(
        asked.folder, balance_cents=asked.balance, key_ids=asked.keys, public=asked.public
    )
    key = asked.keys[0] if asked.keys else "any"
    click.echo(f"Requesters: boto3.client('mturk', endpoint_url='{asked.url}',")
    click.echo(
        f"    region_name='us-east-1', aws_access_key_id='{key}', aws_secret_access_key='any')"
    )
    click.echo(f"Workers: open {asked.url} and sign in with any ID like A1WORKER.")
    return app, EXTENSION


def _prolific(asked: _Asked) -> tuple[Flask, str]:
    app = create_prolific(
        asked.folder,
        balance_minor=asked.balance,
        currency=asked.currency,
        token=asked.keys[0] if asked.keys else "",
        public=asked.public,
    )
    token = asked.keys[0] if asked.keys else "any"
    click.echo(f"Researchers: {asked.url}/api/v1 with the header Authorization: Token {token}.")
    click.echo(f"Participants: open {asked.url} and sign in with any ID of 24 digits 0-9a-f.")
    return app, PROLIFIC


def _panels(asked: _Asked) -> tuple[Flask, str]:
    click.echo(f"Researchers: list a study with a POST to {asked.url}/control/studies.")
    click.echo(f"Participants: a POST to {asked.url}/people answers with their link.")
    return create_panels(), ""


_PLATFORMS: dict[str, Callable[[_Asked], tuple[Flask, str]]] = {
    "mturk": _mturk,
    "prolific": _prolific,
    "panels": _panels,
}


def _minor(_context: click.Context, _parameter: click.Parameter, value: str) -> int:
    money = _MONEY.fullmatch(value)
    if money is None:
        raise click.BadParameter(f"{value!r} is not an amount of money, e.g. 250 or 99.50")
    return int(money[1]) * 100 + int((money[2] or "").ljust(2, "0"))


@click.command()
@click.option(
    "--platform",
    type=click.Choice(list(_PLATFORMS)),
    default="mturk",
    show_default=True,
    help="The platform to imitate.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8100,
    show_default=True,
    help="The port; 0 takes any free one.",
)
@click.option(
    "--folder",
    type=click.Path(path_type=Path),
    help="Where to keep its state.  [default: marketplace or prolific in the instance folder]",
)
@click.option(
    "--balance",
    callback=_minor,
    default=str(BALANCE_CENTS // 100),
    show_default=True,
    help="The requester's play money in a new folder, in whole currency units.",
)
@click.option(
    "--currency",
    type=click.Choice(["GBP", "USD"]),
    default="GBP",
    show_default=True,
    help="The currency of Prolific's wallet in a new folder; MTurk has dollars only.",
)
@click.option(
    "--key-id",
    multiple=True,
    help="The access key id, or for Prolific the token, to accept.  [default: any]",
)
@click.option("--public", is_flag=True, help="Also accept connections from other machines.")
@click.option(
    "--instance",
    type=click.Path(path_type=Path),
    envvar="PARALLAX_INSTANCE",
    default=Path("instance"),
    show_default=True,
    help="The installation's folder.  [default: the one that PARALLAX_INSTANCE names]",
)
def marketplace(
    platform: str,
    host: str,
    port: int,
    folder: Path | None,
    balance: int,
    currency: str,
    key_id: tuple[str, ...],
    public: bool,
    instance: Path,
) -> None:
    """Run a local marketplace that speaks Mechanical Turk's API, or Prolific's.

    It runs until interrupted.
    """
    listening = listen(host, port, public=public)
    folder = folder or instance / ("marketplace" if platform == "mturk" else platform)
    url = address(host, listening.getsockname()[1])
    kept = "memory" if platform == "panels" else folder
    click.echo(f"The marketplace answers at {url}; its state is kept in {kept}.")
    app, extension = _PLATFORMS[platform](_Asked(folder, url, balance, currency, key_id, public))
    click.echo("Stop it with Ctrl+C.")
    store = app.extensions.get(extension)
    Gunicorn(app, listening, store.engine.dispose if store else lambda: None).run()
