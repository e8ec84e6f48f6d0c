"""``parallax keys``: showing and replacing the installation's keys."""

from pathlib import Path

import click

from experiment.tables.files import text_table
from webapp.commands.options import (
    add_instance_option,
    open_instance_database,
    refuse_while_serving,
)
from webapp.core.instance import key_file, open_instance
from webapp.core.keys import Purpose, drop_key, read_keys, rotate_key
from webapp.core.sealing import Sealer
from webapp.database.exclusive_access import exclusive_access
from webapp.database.key_identity import forget_key, keys_in_use, replace_keys, reseal
from webapp.database.models.identity import unlock
from webapp.database.schema import schema_problem, stored_revision
from webapp.erasures.file import get_record_path, read_record
from webapp.erasures.record import remove_owner
from webapp.errors import WebappError
from webapp.opening import installation_keys
from webapp.recruiters.settings import load_settings


@click.group()
def keys() -> None:
    """List, rotate and drop the installation's keys."""


@keys.command("list")
@add_instance_option
def list_(instance: Path) -> None:
    """List the keys by id and purpose, without their secrets."""
    folder = open_instance(instance)
    held_keys = installation_keys(folder, load_settings(folder))
    rows = [
        (
            str(key.id),
            str(purpose),
            "used" if key is held_keys.for_purpose(purpose)[-1] else "still understood",
        )
        for purpose in Purpose
        for key in held_keys.for_purpose(purpose)
    ]
    click.echo(text_table(("id", "purpose", "state"), rows))


@keys.command("rotate")
@click.argument("purpose", type=click.Choice([str(value) for value in Purpose]))
@add_instance_option
def rotate_(purpose: str, instance: Path) -> None:
    """Make a new key for PURPOSE; older keys can still be used to read."""
    folder = open_instance(instance)
    key_setting = (settings := load_settings(folder)).secret_key_file
    installation_keys(folder, settings)
    sealed = (
        None
        if purpose == Purpose.SIGNING
        else _seal_with_new_key(folder, key_setting, Purpose(purpose))
    )
    if sealed is None:
        rotate_key(folder, key_setting, Purpose(purpose))
    new = read_keys(folder, key_setting).for_purpose(Purpose(purpose))[-1]
    click.echo(
        f"Key {new.id} is now the current key for {purpose}, in {key_file(folder, key_setting)}."
    )
    if sealed is None:
        click.echo("Keep a copy of the file. Running servers load the key with: parallax reload")
    else:
        click.echo(
            f"{sealed} platform ids were encrypted again with the new key. Keep a copy of the file."
        )


def _seal_with_new_key(folder: Path, key_setting: str, purpose: Purpose) -> int:
    """Make a new key and re-encrypt all data of older keys with it, while no server runs."""
    refuse_while_serving(folder)
    with open_instance_database(folder) as engine, exclusive_access(engine):
        if (revision := stored_revision(engine)) and (problem := schema_problem(revision)):
            raise problem
        rotate_key(folder, key_setting, purpose)
        unlock(engine, Sealer(read_keys(folder, key_setting)))
        if revision is None:
            return 0
        with engine.begin() as connection:
            return reseal(connection)


@keys.command("drop")
@click.argument("key", type=int)
@add_instance_option
def drop_(key: int, instance: Path) -> None:
    """Remove the key with the id KEY from the key file."""
    folder = open_instance(instance)
    with open_instance_database(folder) as engine:
        used = set[int]()
        current = (revision := stored_revision(engine)) and not schema_problem(revision)
        if current:
            with engine.connect().execution_options(reading=True) as connection:
                used |= keys_in_use(connection)
    if key in used:
        raise WebappError(
            f"platform ids are still encrypted with key {key}",
            where="database_url",
            remedy=(
                "Encrypt them again with: parallax keys rotate sealing, and parallax keys "
                "rotate pseudonyms"
            ),
        )
    if any(key in entry.key_ids for entry in read_record(get_record_path(folder))):
        raise WebappError(
            f"the record of erasures needs key {key}",
            where=str(get_record_path(folder)),
            expected="a key that no restored backup needs to erase people's data again",
            remedy="Keep it. Once you keep no backup from before its entries, delete the lines"
            f" of that file with ` {key}.`",
        )
    drop_key(folder, load_settings(folder).secret_key_file, key)
    if current:
        with open_instance_database(folder) as engine, engine.begin() as connection:
            forget_key(connection, key)
    click.echo(f"Key {key} is deleted. Running servers drop it with: parallax reload")


@keys.command("adopt")
@click.option("--lost", is_flag=True, help="The old keys are lost for ever.")
@add_instance_option
def adopt(lost: bool, instance: Path) -> None:
    """Let the database accept the keys of the key file.

    Use it if the right keys are lost for ever. Existing links stop working. If platform ids are
    encrypted with the lost keys, nothing is changed.
    """
    folder = open_instance(instance)
    if not lost:
        raise WebappError(
            "under new keys every link that was given out stops working",
            where=str(key_file(folder, load_settings(folder).secret_key_file)),
            remedy="If your copy of the old file is lost for ever, add --lost",
        )
    refuse_while_serving(folder)
    held_keys = read_keys(folder, load_settings(folder).secret_key_file)
    with open_instance_database(folder) as engine, exclusive_access(engine):
        if (revision := stored_revision(engine)) and (problem := schema_problem(revision)):
            raise problem
        replace_keys(engine, held_keys)
        remove_owner(folder)
    click.echo("The database takes these keys from now on. Keep a copy of the file.")
