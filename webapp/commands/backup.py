"""``parallax db backup``."""

import time
from pathlib import Path

import click

from experiment.errors import ParallaxError
from webapp.commands.database import opened
from webapp.commands.erasure_record import copy_record
from webapp.commands.options import with_instance
from webapp.core.clock import utc_now
from webapp.core.instance import key_file, open_instance
from webapp.database.backup.encryption import recipients
from webapp.database.backup.routine import (
    back_up_once,
    forget_oldest,
    key_beside,
    note,
    place_for,
    record_beside,
)
from webapp.errors import WebappError
from webapp.recruiters.settings import load_settings

_PATH = click.Path(path_type=Path)
_HOUR_S = 3600.0
_AFTER_A_FAILURE_S = 300.0


@click.command()
@click.argument("file", type=_PATH)
@click.option(
    "--keep", type=click.IntRange(min=1), help="Delete all but the newest N backups in the folder."
)
@click.option("--every", type=float, help="Keep running and make a backup every so many hours.")
@click.option(
    "--encrypt", type=_PATH, help="Encrypt the backup for the public keys in this file (age)."
)
@click.option(
    "--drill",
    is_flag=True,
    help="Restore the backup into a scratch database and compare every table.",
)
@with_instance
def backup(
    file: Path,
    keep: int | None,
    every: float | None,
    encrypt: Path | None,
    drill: bool,
    instance: Path,
) -> None:
    """Write everything the database holds to FILE.

    Participants go on answering meanwhile. In a folder, the backup is named by its time.
    """
    if (keep or every) and not file.is_dir():
        raise WebappError(
            "--keep and --every write several backups and need a folder",
            where=str(file),
            expected="an existing folder as FILE",
        )
    while True:
        try:
            _back_up(open_instance(instance), file, keep, encrypt, drill)
            pause_s = (every or 0) * _HOUR_S
        except ParallaxError as error:
            if every is None:
                raise
            click.echo(f"Error: {error}", err=True)
            pause_s = min(every * _HOUR_S, _AFTER_A_FAILURE_S)
        if every is None:
            return
        time.sleep(pause_s)


def _back_up(
    instance: Path, place: Path, keep: int | None, encrypt: Path | None, drill: bool
) -> None:
    to = recipients(encrypt) if encrypt else []
    key = key_file(instance, load_settings(instance).secret_key_file)
    began = utc_now()
    file = place_for(place, began, encrypted=bool(to))
    with opened(instance) as engine:
        content, tried = back_up_once(engine, file, key, to, tried_out=drill)
    copy_record(instance, record_beside(file))
    note(instance, began, file, tried)
    click.echo(f"{file} holds {content}. It was read back and is sound.")
    if tried:
        click.echo(
            f"A trial restore took {tried.took_s:.1f} s; all {len(tried.content.rows)} tables "
            "agree."
        )
    click.echo(
        f"The secret keys are included: {key_beside(file)}."
        if to
        else f"The secret keys are not included. Keep a copy of {key}."
    )
    if keep and (gone := forget_oldest(place, keep)):
        click.echo(f"Deleted: {', '.join(path.name for path in gone)}.")
