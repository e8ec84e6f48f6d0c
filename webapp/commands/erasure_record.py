"""``parallax db record``: the record of participants' requests, and its newest copy."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import click
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from experiment.errors import why_unread
from webapp.commands.options import (
    add_new_instance_option,
    open_instance_database,
    print_repeated_erasures,
    refuse_while_serving,
)
from webapp.core.clock import utc_now
from webapp.core.instance import open_instance
from webapp.core.sealing import Sealer
from webapp.database.backup.routine import record_path_for
from webapp.database.engine import make_sessions, reading
from webapp.database.models.identity import sealer_of
from webapp.database.schema import schema_problem, stored_revision
from webapp.erasures.file import (
    Entry,
    append_entries,
    get_record_path,
    overwrite_erased_corrections,
    read_record,
    take_over_older_file,
    write_record,
)
from webapp.erasures.record import (
    load_entries,
    read_owner_lines,
    refuse_foreign_record,
    refuse_unreadable_entries,
    remove_owner,
)
from webapp.errors import WebappError
from webapp.privacy.restored import repeat_wishes

_PATH = click.Path(path_type=Path)


@click.command("record")
@click.option("--add", type=_PATH, help="Add the entries of FILE, a copy of the record.")
@click.option(
    "--from-database",
    is_flag=True,
    help="Make the record from the database, if no copy of the file exists.",
)
@add_new_instance_option
def record_(add: Path | None, from_database: bool, instance: Path) -> None:
    """Show the record of withdrawals and erasures.

    Requests that are only in the record are carried out in the database.
    """
    folder = open_instance(instance)
    refuse_while_serving(instance)
    with open_instance_database(instance) as engine:
        sealer = sealer_of(engine.dialect)
        if add is not None:
            if not add.exists():
                raise _missing_record_error(add)
            refuse_foreign_record(add, sealer)
            _merge_entries(folder, sealer, [add])
        if from_database:
            append_entries(folder, ())
        if not get_record_path(folder).exists():
            raise WebappError(
                "there is no record of erasures",
                where=str(get_record_path(folder)),
                remedy="Add the newest copy with --add FILE, or, if this database was not "
                "restored, make it with --from-database",
            )
        revision = stored_revision(engine)
        problem = schema_problem(revision) if revision else None
        n_erased = repeat_wishes(folder, engine, utc_now()) if revision and not problem else 0
    print_repeated_erasures(folder, n_erased)
    click.echo(_describe_entries(read_record(get_record_path(folder))))


def copy_record(instance: Path, file: Path) -> None:
    """Write a copy of the record next to a backup.

    Raises:
        WebappError: The record cannot be read, or the copy cannot be written.
    """
    try:
        path = get_record_path(instance)
        write_record(file, read_record(path), read_owner_lines(path))
    except OSError as error:
        raise WebappError(
            f"the copy cannot be written ({why_unread(error)})", where=str(file)
        ) from error


def newest_record(
    instance: Path,
    engine: Engine,
    backup: Path,
    given_path: Path | None,
    *,
    although_missing: bool,
    although_keys_lost: bool,
) -> str:
    """Merge all known copies into the installation's record, and return a description of it.

    Entries that only the database about to be replaced holds are added, too.

    Args:
        instance: The instance folder.
        engine: The database.
        backup: The backup that is to be restored; a copy may lie next to it.
        given_path: Another copy.
        although_missing: Whether a missing record is accepted.
        although_keys_lost: Whether a record that was made with other keys is accepted.

    Raises:
        WebappError: No record is found, or one cannot be read.
    """
    sealer = sealer_of(engine.dialect)
    take_over_older_file(instance, sealer)
    own_record = get_record_path(instance)
    if given_path is not None and not given_path.exists():
        raise _missing_record_error(given_path)
    copies = [
        path for path in (own_record, record_path_for(backup), given_path) if path and path.exists()
    ]
    if not copies and not although_missing:
        raise WebappError(
            "no record of erasures is found: people who withdrew or had their data erased after "
            "the backup would come back",
            where=f"{own_record} and {record_path_for(backup)}",
            expected="the file `erasures` of the instance folder, or a copy that a backup made",
            remedy="Give the newest copy with --record FILE. If none exists any more, restore with "
            "--without-record",
        )
    if although_keys_lost:
        remove_owner(instance)
    else:
        for path in copies:
            refuse_foreign_record(path, sealer)
    added = _merge_entries(
        instance, sealer, copies, [] if although_keys_lost else _read_database_entries(engine)
    )
    added_note = f" {added} of them were only in a copy or in the database."
    return _describe_entries(read_record(own_record)) + (
        added_note if added and own_record in copies else ""
    )


def _missing_record_error(file: Path) -> WebappError:
    return WebappError("the file is not there", where=str(file), expected="a copy of the record")


def _read_database_entries(engine: Engine) -> list[Entry]:
    """Return the database's entries; none if it is empty, damaged or of another schema."""
    try:
        with reading(make_sessions(engine)) as session:
            stored = list(load_entries(session).values())
    except SQLAlchemyError:
        return []
    return [entry for entry in stored if _is_understood(entry, sealer_of(engine.dialect))]


def _is_understood(entry: Entry, sealer: Sealer) -> bool:
    with suppress(WebappError):
        refuse_unreadable_entries([entry], sealer, Path())
        return True
    return False


def _merge_entries(
    instance: Path, sealer: Sealer, copies: Sequence[Path], also: Sequence[Entry] = ()
) -> int:
    """Add the entries of copies and of the database to the record; return how many were added."""
    for path in copies:
        refuse_unreadable_entries(read_record(path), sealer, path)
    held_keys = {entry.key for entry in read_record(get_record_path(instance))}
    new = {entry.key: entry for entry in also if entry.key not in held_keys}
    for path in copies:
        new |= {entry.key: entry for entry in read_record(path) if entry.key not in held_keys}
    append_entries(instance, new.values())
    overwrite_erased_corrections(instance)
    return len(new)


def _describe_entries(entries: Sequence[Entry]) -> str:
    times = [entry.at for entry in entries if entry.at is not None]
    last = f", the last of {max(times):%Y-%m-%d %H:%M} UTC" if times else ""
    return (
        f"The record of erasures has {len(entries)} entries{last}. If you keep a newer copy of it, "
        "add that: parallax db record --add FILE."
    )
