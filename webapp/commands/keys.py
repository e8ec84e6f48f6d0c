"""``parallax keys``: the installation's keys, and new ones in their place."""

from pathlib import Path

import click

from webapp.commands.options import with_instance
from webapp.commands.text_table import text_table
from webapp.core.instance import key_file, open_instance
from webapp.core.keys import Purpose, drop, read_keys, rotate
from webapp.recruiters.settings import load_settings


@click.group()
def keys() -> None:
    """List, rotate and drop the installation's keys."""


@keys.command("list")
@with_instance
def list_(instance: Path) -> None:
    """List the keys by id and purpose, never what is secret of them."""
    folder = open_instance(instance)
    held = read_keys(folder, load_settings(folder).secret_key_file)
    rows = [
        (str(key.id), str(purpose), "used" if key is held.of(purpose)[-1] else "still understood")
        for purpose in Purpose
        for key in held.of(purpose)
    ]
    click.echo(text_table(("id", "purpose", "state"), rows))


@keys.command("rotate")
@click.argument("purpose", type=click.Choice([str(each) for each in Purpose]))
@with_instance
def rotate_(purpose: str, instance: Path) -> None:
    """Give PURPOSE a new key; older ones are still understood."""
    folder = open_instance(instance)
    given = load_settings(folder).secret_key_file
    new = rotate(folder, given, Purpose(purpose))
    click.echo(f"Key {new.id} is the newest for {purpose}, in {key_file(folder, given)}.")
    click.echo("Keep a copy of the file. Servers take the key up with: parallax reload")


@keys.command("drop")
@click.argument("key", type=int)
@with_instance
def drop_(key: int, instance: Path) -> None:
    """Take KEY, an id, out of the file of the keys."""
    folder = open_instance(instance)
    drop(folder, load_settings(folder).secret_key_file, key)
    click.echo(f"Key {key} is gone. Servers forget it with: parallax reload")
