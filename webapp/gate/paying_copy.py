"""The paying copy: the only copy of an installation that may pay and publish.

A backup restored elsewhere, or a copied folder, contains the same debts as the original. A platform
may execute a repeated order again, so two active copies would pay everybody twice, and checking the
platform before each order does not help if both order at the same moment. Therefore, the database
names the paying copy, and a card (a file) in the instance folder proves that it is this one. The
card is valid only in the folder, on the machine and for the database for which it was written, so a
copied folder or database has no valid card. Every call to a platform that spends money or changes
the number of places holds the card's lock (``allow_platform_call``), so another copy cannot take
over the right to pay during the call.

Machines that share a PostgreSQL database are one copy: each has a card with the same name.
"""

import hmac
import json
import os
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from functools import cache
from hashlib import sha256
from pathlib import Path
from weakref import WeakKeyDictionary

from sqlalchemy import Connection, Dialect, Pool, select, text

from experiment.machine import machine_id
from webapp.core.keys import Keys
from webapp.database.locks import FileLock
from webapp.database.models import Hit, Payment, Recruitment, Stamp
from webapp.database.models.installation import set_stamp
from webapp.database.prepared import Prepared
from webapp.errors import WebappError
from webapp.gate.installation import Blocker, Installation, Operation

FILE, _LOCK = "paying_copy", "paying_copy.lock"
_STAMP = "paying copy"
# Longer than a platform call takes, with its repetitions.
_LOCK_TIMEOUT_S = 300.0
FORBIDS = frozenset({Operation.PAY, Operation.PUBLISH, Operation.TELL_PANELS})
RIGHT_REMEDY = "Find out which copy pays, and move the right to pay: parallax paying-copy show"


class CardState(StrEnum):
    """The state of a copy's card."""

    PAYING = "paying"
    RESTORED = "restored"  # its database was replaced; no other copy has the right to pay
    WAITING = "waiting"  # waiting for another copy to hand over the right to pay


@dataclass(frozen=True, slots=True)
class Card:
    """The content of the card in the instance folder.

    Attributes:
        copy: The name of the paying copy; empty if this copy never was the paying one.
        state: Whether this copy is the paying one.
        machine: The machine on which the card was written; empty if it has no name.
        folder: The folder for which it was written.
        inode: The inode number of the card's file; a copied file has another one.
        database: The identity of the database for which it was written.
        request: The code to which another copy hands over the right to pay; empty if none was made.
    """

    copy: str
    state: CardState
    machine: str
    folder: str
    inode: int
    database: str
    request: str = ""


@dataclass(frozen=True, slots=True)
class Holder:
    """The database's entry on the paying copy.

    Attributes:
        copy: Its name; empty after the right was handed over.
        machine: Its machine.
        folder: Its instance folder.
        database: The identity of its database.
        address: The base URL of its participants' links.
    """

    copy: str
    machine: str
    folder: str
    database: str
    address: str


class PayingCopyError(WebappError):
    """The right to pay cannot be handed over or taken over."""


def check_paying_copy(connection: Connection, installation: Installation) -> Iterator[Blocker]:
    """Yield a blocker if another copy has the right to pay, or if it is unknown which one."""
    if problem := _explain_missing_right(connection, installation.instance):
        yield Blocker(problem, RIGHT_REMEDY, FORBIDS)


def find_holder(connection: Connection) -> Holder | None:
    """Return the database's entry on the paying copy; None if there is none."""
    [(value,)] = _prepare_holder_query(connection.dialect).fetch(connection)
    return None if value is None else Holder(**json.loads(value))


def is_paying(connection: Connection, instance: Path) -> bool:
    """Return whether this copy has the right to pay."""
    card, holder = read_card(instance), find_holder(connection)
    return (
        holder is not None
        and card is not None
        and card.state == CardState.PAYING
        and card.copy == holder.copy != ""
        and card.database == _identify_database(connection)
    )


def read_card(instance: Path) -> Card | None:
    """Return a folder's card; None if there is none, or if it was written for another place."""
    file = instance / FILE
    try:
        fields = json.loads(file.read_bytes())
        card = Card(**{**fields, "state": CardState(fields["state"])})
        inode = file.stat().st_ino
    except (OSError, ValueError, KeyError, TypeError):
        return None
    location = (machine_id(), str(instance.resolve()), inode)
    return card if (card.machine, card.folder, card.inode) == location else None


@contextmanager
def allow_platform_call(instance: Path) -> Iterator[bool]:
    """Yield whether this copy may move money or places, and keep that unchanged during the block.

    Only the card is read, not the database, because this runs right before each platform call.
    """
    lock = FileLock(instance / _LOCK, shared=True)
    locked = _acquire(lock)
    try:
        yield locked and may_call_platforms(instance)
    finally:
        lock.release()


def may_call_platforms(instance: Path) -> bool:
    """Return whether the card says that this copy may move money or places."""
    card = read_card(instance)
    return card is not None and card.state == CardState.PAYING


def must_begin(connection: Connection, instance: Path) -> bool:
    """Return whether this copy has the right to pay but database or folder do not say so yet.

    This applies to a new database, to a database of an earlier version, and to a further machine of
    a shared database.
    """
    card, holder = read_card(instance), find_holder(connection)
    if holder is None:
        if not (instance / FILE).exists():
            return True
        matches_database = card is not None and card.database == _identify_database(connection)
        is_paying_card = card is not None and card.state == CardState.PAYING
        return is_paying_card and (matches_database or not _has_offers(connection))
    return not (instance / FILE).exists() and _shares_database(connection, holder)


def begin_paying(connection: Connection, installation: Installation) -> None:
    """Write the entry and the card if this copy has the right to pay; writes to the database."""
    if not must_begin(connection, installation.instance):
        return
    with block_platform_calls(installation.instance):
        if must_begin(connection, installation.instance):  # unless another process was faster
            take_right(connection, installation)


def mark_card_restored(instance: Path) -> None:
    """Mark the card as restored before a backup replaces the folder's database."""
    card = read_card(instance)
    with block_platform_calls(instance):
        if card is not None and card.state in (CardState.PAYING, CardState.RESTORED):
            _write_card(instance, CardState.RESTORED, card.copy, card.database)
        else:
            _write_card(instance, CardState.WAITING)


def find_request_code(instance: Path) -> str:
    """Return the code to which another copy hands over the right to pay; make it if missing."""
    card = read_card(instance)
    if card is None or not card.request:
        state = card.state if card is not None else CardState.WAITING
        card = _write_card(
            instance, state, card.copy if card else "", card.database if card else ""
        )
    return card.request


def give_up_right(connection: Connection, instance: Path) -> None:
    """Give up the right to pay; writes to the database. The caller holds ``block_platform_calls``.

    Raises:
        PayingCopyError: This copy does not have the right.
    """
    holder = find_holder(connection)
    if holder is None or not is_paying(connection, instance):
        raise PayingCopyError(
            "this copy of the installation does not have the right to pay",
            where=str(instance),
            remedy="Find the paying copy: parallax paying-copy show",
        )
    set_stamp(connection, _STAMP, json.dumps(asdict(replace(holder, copy=""))))
    _write_card(instance, CardState.WAITING)


def compute_transfer_code(keys: Keys, request: str) -> str:
    """Return the code that proves that the right to pay was handed over to the requesting copy."""
    # All copies have the same keys, and rotation never changes the oldest one.
    secret = keys.pseudonyms[0].secret.encode()
    return hmac.new(secret, f"paying copy {request}".encode(), sha256).hexdigest()[:24]


def may_take_right(connection: Connection, instance: Path, keys: Keys, code: str) -> bool:
    """Return whether this copy may take the right to pay, as far as this folder can prove it."""
    card, holder = read_card(instance), find_holder(connection)
    if (
        card is not None
        and card.state == CardState.RESTORED
        and card.database == _identify_database(connection)
    ):
        return True
    if holder is not None and _shares_database(connection, holder):
        return True
    request = card.request if card is not None else ""
    return bool(request) and hmac.compare_digest(
        compute_transfer_code(keys, request), code.strip().lower()
    )


def take_right(connection: Connection, installation: Installation) -> None:
    """Make this copy the paying one; writes to the database."""
    holder, database = find_holder(connection), _identify_database(connection)
    if holder is not None and _shares_database(connection, holder):
        _write_card(installation.instance, CardState.PAYING, holder.copy, database)
        return
    copy = secrets.token_hex(16)
    folder, address = str(installation.instance.resolve()), installation.settings.link_base
    new_holder = Holder(copy, machine_id(), folder, database, address)
    # If another machine was faster, this fails before the card is written.
    set_stamp(connection, _STAMP, json.dumps(asdict(new_holder)))
    _write_card(installation.instance, CardState.PAYING, copy, database)


def find_movable_right(connection: Connection, instance: Path) -> CardState | None:
    """Return this copy's right to pay, which a move to another database takes along; None if none.

    ``State.RESTORED`` is the right to take over without another copy's code.
    """
    if is_paying(connection, instance):
        return CardState.PAYING
    card = read_card(instance)
    is_own = card is not None and card.database == _identify_database(connection)
    return CardState.RESTORED if is_own and card and card.state == CardState.RESTORED else None


def move_right(connection: Connection, installation: Installation, right: CardState | None) -> None:
    """Bind this copy's right to pay to the database to which it was moved; writes to it."""
    if right == CardState.PAYING:
        take_right(connection, installation)
    elif right == CardState.RESTORED:
        card = read_card(installation.instance)
        copy, database = card.copy if card else "", _identify_database(connection)
        _write_card(installation.instance, CardState.RESTORED, copy, database)


def find_valid_folder(holder: Holder) -> Path | None:
    """Return the paying copy's folder if it is on this machine and its card is valid; else None."""
    if not holder.folder or holder.machine != machine_id():
        return None
    return Path(holder.folder) if may_call_platforms(Path(holder.folder)) else None


def get_public_mark(instance: Path) -> str:
    """Return the public mark of a paying copy's server; empty if this copy does not pay."""
    card = read_card(instance)
    return compute_mark(card.copy) if card is not None and card.state == CardState.PAYING else ""


def compute_mark(copy: str) -> str:
    """Return a mark that distinguishes paying copies and reveals nothing."""
    return sha256(f"paying copy {copy}".encode()).hexdigest()[:16]


def _explain_missing_right(connection: Connection, instance: Path) -> str:
    if is_paying(connection, instance):
        return ""
    card, holder = read_card(instance), find_holder(connection)
    if holder is None and card is None and not _has_offers(connection):
        return ""
    if card is not None and card.state == CardState.RESTORED:
        return (
            "the database was restored from a backup, and a restored database starts without "
            "the right to pay"
        )
    holder_phrase = "another copy of this installation may have the right to pay"
    if holder is not None and holder.copy:
        machine = "" if holder.machine == machine_id() else " on another machine"
        holder_phrase = (
            f"the copy of this installation in {holder.folder}{machine} has the right to pay"
        )
    elif holder is not None:
        holder_phrase = "the right to pay was handed over to another copy of this installation"
    if card is None and (instance / FILE).exists():
        return f"{holder_phrase}: this folder or its file {FILE} was copied or moved"
    return holder_phrase


def _has_offers(connection: Connection) -> bool:
    entries = select(Payment.id).union_all(select(Hit.id), select(Recruitment.id)).limit(1)
    return connection.scalar(entries) is not None


def _shares_database(connection: Connection, holder: Holder) -> bool:
    """Return whether this is the paying copy's own database, shared between machines."""
    is_shared = connection.dialect.name != "sqlite" and holder.copy != ""
    return is_shared and holder.database == _identify_database(connection)


@cache
def _prepare_holder_query(dialect: Dialect) -> Prepared:
    """Return the prepared statement for the paying copy, which every researcher page executes."""
    value = select(Stamp.value).where(Stamp.name == _STAMP)
    return Prepared(select(value.scalar_subquery()), dialect)


def _identify_database(connection: Connection) -> str:
    """Return an identity that distinguishes the database from a copy of it, as far as possible."""
    if connection.dialect.name == "sqlite":
        return f"{machine_id()} {Path(str(connection.engine.url.database)).resolve()}"
    pool = connection.engine.pool
    if pool not in _IDENTITIES:
        _IDENTITIES[pool] = _identify_postgres(connection)
    return _IDENTITIES[pool]


_IDENTITIES = WeakKeyDictionary[Pool, str]()


def _identify_postgres(connection: Connection) -> str:
    permission_query = "SELECT has_function_privilege('pg_control_system()', 'execute')"
    system_id = ""
    if connection.scalar(text(permission_query)):
        system_id = connection.scalar(text("SELECT system_identifier FROM pg_control_system()"))
    oid = connection.scalar(text("SELECT oid FROM pg_database WHERE datname = current_database()"))
    return f"postgresql {system_id} {oid}"


@contextmanager
def block_platform_calls(instance: Path) -> Iterator[None]:
    """Hold the card's lock exclusively: no call that moves money or places runs meanwhile.

    Raises:
        PayingCopyError: A running call did not end in time.
    """
    lock = FileLock(instance / _LOCK)
    if not _acquire(lock):
        raise PayingCopyError(
            "a payment or an offer is still being made", where=str(instance), remedy="Try again"
        )
    try:
        yield
    finally:
        lock.release()


def _acquire(lock: FileLock) -> bool:
    try:
        return lock.acquire(_LOCK_TIMEOUT_S)
    except OSError:
        return True  # On a file system without locks, only the card counts.


def _write_card(instance: Path, state: CardState, copy: str = "", database: str = "") -> Card:
    """Replace the card by a new one for this place, flushed to disk."""
    request = "" if state == CardState.PAYING else secrets.token_hex(8)
    handle, name = tempfile.mkstemp(prefix=f".{FILE}.", dir=instance)
    with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
        inode = os.fstat(file.fileno()).st_ino
        card = Card(copy, state, machine_id(), str(instance.resolve()), inode, database, request)
        json.dump(asdict(card), file)
        file.flush()
        os.fsync(file.fileno())
    Path(name).replace(instance / FILE)
    return card
