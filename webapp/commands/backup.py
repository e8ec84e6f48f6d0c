"""``parallax db backup``."""

import time
from pathlib import Path

import click

from experiment.errors import ParallaxError
from webapp.commands.database import opened
from webapp.commands.erasure_record import copy_record
from webapp.commands.options import with_instance
from webapp.core.clock import utc_now
from webapp.core.instance import key_file, open_instance, write_once
from webapp.core.settings import Settings
from webapp.database.backup.bucket import Bucket
from webapp.database.backup.encryption import readable, recipients
from webapp.database.backup.routine import (
    back_up_once,
    forget_oldest,
    key_beside,
    note,
    place_for,
    record_beside,
    with_what_belongs_to_it,
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
    to, settings = recipients(encrypt) if encrypt else [], load_settings(instance)
    bucket = _bucket(settings) if settings.backup_bucket else None
    if bucket and not (to and place.is_dir()):
        raise WebappError(
            "a backup that leaves this machine must be encrypted, and named by its time",
            where=f"the setting backup_bucket, {settings.backup_bucket}",
            remedy="Give --encrypt READERS, and a folder as FILE: docs/database.md#off-site",
        )
    key = key_file(instance, settings.secret_key_file)
    began = utc_now()
    file = place_for(place, began, encrypted=bool(to))
    with opened(instance) as engine:
        content, tried = back_up_once(engine, file, key, to, tried_out=drill)
    copy_record(instance, record_beside(file))
    if bucket:
        bucket.put(with_what_belongs_to_it(file))
    note(instance, began, file, tried)
    click.echo(f"{file} holds {content}. It was read back and is sound.")
    if bucket:
        click.echo(f"It was copied to {bucket}, with its keys and the record of erasures.")
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


def _bucket(settings: Settings) -> Bucket:
    return Bucket(settings.backup_bucket, settings.backup_endpoint)


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--name", help="Which backup; the newest when not given.")
@click.option(
    "--identity",
    type=_PATH,
    help="The private key of the backup: also puts the keys file into the instance folder.",
)
@with_instance
def fetch(folder: Path, name: str | None, identity: Path | None, instance: Path) -> None:
    """Copy the newest backup of the bucket into FOLDER.

    Its keys and its record of erasures come with it.
    """
    home = open_instance(instance)
    settings = load_settings(home)
    if not settings.backup_bucket:
        raise WebappError(
            "there is no bucket to fetch a backup from",
            where=f"the settings of {home}",
            remedy="Set backup_bucket (PARALLAX_BACKUP_BUCKET): docs/database.md#off-site",
        )
    folder.mkdir(parents=True, exist_ok=True)
    file = _bucket(settings).fetch(folder, name)
    click.echo(f"{file} is here, with its keys and its record of erasures.")
    mine = key_file(home, settings.secret_key_file)
    if identity is None:
        return
    if mine.exists():
        click.echo(f"{mine} is kept: there are keys already.")
        return
    with readable(key_beside(file), identity) as plain:
        write_once(mine, plain.read_text(encoding="utf-8"))
    click.echo(f"The keys are in {mine}.")
