"""What every command needs: which installation, and its database."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from webapp.db import Sessions, make_sessions, open_database
from webapp.instance import open_instance
from webapp.settings import INSTANCE_VARIABLE, load_settings

with_instance: Callable[[Callable[..., Any]], Callable[..., Any]] = click.option(
    "--instance",
    type=click.Path(path_type=Path),
    envvar=INSTANCE_VARIABLE,
    default=Path("instance"),
    show_default=True,
    help=f"The installation's folder; by default the one {INSTANCE_VARIABLE} names.",
)


def open_sessions(instance: Path) -> Sessions:
    """Return the sessions of an installation's database.

    Raises:
        WebappError: The folder, a setting or the database cannot be used.
    """
    return make_sessions(open_database(load_settings(open_instance(instance)).database_url))
