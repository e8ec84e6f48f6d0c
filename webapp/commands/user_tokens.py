"""``parallax users tokens`` and ``revoke-token``: with what programs act for a user."""

import getpass
from pathlib import Path

import click

from experiment.tables.files import text_table
from webapp.commands.options import open_sessions, with_instance
from webapp.core.clock import utc_now
from webapp.database.engine import reading
from webapp.projects.tokens import revoke, tokens_of
from webapp.users import users as accounts


@click.command()
@click.argument("name")
@with_instance
def tokens(name: str, instance: Path) -> None:
    """List the tokens with which programs act for NAME."""
    with reading(open_sessions(instance)) as session:
        rows = [
            (
                str(each.id),
                each.label,
                each.scopes,
                f"{each.expires_at:%Y-%m-%d}",
                f"{each.used_at:%Y-%m-%d %H:%M}" if each.used_at else "never",
                "revoked" if each.revoked_at else "",
            )
            for each in tokens_of(session, accounts.named_user(session, name))
        ]
    header = ("number", "token", "scopes", "until", "last used", "state")
    click.echo(text_table(header, rows) if rows else f"{name} has no tokens.")


@click.command("revoke-token")
@click.argument("name")
@click.argument("number", type=int)
@with_instance
def revoke_token(name: str, number: int, instance: Path) -> None:
    """End the token NUMBER of NAME at once."""
    with open_sessions(instance).begin() as session:
        user = accounts.named_user(session, name)
        revoke(session, user, number, by=f"{getpass.getuser()} (command line)", now=utc_now())
    click.echo(f"The token {number} of {name} is revoked.")
