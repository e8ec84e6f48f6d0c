"""``parallax users``: the accounts for the researcher's pages."""

import getpass
import warnings
from pathlib import Path
from typing import TextIO

import click

from experiment.tables.files import text_table
from webapp.commands.options import (
    add_instance_option,
    add_new_instance_option,
    name_operator,
    open_sessions,
)
from webapp.core.clock import utc_now
from webapp.core.instance import open_instance
from webapp.core.tokens import Tokens
from webapp.database.engine import make_sessions, open_database, reading
from webapp.errors import WebappError
from webapp.opening import installation_keys
from webapp.recruiters.settings import load_settings
from webapp.server.server_control import find_running_server
from webapp.users import users as accounts
from webapp.users.passwords import hash_password
from webapp.users.roles import Role
from webapp.users.second_factor import remove_factor
from webapp.users.sign_in import end_sessions_of_all_users, sign_out_everywhere
from webapp.users.tokens import list_tokens, revoke_user_token
from webapp.users.users import FIRST_OWNER_PATH, PASSWORD_LINK_PATH, create_password_link

_ROLE_CHOICE = click.Choice([str(role) for role in Role])
_password_option = click.option(
    "--password-file",
    type=click.File(encoding="utf-8"),
    help="Read the password from the first line of a file (- for the standard input).",
)


@click.group()
def users() -> None:
    """Manage the accounts for researcher pages."""


@users.command("list")
@add_instance_option
def list_(instance: Path) -> None:
    """List the accounts."""
    with reading(open_sessions(instance)) as session:
        rows = [
            (user.name, user.role, "disabled" if user.disabled_at else "active")
            for user in accounts.list_users(session)
        ]
    click.echo(text_table(("user", "role", "state"), rows) if rows else "There are no users yet.")


@users.command()
@click.argument("name")
@click.option("--role", type=_ROLE_CHOICE, required=True, help="The role: what the user may do.")
@_password_option
@click.option(
    "--no-password",
    is_flag=True,
    help="The user signs in with another service: docs/researcher.md.",
)
@add_new_instance_option
def add(
    name: str, role: str, password_file: TextIO | None, no_password: bool, instance: Path
) -> None:
    """Make an account for NAME and ask for its password."""
    password_hash = "" if no_password else hash_password(_read_password(password_file))
    with open_sessions(instance).begin() as session:
        accounts.add_user(
            session, name, Role(role), password_hash, by=name_operator(), now=utc_now()
        )
    click.echo(f"{name} can sign in as {role}.")


@users.command()
@click.argument("name")
@click.argument("role", type=_ROLE_CHOICE)
@add_instance_option
def role(name: str, role: str, instance: Path) -> None:
    """Give NAME another ROLE."""
    with open_sessions(instance).begin() as session:
        user = accounts.find_user(session, name)
        accounts.set_role(session, user, Role(role), by=name_operator(), now=utc_now())
    click.echo(f"{name} is {role} from now on.")


@users.command()
@click.argument("name")
@_password_option
@add_instance_option
def password(name: str, password_file: TextIO | None, instance: Path) -> None:
    """Ask for a new password of NAME and sign them out everywhere."""
    password_hash = hash_password(_read_password(password_file))
    with open_sessions(instance).begin() as session:
        user = accounts.find_user(session, name)
        accounts.set_password(session, user, password_hash, by=name_operator(), now=utc_now())
    click.echo(f"{name} has a new password and is signed out everywhere.")


@users.command()
@click.argument("name")
@add_instance_option
def disable(name: str, instance: Path) -> None:
    """Disable the account of NAME; the audit log stays."""
    with open_sessions(instance).begin() as session:
        user = accounts.find_user(session, name)
        accounts.disable_user(session, user, by=name_operator(), now=utc_now())
    click.echo(f"{name} can no longer sign in.")


@users.command()
@click.argument("name")
@add_instance_option
def enable(name: str, instance: Path) -> None:
    """Enable the account of NAME again."""
    with open_sessions(instance).begin() as session:
        user = accounts.find_user(session, name)
        accounts.enable_user(session, user, by=name_operator(), now=utc_now())
    click.echo(f"{name} can sign in again.")


@users.command("sign-out")
@click.argument("name", required=False)
@click.option("--everybody", is_flag=True, help="End the sessions of every user.")
@add_instance_option
def sign_out(name: str | None, everybody: bool, instance: Path) -> None:
    """End every session of NAME."""
    if (name is None) != everybody:
        raise click.UsageError("Give either a NAME or --everybody.")
    with open_sessions(instance).begin() as session:
        if name is None:
            end_sessions_of_all_users(session, utc_now())
        else:
            sign_out_everywhere(session, accounts.find_user(session, name), utc_now())
    click.echo(f"{name or 'Everybody'} is signed out everywhere.")


@users.command("password-link")
@click.argument("name")
@add_instance_option
def password_link(name: str, instance: Path) -> None:
    """Print a one-time link with which NAME sets a new password."""
    base = load_settings(open_instance(instance)).link_base
    with open_sessions(instance).begin() as session:
        user = accounts.find_user(session, name)
        token = create_password_link(session, user, by=name_operator(), now=utc_now())
    click.echo(f"{base}{PASSWORD_LINK_PATH}?token={token}")


@users.command("owner-link")
@add_instance_option
def owner_link(instance: Path) -> None:
    """Print a link by which the first owner makes an account.

    It works once, for an hour, and only while there is no owner.
    """
    server = find_running_server(instance)
    link = make_first_owner_link(instance, server.url if server else "")
    if link is None:
        raise WebappError(
            "an owner exists, so there is no link for the first one",
            remedy="Ask an owner for an account; parallax users list names them",
        )
    click.echo(link)


def make_first_owner_link(instance: Path, base: str = "") -> str | None:
    """Return a link with which the first owner makes an account; None if there is an owner.

    Args:
        instance: The instance folder.
        base: The server's address, if the settings give no public one.
    """
    settings = load_settings(folder := open_instance(instance))
    keys = installation_keys(folder, settings)
    engine = open_database(settings.database_url, keys)
    try:
        with reading(make_sessions(engine)) as session:
            if accounts.has_owner(session):
                return None
    finally:
        engine.dispose()
    token = accounts.make_first_owner_token(Tokens.from_keys(keys), utc_now())
    address = settings.link_base if settings.public_url or not base else base
    return f"{address}{FIRST_OWNER_PATH}?token={token}"


@users.command("drop-factor")
@click.argument("name")
@add_instance_option
def drop_factor(name: str, instance: Path) -> None:
    """Remove the second factor of NAME, who lost it."""
    with open_sessions(instance).begin() as session:
        user, now = accounts.find_user(session, name), utc_now()
        removed = remove_factor(session, user, by=name_operator(), now=now)
        sign_out_everywhere(session, user, now)
    click.echo(f"{name} has no second factor{' any more' if removed else ''}.")


def _read_password(file: TextIO | None) -> str:
    if file is not None:
        return file.readline().rstrip("\r\n")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", getpass.GetPassWarning)
            password: str = click.prompt(
                "Password", hide_input=True, confirmation_prompt=True, err=True
            )
    except getpass.GetPassWarning as error:
        raise WebappError(
            "the password cannot be asked for: there is no terminal",
            expected="a terminal, or a file whose first line is the password",
            remedy="Add --password-file FILE, or --password-file - for the standard input",
        ) from error
    return password


@users.command()
@click.argument("name")
@add_instance_option
def tokens(name: str, instance: Path) -> None:
    """List the tokens with which programs act for NAME."""
    with reading(open_sessions(instance)) as session:
        rows = [
            (
                str(token.id),
                token.label,
                token.scopes,
                f"{token.expires_at:%Y-%m-%d}",
                f"{token.used_at:%Y-%m-%d %H:%M}" if token.used_at else "never",
                "revoked" if token.revoked_at else "",
            )
            for token in list_tokens(session, accounts.find_user(session, name))
        ]
    header = ("number", "token", "scopes", "until", "last used", "state")
    click.echo(text_table(header, rows) if rows else f"{name} has no tokens.")


@users.command("revoke-token")
@click.argument("name")
@click.argument("number", type=int)
@add_instance_option
def revoke_token(name: str, number: int, instance: Path) -> None:
    """End the token NUMBER of NAME at once."""
    with open_sessions(instance).begin() as session:
        user = accounts.find_user(session, name)
        revoke_user_token(session, user, number, by=name_operator(), now=utc_now())
    click.echo(f"The token {number} of {name} is revoked.")
