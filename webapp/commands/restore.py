"""``parallax db restore`` and ``drill``: what a backup holds comes back, or is tried out."""

from pathlib import Path

import click

from webapp.commands.database import opened, refuse_while_serving, tell_erased
from webapp.commands.erasure_record import newest_record
from webapp.commands.options import with_instance
from webapp.commands.paying_copy import NOT_EXCLUDED
from webapp.core.clock import utc_now
from webapp.core.instance import open_instance
from webapp.core.keys import read_keys
from webapp.database.backup.backup import Restorable, examine
from webapp.database.backup.drill import drill as try_out
from webapp.database.backup.encryption import readable
from webapp.database.backup.routine import age_s, last_backup
from webapp.database.backup.sqlite import whole
from webapp.database.key_identity import recognise, replace_keys
from webapp.database.use import alone
from webapp.errors import WebappError
from webapp.gate import paying_copy, told
from webapp.gate.backup import refuse_lost
from webapp.gate.ledger import restored, restoring
from webapp.privacy.restored import carry_out_again
from webapp.recruiters.settings import load_settings
from webapp.users.restored import close_doors

_WITHOUT_RIGHT = (
    "A restored database does not pay or publish before you give: parallax paying-copy take-over."
)
_PATH = click.Path(path_type=Path)
_identity = click.option(
    "--identity",
    type=_PATH,
    help="The private key of an encrypted backup, as age-keygen writes it.",
)


@click.command("restore")
@click.argument("file", type=_PATH)
@click.option("--replace", is_flag=True, help="Overwrite the data that the database holds now.")
@click.option("--record", type=_PATH, help="A newer copy of the record of erasures, to use too.")
@click.option("--without-record", is_flag=True, help="Restore although no record is found.")
@click.option(
    "--keys-lost",
    is_flag=True,
    help="Let the database take the keys that are there: its own are lost for ever.",
)
@click.option(
    "--copied", is_flag=True, help="FILE is the database's own file, copied while no server ran."
)
@_identity
@with_instance
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

    It is changed wholly or not at all: the backup, its keys and the record of erasures are examined
    first. People who withdrew or had their data erased since are taken out again, as the newest
    known record of erasures says.
    """
    refuse_while_serving(instance)
    settings = load_settings(folder := open_instance(instance))
    # A new key would open nothing that the backup holds.
    keys = read_keys(folder, settings.secret_key_file)
    with (
        readable(file, identity) as read,
        whole(read, complete=copied) as plain,
        opened(instance) as engine,
        alone(engine),
    ):
        backup = examine(engine, plain, replace=replace)
        refuse_lost(backup, keys, file, adopted=keys_lost)
        # Before anybody is brought back who could not be taken out again.
        said = newest_record(
            folder, engine, file, record,
            although_missing=without_record, although_keys_lost=keys_lost,
        )  # fmt: skip
        restoring(folder)
        paying_copy.restoring(folder)
        told.restoring(folder)
        content = backup.restore()
        (replace_keys if keys_lost else recognise)(engine, keys)
        with engine.connect().execution_options(reading=True) as connection:
            restored(connection, folder)
        with engine.begin() as connection:
            told.restored(connection)
        gone = carry_out_again(folder, engine, utc_now())
        close_doors(engine, utc_now())
    click.echo(f"The database holds {content} again.")
    click.echo(said)
    click.echo(
        "Everybody is signed out of the researcher pages. Programs' tokens and invitations are "
        "ended: make new ones. Accounts, roles, members of projects, passwords and second factors "
        "are those of the backup: compare them with parallax users list."
    )
    click.echo(f"{_WITHOUT_RIGHT} {NOT_EXCLUDED}")
    tell_erased(folder, gone)


@click.command("drill")
@click.argument("file", type=_PATH)
@_identity
@with_instance
def drill_(file: Path, identity: Path | None, instance: Path) -> None:
    """Restore FILE into a scratch database.

    Every table is compared, and the time it took is told, and whether the keys that are here open
    it. The database itself is left alone.
    """
    settings = load_settings(folder := open_instance(instance))
    refused = ""
    with (
        readable(file, identity) as read,
        whole(read, complete=False) as plain,
        opened(instance) as engine,
    ):
        tried = try_out(engine, plain)
        backup = Restorable(engine, plain, tried.content)
        try:
            refuse_lost(backup, read_keys(folder, settings.secret_key_file), file, adopted=False)
        except WebappError as error:
            refused = str(error)
    rows = tried.content.rows
    for name in sorted(rows):
        click.echo(f"{name:<28}{rows[name]:>12,}")
    click.echo(f"{file} holds {tried.content}; all {len(rows)} tables agree after a trial restore.")
    click.echo(f"Time to restore (RTO): {tried.took_s:.1f} s")
    if refused:
        click.echo(f"parallax db restore would refuse it here: {refused}")
    last = last_backup(folder)
    if last and Path(last.file) == file.resolve():
        click.echo(f"Data that would be lost (RPO): the last {age_s(last, utc_now()):,.0f} s")
