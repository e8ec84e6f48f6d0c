"""Shared by commands: the option that names the installation, and its opened database."""

import getpass
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any

import click
from sqlalchemy import Engine, make_url

from webapp.core.clock import utc_now
from webapp.core.instance import key_file, open_instance, refuse_other_user
from webapp.core.sealing import Sealer
from webapp.core.settings import FILE_NAME, INSTANCE_VARIABLE
from webapp.database.engine import (
    Sessions,
    make_sessions,
    report_database_failures,
    usable_database,
)
from webapp.database.models.identity import unlock
from webapp.database.scrub import scrub
from webapp.errors import WebappError
from webapp.opening import installation_keys, open_installation
from webapp.recruiters.settings import load_settings
from webapp.server import server_control as server

_instance_option: Callable[[Callable[..., Any]], Callable[..., Any]] = click.option(
    "--instance",
    # Ownership of the folder is checked by refuse_other_user, with advice on the command.
    type=click.Path(path_type=Path, readable=False),
    envvar=INSTANCE_VARIABLE,
    default=Path("instance"),
    show_default=True,
    help=f"The installation's folder.  [default: the one that {INSTANCE_VARIABLE} names]",
)


def add_instance_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the option --instance to a command that needs an existing installation.

    A mistyped folder is refused, and nothing is made there.
    """

    @wraps(command)
    def run(**values: object) -> Any:  # noqa: ANN401 - whatever the command returns
        _refuse_missing_installation(Path(str(values["instance"])))
        return command(**values)

    return add_new_instance_option(run)


def add_new_instance_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the option --instance to a command that may create an installation.

    Database errors are reported in words. A user other than the folder's owner is refused, because
    their files would block the server.
    """

    @wraps(command)
    def run(**values: object) -> Any:  # noqa: ANN401 - whatever the command returns
        refuse_other_user(Path(str(values["instance"])))
        with report_database_failures():
            return command(**values)

    return _instance_option(run)


def _refuse_missing_installation(folder: Path) -> None:
    """Check that a folder holds an installation: its database, settings or keys.

    Raises:
        WebappError: It does not.
    """
    if any(parent.is_file() for parent in folder.parents):
        return  # opening the folder says that it cannot be used
    url = make_url(load_settings(folder).database_url)
    if url.get_backend_name() != "sqlite" or not url.database:
        return
    if any(file.exists() for file in (Path(url.database), folder / FILE_NAME, key_file(folder))):
        return
    raise WebappError(
        "there is no installation here, and nothing was made",
        where=str(folder.absolute()),
        expected=f"the database {url.database}",
        remedy=f"Name the installation's folder with --instance or {INSTANCE_VARIABLE}; "
        "parallax launch STUDY, parallax serve and parallax users add create one",
    )


def open_sessions(instance: Path) -> Sessions:
    """Return the session factory of an installation's database, closed when the command ends.

    Raises:
        WebappError: The folder, a setting or the database cannot be used.
    """
    settings = load_settings(folder := open_instance(instance))
    engine = open_installation(folder, settings, installation_keys(folder, settings), utc_now())
    if context := click.get_current_context(silent=True):
        context.call_on_close(engine.dispose)
    return make_sessions(engine)


# Places where erased data may remain, and how to remove them.
_REMAINING_DATA = {
    "sqlite": ("log file", "Stop the server once to empty it."),
    "postgresql": ("files", "Try again when it has ended: parallax db scrub"),
}


def name_operator() -> str:
    """Return the name under which the audit log lists what a command does."""
    return f"{getpass.getuser()} (command line)"


@contextmanager
def open_instance_database(instance: Path) -> Iterator[Engine]:
    """Yield the installation's database, with any version of the schema."""
    settings = load_settings(folder := open_instance(instance))
    keys = installation_keys(folder, settings)
    with usable_database(settings.database_url) as engine:
        unlock(engine, Sealer(keys))
        yield engine
    engine.dispose()


def refuse_while_serving(instance: Path) -> None:
    """Raise an error while a server uses the database."""
    serving = server.find_running_server(instance)
    if serving is not None:
        raise WebappError(
            f"a server is using the database (process {serving.pid})",
            where=serving.url,
            remedy="Stop it first with: parallax stop",
        )


def print_repeated_erasures(instance: Path, gone: int) -> None:
    """Print for how many participants erasures were repeated after a restore; scrub the files."""
    if gone:
        click.echo(f"{gone} people who had withdrawn or had their data erased are taken out again.")
        scrub_files(instance)


def scrub_files(instance: Path) -> bool:
    """Scrub erased data from the database's files, and print where that was not possible.

    Returns:
        Whether it was possible everywhere.
    """
    with open_instance_database(instance) as engine:
        location, remedy = _REMAINING_DATA[engine.dialect.name]
        try:
            reason = scrub(engine)
        except (OSError, sqlite3.Error) as error:
            reason = str(error)
    if reason:
        click.echo(
            f"Erased data may remain in the database's {location} ({reason}). {remedy}", err=True
        )
    return not reason
