"""``parallax marketplace``."""

import importlib
import re
from pathlib import Path

import click

from marketplace.serving import StandInOptions, StandInServer, build_url, open_socket

_DEFAULT_BALANCE = "10000"
_MONEY_PATTERN = re.compile(r"([0-9]{1,9})(?:\.([0-9]{1,2}))?")
# The function that starts each stand-in, as "module:function".
_PLATFORMS = {
    "mturk": "marketplace.mturk:start",
    "prolific": "marketplace.prolific:start",
    "panels": "marketplace.panels:start",
    "stores": "marketplace.stores:start",
}


def _parse_minor_units(_context: click.Context, _parameter: click.Parameter, value: str) -> int:
    money = _MONEY_PATTERN.fullmatch(value)
    if money is None:
        raise click.BadParameter(f"{value!r} is not an amount of money, e.g. 250 or 99.50")
    return int(money[1]) * 100 + int((money[2] or "").ljust(2, "0"))


@click.command()
@click.option(
    "--platform",
    type=click.Choice(list(_PLATFORMS)),
    default=next(iter(_PLATFORMS)),
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
    help="Where to keep the stand-in's state.  [default: PLATFORM_stand_in in the instance folder]",
)
@click.option(
    "--balance",
    callback=_parse_minor_units,
    default=_DEFAULT_BALANCE,
    show_default=True,
    help="The requester's play money in a new folder, in whole currency units.",
)
@click.option(
    "--currency",
    type=click.Choice(["GBP", "USD"]),
    default="GBP",
    show_default=True,
    help="The currency in a new folder, where the platform has more than one.",
)
@click.option(
    "--key-id",
    multiple=True,
    help="The access key id or token to accept.  [default: any]",
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
    """Run a local stand-in for a recruiting platform.

    It uses the platform's own protocol and play money, and runs until interrupted.
    """
    listening = open_socket(host, port, public=public)
    folder = folder or instance / f"{platform}_stand_in"
    url = build_url(host, listening.getsockname()[1])
    module, _, name = _PLATFORMS[platform].partition(":")
    start = getattr(importlib.import_module(module), name)
    started = start(StandInOptions(folder, url, balance, currency, key_id, public))
    state_place = folder if started.keeps_state else "memory"
    click.echo(f"The stand-in answers at {url}; its state is kept in {state_place}.")
    for line in started.instructions:
        click.echo(line)
    click.echo("Stop it with Ctrl+C.")
    StandInServer(started.app, listening, started.dispose).run()
