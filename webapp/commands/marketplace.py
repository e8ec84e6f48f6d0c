"""``parallax marketplace``."""

import re
from pathlib import Path

import click

from webapp.commands.installation import with_instance
from webapp.marketplace import BALANCE_CENTS, create_marketplace
from webapp.marketplace.serving import Gunicorn, address, listen

_MONEY = re.compile(r"([0-9]{1,9})(?:\.([0-9]{1,2}))?")


def _cents(_context: click.Context, _parameter: click.Parameter, value: str) -> int:
    money = _MONEY.fullmatch(value)
    if money is None:
        raise click.BadParameter(f"{value!r} is not an amount in dollars, e.g. 250 or 99.50")
    return int(money[1]) * 100 + int((money[2] or "").ljust(2, "0"))


@click.command()
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
    help="Where its state is kept; marketplace in the instance folder.",
)
@click.option(
    "--balance",
    callback=_cents,
    default=str(BALANCE_CENTS // 100),
    show_default=True,
    help="The requester's play money, in dollars, when the folder is new.",
)
@click.option("--key-id", multiple=True, help="An access key id that may call; by default any.")
@click.option("--public", is_flag=True, help="Let others than this machine's users come.")
@with_instance
def marketplace(
    host: str,
    port: int,
    folder: Path | None,
    balance: int,
    key_id: tuple[str, ...],
    public: bool,
    instance: Path,
) -> None:
    """Run a local marketplace that speaks Mechanical Turk's API, until interrupted."""
    listening = listen(host, port, public=public)
    folder = folder or instance / "marketplace"
    app = create_marketplace(folder, balance_cents=balance, key_ids=key_id, public=public)
    url, key = address(host, listening.getsockname()[1]), key_id[0] if key_id else "any"
    click.echo(f"The marketplace answers at {url}; its state is kept in {folder}.")
    click.echo(f"Requesters: boto3.client('mturk', endpoint_url='{url}', region_name='us-east-1',")
    click.echo(f"    aws_access_key_id='{key}', aws_secret_access_key='any')")
    click.echo(f"Workers: open {url} and sign in with any ID like A1WORKER.")
    click.echo("Stop it with Ctrl+C.")
    Gunicorn(app, listening).run()
