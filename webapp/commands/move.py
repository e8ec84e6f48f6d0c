"""``parallax db move``: move an installation from its SQLite file to a PostgreSQL database."""

import secrets
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import click
from sqlalchemy import Engine, func, select
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from webapp.commands.options import (
    add_instance_option,
    print_repeated_erasures,
    refuse_while_serving,
)
from webapp.core.clock import utc_now
from webapp.core.instance import open_instance
from webapp.core.keys import Keys, read_keys
from webapp.core.sealing import Sealer
from webapp.database.engine import make_sessions, reading, usable_database
from webapp.database.exclusive_access import exclusive_access
from webapp.database.key_identity import read_fingerprints, verify_keys
from webapp.database.models import Hit, Payment
from webapp.database.models.identity import unlock
from webapp.database.move import (
    Departure,
    MoveError,
    TableProof,
    close_source,
    copy_database,
    end_move,
    find_departure,
    hide_password,
    is_arriving,
)
from webapp.database.schema import create_missing_schema
from webapp.erasures.record import load_entries
from webapp.gate import ledger, paying_copy
from webapp.gate.installation import Installation
from webapp.privacy.restored import repeat_wishes
from webapp.recruiters.settings import load_settings


@click.command("move")
@click.argument("url")
@add_instance_option
def move_(url: str, instance: Path) -> None:
    """Move the installation from its SQLite file to the empty PostgreSQL database URL.

    Runs can be open meanwhile, but the server must be stopped. Every row is compared. Afterwards
    the SQLite file is not used any more: nobody can be served or paid from it. If the move is
    interrupted, run the same command again.
    """
    refuse_while_serving(instance)
    folder = open_instance(instance)
    settings = load_settings(folder)
    _check_database_kinds(settings.database_url, url)
    keys = read_keys(folder, settings.secret_key_file)
    installation = Installation(folder, settings)
    with ExitStack() as stack:
        source, target = (
            stack.enter_context(usable_database(address, although_moved=True))
            for address in (settings.database_url, url)
        )
        for engine in (source, target):
            stack.callback(engine.dispose)
            unlock(engine, Sealer(keys))
            stack.enter_context(exclusive_access(engine))
        stack.enter_context(paying_copy.block_platform_calls(folder))
        create_missing_schema(source)
        with source.connect().execution_options(reading=True) as connection:
            departure = find_departure(connection)
        if departure is None:
            departure = _copy_and_leave(source, target, installation, keys)
        _finish_move(target, installation, departure)
    click.echo("The SQLite file is not used any more: nobody can be served or paid from it.")
    click.echo(
        "Now set database_url to the PostgreSQL database, start the server, and make "
        "a backup: parallax db backup FILE. Backups of the SQLite file cannot be restored there."
    )
    click.echo(
        f"The SQLite file {source.url.database} still holds everybody's data, and erasures that "
        "people ask for from now on do not reach it: delete it, with the files next to it whose "
        "names begin like its own, as soon as you have that backup."
    )


def _check_database_kinds(source_url: str, target_url: str) -> None:
    if not source_url.startswith("sqlite"):
        raise MoveError(
            "the installation is not on SQLite, so there is nothing to move",
            where="database_url",
        )
    try:
        is_postgresql = make_url(target_url).get_backend_name() in ("postgresql", "postgres")
    except ArgumentError:
        is_postgresql = False
    if not is_postgresql:
        raise MoveError(
            "this is not the URL of a PostgreSQL database",
            expected="one such as postgresql://user@host/name",
        )


def _copy_and_leave(
    source: Engine, target: Engine, installation: Installation, keys: Keys
) -> Departure:
    """Copy the database, print the proof, and lock the SQLite file for good."""
    verify_keys(source, keys)
    print_repeated_erasures(
        installation.instance, repeat_wishes(installation.instance, source, now := utc_now())
    )
    move = secrets.token_hex(8)
    # This transaction keeps commands that write out of the SQLite file until it is marked.
    with source.begin() as connection:
        right = paying_copy.find_movable_right(connection, installation.instance)
        with target.begin() as target_connection:
            proofs = copy_database(connection, target_connection, move)
        verify_keys(target, keys)
        for table_proof in proofs:
            click.echo(f"{table_proof.name:<20}{table_proof.n_rows:>12,}  {table_proof.digest}")
        _compare_files(source, target, installation.instance, proofs)
        at = now.strftime("%Y-%m-%d %H:%M UTC")
        departure = Departure(move, hide_password(target), at, right or "")
        close_source(connection, departure)
    return departure


def _compare_files(
    source: Engine, target: Engine, instance: Path, proofs: Sequence[TableProof]
) -> None:
    """Check that both databases agree on the keys, the ledger and the erasures."""
    findings = []
    for engine in (source, target):
        with reading(make_sessions(engine)) as session:
            connection = session.connection()
            findings.append(
                (
                    read_fingerprints(connection),
                    ledger.explain_doubt(connection, instance),
                    session.execute(
                        select(func.count(Payment.id), func.sum(Payment.amount_minor))
                    ).one(),
                    session.scalar(select(func.count(Hit.id))),
                    set(load_entries(session)),
                )
            )
    before, after = findings
    if before != after:
        raise MoveError("the keys, the ledger or the erasures differ after the copy")
    key_fingerprints, doubt, (n_payments, _), n_offers, wishes = after
    click.echo(f"{len(proofs)} tables agree, by rows and SHA-256.")
    click.echo(
        f"Keys: {len(key_fingerprints)} fingerprints agree, and the keys here open the names."
    )
    click.echo(
        f"Ledger: {n_payments} payments and {n_offers} offers; "
        + (f"as before the move, {doubt}." if doubt else "it agrees with its file.")
    )
    click.echo(f"Erasures: {len(wishes)} wishes agree with the record.")


def _finish_move(target: Engine, installation: Installation, departure: Departure) -> None:
    """Make the installation use the PostgreSQL database, also after an interruption."""
    with target.begin() as connection:
        if not is_arriving(connection, departure.move):
            raise MoveError(
                f"this installation was moved to {departure.to} at {departure.at} already",
                where="database_url",
                remedy="Set database_url to that database",
            )
        right = paying_copy.CardState(departure.right) if departure.right else None
        paying_copy.move_right(connection, installation, right)
        end_move(connection)
    click.echo(f"The installation is in {hide_password(target)}.")
