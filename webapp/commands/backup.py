"""``parallax db backup``, ``restore`` and ``drill``."""

import time
from pathlib import Path

import click

from experiment.errors import ParallaxError
from webapp.commands.database import opened, refuse_while_serving, tell_erased
from webapp.commands.erasure_record import copy_record, newest_record
from webapp.commands.options import with_instance
from webapp.core.clock import utc_now
from webapp.core.instance import key_file, open_instance
from webapp.core.keys import read_keys
from webapp.database.backup.backup import restore
from webapp.database.backup.drill import drill as try_out
from webapp.database.backup.encryption import readable, recipients
from webapp.database.backup.routine import (
    age_s,
    back_up_once,
    forget_oldest,
    key_beside,
    last_backup,
    note,
    place_for,
    record_beside,
)
from webapp.database.key_identity import recognise
from webapp.database.models.identity import sealer_of
from webapp.database.schema import schema_problem
from webapp.database.use import alone
from webapp.errors import WebappError
from webapp.gate.ledger import restored, restoring
from webapp.privacy.restored import carry_out_again
from webapp.recruiters.settings import load_settings

_PATH = click.Path(path_type=Path)
_HOUR_S = 3600.0
_AFTER_A_FAILURE_S = 300.0
_identity = click.option(
    "--identity",
    type=_PATH,
    help="The private key of an encrypted backup, as age-keygen writes it.",
)


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


@click.command("restore")
@click.argument("file", type=_PATH)
@click.option("--replace", is_flag=True, help="Overwrite the data that the database holds now.")
@click.option("--record", type=_PATH, help="A newer copy of the record of erasures, to use too.")
@click.option("--without-record", is_flag=True, help="Restore although no record is found.")
@_identity
@with_instance
def restore_(
    file: Path,
    replace: bool,
    record: Path | None,
    without_record: bool,
    identity: Path | None,
    instance: Path,
) -> None:
    """Restore the database from the backup FILE.

    It is changed wholly or not at all. People who withdrew or had their data erased since are taken
    out again, as the newest known record of erasures says.
    """
    refuse_while_serving(instance)
    settings = load_settings(folder := open_instance(instance))
    # A new key would open nothing that the backup holds.
    keys = read_keys(folder, settings.secret_key_file)
    with readable(file, identity) as plain, opened(instance) as engine, alone(engine):
        # Before anybody is brought back who could not be taken out again.
        said = newest_record(
            folder, sealer_of(engine.dialect), file, record, although_missing=without_record
        )
        restoring(folder)
        content = restore(engine, plain, replace=replace)
        problem = schema_problem(content.revision)
        if not problem:
            recognise(engine, keys)
            with engine.connect().execution_options(reading=True) as connection:
                restored(connection, folder)
        gone = 0 if problem else carry_out_again(folder, engine, utc_now())
    click.echo(f"The database holds {content} again.")
    click.echo(said)
    tell_erased(folder, gone)
    if problem:
        click.echo(problem)


@click.command("drill")
@click.argument("file", type=_PATH)
@_identity
@with_instance
def drill_(file: Path, identity: Path | None, instance: Path) -> None:
    """Restore FILE into a scratch database.

    Every table is compared, and the time it took is told. The database itself is left alone.
    """
    with readable(file, identity) as plain, opened(instance) as engine:
        tried = try_out(engine, plain)
    rows = tried.content.rows
    for name in sorted(rows):
        click.echo(f"{name:<28}{rows[name]:>12,}")
    click.echo(f"{file} holds {tried.content}; all {len(rows)} tables agree after a trial restore.")
    click.echo(f"Time to restore (RTO): {tried.took_s:.1f} s")
    last = last_backup(open_instance(instance))
    if last and Path(last.file) == file.resolve():
        click.echo(f"Data that would be lost (RPO): the last {age_s(last, utc_now()):,.0f} s")
