"""``parallax db``: the database's schema and files; making, restoring and trying out backups."""

import time
from pathlib import Path

import click

from experiment.errors import ParallaxError
from webapp.commands.erasure_record import copy_record, newest_record
from webapp.commands.options import (
    add_instance_option,
    add_new_instance_option,
    open_instance_database,
    print_repeated_erasures,
    refuse_while_serving,
    scrub_files,
)
from webapp.commands.paying_copy import UNDETECTED_COPIES
from webapp.core.clock import utc_now
from webapp.core.instance import key_file, open_instance, write_once
from webapp.core.keys import read_keys
from webapp.core.settings import Settings
from webapp.database.backup.backup import SoundBackup, check_restorable
from webapp.database.backup.backup import rehearse_restore as try_out
from webapp.database.backup.bucket import Bucket
from webapp.database.backup.encryption import decrypt_temporarily, read_recipients
from webapp.database.backup.routine import (
    age_s,
    choose_backup_path,
    delete_oldest,
    key_path_for,
    list_backup_files,
    read_last_backup,
    record_last_backup,
    record_path_for,
    write_backup,
)
from webapp.database.backup.sqlite import open_merged_backup
from webapp.database.exclusive_access import exclusive_access
from webapp.database.key_identity import replace_keys, verify_keys
from webapp.database.schema import schema_problem, stored_revision, upgrade
from webapp.errors import WebappError
from webapp.gate import panel_call_counter, paying_copy
from webapp.gate.backup import refuse_backup_of_lost_keys
from webapp.gate.ledger import prepare_restore, raise_epoch
from webapp.privacy.restored import repeat_wishes
from webapp.recruiters.settings import load_settings
from webapp.users.users import end_all_access


@click.command()
@add_new_instance_option
def status(instance: Path) -> None:
    """Show the database's schema version.

    It also says whether this version of Parallax can use the database.
    """
    with open_instance_database(instance) as engine:
        revision = stored_revision(engine)
    if revision is None:
        click.echo("The database is empty; the first start creates its tables.")
    else:
        problem = schema_problem(revision)
        click.echo(problem or f"The database has the schema {revision}, which is the current one.")


@click.command("upgrade")
@add_new_instance_option
def upgrade_(instance: Path) -> None:
    """Upgrade the database to the schema of this version.

    The command changes the whole database or nothing.
    """
    refuse_while_serving(instance)
    with open_instance_database(instance) as engine, exclusive_access(engine):
        revision_before, revision_after = upgrade(engine)
        n_erased = repeat_wishes(open_instance(instance), engine, utc_now())
    print_repeated_erasures(open_instance(instance), n_erased)
    if revision_before == revision_after:
        click.echo(f"The database already has the schema {revision_after}.")
    else:
        click.echo(
            f"The database was upgraded from the schema {revision_before} to {revision_after}."
        )


@click.command("scrub")
@add_instance_option
def scrub_(instance: Path) -> None:
    """Rewrite the database's files without the erased data.

    A server may keep running, but PostgreSQL locks each table while it is rewritten.
    PostgreSQL's write-ahead log, its archives and its replicas are not rewritten: docs/privacy.md.
    """
    if scrub_files(open_instance(instance)):
        click.echo("The database's files were rewritten without the erased data.")


_PATH = click.Path(path_type=Path)
_HOUR_S = 3600.0
_RETRY_AFTER_S = 300.0


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
@add_instance_option
def backup(
    file: Path,
    keep: int | None,
    every: float | None,
    encrypt: Path | None,
    drill: bool,
    instance: Path,
) -> None:
    """Back up the whole database to FILE.

    Participants can keep answering meanwhile. If FILE is a folder, the backup is named by its time.
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
            pause_s = min(every * _HOUR_S, _RETRY_AFTER_S)
        if every is None:
            return
        time.sleep(pause_s)


def _back_up(
    instance: Path, destination: Path, keep: int | None, encrypt: Path | None, drill: bool
) -> None:
    to, settings = read_recipients(encrypt) if encrypt else [], load_settings(instance)
    bucket = _open_bucket(settings) if settings.backup_bucket else None
    if bucket and not (to and destination.is_dir()):
        raise WebappError(
            "a backup that leaves this machine must be encrypted, and named by its time",
            where=f"the setting backup_bucket, {settings.backup_bucket}",
            remedy="Give --encrypt READERS, and a folder as FILE: docs/database.md#off-site",
        )
    key = key_file(instance, settings.secret_key_file)
    began = utc_now()
    file = choose_backup_path(destination, began, encrypted=bool(to))
    with open_instance_database(instance) as engine:
        content, tried = write_backup(engine, file, key, to, tried_out=drill)
    copy_record(instance, record_path_for(file))
    if bucket:
        bucket.put(list_backup_files(file))
    record_last_backup(instance, began, file, tried)
    click.echo(f"{file} holds {content}. It was read back and is sound.")
    if bucket:
        click.echo(f"It was copied to {bucket}, with its keys and the record of erasures.")
    if tried:
        click.echo(
            f"A trial restore took {tried.took_s:.1f} s; all {len(tried.content.rows)} tables "
            "agree."
        )
    click.echo(
        f"The secret keys are included: {key_path_for(file)}."
        if to
        else f"The secret keys are not included. Keep a copy of {key}."
    )
    if keep and (deleted_backups := delete_oldest(destination, keep)):
        click.echo(f"Deleted: {', '.join(path.name for path in deleted_backups)}.")


def _open_bucket(settings: Settings) -> Bucket:
    return Bucket(settings.backup_bucket, settings.backup_endpoint)


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--name", help="Which backup; the newest when not given.")
@click.option(
    "--identity",
    type=_PATH,
    help="The private key of the backup: also puts the keys file into the instance folder.",
)
@add_new_instance_option
def fetch(folder: Path, name: str | None, identity: Path | None, instance: Path) -> None:
    """Copy the newest backup of the bucket into FOLDER.

    The command also copies its keys and its record of erasures.
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
    file = _open_bucket(settings).fetch(folder, name)
    click.echo(f"{file} is here, with its keys and its record of erasures.")
    own_keys_file = key_file(home, settings.secret_key_file)
    if identity is None:
        return
    if own_keys_file.exists():
        click.echo(f"{own_keys_file} is kept: there are keys already.")
        return
    with decrypt_temporarily(key_path_for(file), identity) as decrypted:
        write_once(own_keys_file, decrypted.read_text(encoding="utf-8"))
    click.echo(f"The keys are in {own_keys_file}.")


_NO_RIGHT_TO_PAY = (
    "A restored database does not pay or publish before you give: parallax paying-copy take-over."
)
_identity_option = click.option(
    "--identity",
    type=_PATH,
    help="The private key of an encrypted backup, as age-keygen writes it.",
)


@click.command("restore")
@click.argument("file", type=_PATH)
@click.option("--replace", is_flag=True, help="Overwrite the data that the database holds now.")
@click.option(
    "--record", type=_PATH, help="A newer copy of the record of erasures, to use in addition."
)
@click.option(
    "--without-record", is_flag=True, help="Restore although no record of erasures is found."
)
@click.option(
    "--keys-lost",
    is_flag=True,
    help="Let the database accept the keys of the key file: its own are lost for ever.",
)
@click.option(
    "--copied", is_flag=True, help="FILE is the database's own file, copied while no server ran."
)
@_identity_option
@add_new_instance_option
def restore_(
    file: Path,
    replace: bool,
    record: Path | None,
    without_record: bool,
    keys_lost: bool,
    copied: bool,
    identity: Path | None,
    instance: Path,
) -> None:
    """Restore the database from the backup FILE.

    The command first checks the backup, its keys and the record of erasures; it changes the
    whole database or nothing. It removes people who have since withdrawn or had their data
    erased, according to the newest known record of erasures.
    """
    refuse_while_serving(instance)
    settings = load_settings(folder := open_instance(instance))
    # A new key could not decrypt the backup's secrets.
    keys = read_keys(folder, settings.secret_key_file)
    with (
        decrypt_temporarily(file, identity) as backup_file,
        open_merged_backup(backup_file, complete=copied) as decrypted,
        open_instance_database(instance) as engine,
        exclusive_access(engine),
    ):
        backup = check_restorable(engine, decrypted, replace=replace)
        refuse_backup_of_lost_keys(backup, keys, file, adopted=keys_lost)
        # Checked first, because without a record, restored participants could not be erased again.
        record_note = newest_record(
            folder, engine, file, record,
            although_missing=without_record, although_keys_lost=keys_lost,
        )  # fmt: skip
        prepare_restore(folder)
        paying_copy.mark_card_restored(folder)
        panel_call_counter.prepare_restore(folder)
        content = backup.restore()
        (replace_keys if keys_lost else verify_keys)(engine, keys)
        with engine.connect().execution_options(reading=True) as connection:
            raise_epoch(connection, folder)
        with engine.begin() as connection:
            panel_call_counter.mark_restored(connection)
        n_erased = repeat_wishes(folder, engine, utc_now())
        end_all_access(engine, utc_now())
    click.echo(f"The database holds {content} again.")
    click.echo(record_note)
    click.echo(
        "Everybody is signed out of the researcher pages. Programs' tokens and invitations no "
        "longer work: make new ones. Accounts, roles, members of projects, passwords and second "
        "factors are those of the backup: compare them with parallax users list."
    )
    click.echo(f"{_NO_RIGHT_TO_PAY} {UNDETECTED_COPIES}")
    print_repeated_erasures(folder, n_erased)


@click.command("drill")
@click.argument("file", type=_PATH)
@_identity_option
@add_new_instance_option
def drill_(file: Path, identity: Path | None, instance: Path) -> None:
    """Restore FILE into a scratch database.

    The command compares every table, and prints the duration and whether the present keys can
    read the backup. The database itself is not changed.
    """
    settings = load_settings(folder := open_instance(instance))
    refusal = ""
    with (
        decrypt_temporarily(file, identity) as backup_file,
        open_merged_backup(backup_file, complete=False) as decrypted,
        open_instance_database(instance) as engine,
    ):
        tried = try_out(engine, decrypted)
        backup = SoundBackup(engine, decrypted, tried.content)
        try:
            refuse_backup_of_lost_keys(
                backup, read_keys(folder, settings.secret_key_file), file, adopted=False
            )
        except WebappError as error:
            refusal = str(error)
    rows = tried.content.rows
    for name in sorted(rows):
        click.echo(f"{name:<28}{rows[name]:>12,}")
    click.echo(f"{file} holds {tried.content}; all {len(rows)} tables agree after a trial restore.")
    click.echo(f"Time to restore (RTO): {tried.took_s:.1f} s")
    if refusal:
        click.echo(f"parallax db restore would refuse it here: {refusal}")
    last = read_last_backup(folder)
    if last and Path(last.file) == file.resolve():
        click.echo(f"Data that would be lost (RPO): the last {age_s(last, utc_now()):,.0f} s")
