"""Options that every command needs: the installation and its database."""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click

from webapp.core.clock import utc_now
from webapp.core.instance import open_instance, refuse_other_user
from webapp.core.settings import INSTANCE_VARIABLE
from webapp.database.engine import Sessions, failures_in_words, make_sessions
from webapp.opening import installation_keys, open_installation
from webapp.recruiters.settings import load_settings

_instance_option: Callable[[Callable[..., Any]], Callable[..., Any]] = click.option(
    "--instance",
    # Ownership of the folder is checked by refuse_other_user, with advice on the command.
    type=click.Path(path_type=Path, readable=False),
    envvar=INSTANCE_VARIABLE,
    default=Path("instance"),
    show_default=True,
    help=f"The installation's folder.  [default: the one that {INSTANCE_VARIABLE} names]",
)


def with_instance(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the installation folder's option to a command, and report database errors in words.

    A user other than the folder's owner is refused, because their files would block the server.
    """

    @wraps(command)
    def run(**values: object) -> Any:  # noqa: ANN401 - whatever the command returns
        refuse_other_user(Path(str(values["instance"])))
        with failures_in_words():
            return command(**values)

    return _instance_option(run)


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
