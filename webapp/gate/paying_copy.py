"""Which copy of an installation may pay and publish: one alone, the paying copy.

A backup restored elsewhere, or a copied folder, knows the same debts as the original. A platform
may pay a repeated order again, so two live copies would pay everybody twice, and no look at the
platform before an order prevents it at the same moment. So the database names the paying copy, and
a card in the instance folder shows that it is this one. The card is good only in the folder, on the
machine and for the database that it was written for: neither a copied folder nor a copied database
takes it along. Every call that moves money or places holds the card's lock (``acting``), so the
right is handed over while no call is being made.

Machines that share a PostgreSQL database are one copy: each has a card of the same name.
"""

import hmac
import json
import os
import secrets
import tempfile
from collections.abc import Iterator, Mapping
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
from webapp.database.installation_meta import set_stamp
from webapp.database.locks import FileLock
from webapp.database.models import Hit, Payment, Recruitment, Stamp
from webapp.database.prepared import Prepared
from webapp.errors import WebappError
from webapp.gate.installation import Blocker, Installation, Operation

FILE, _LOCK = "paying_copy", "paying_copy.lock"
_STAMP = "paying copy"
# Longer than a call to a platform takes with its repetitions.
_LOCK_TIMEOUT_S = 300.0
FORBIDS = frozenset({Operation.PAY, Operation.PUBLISH, Operation.TELL_PANELS})
REMEDY = "Find out which copy pays, and move the right to pay: parallax paying-copy show"


class State(StrEnum):
    """What a card says."""

    PAYING = "paying"
    RESTORED = "restored"  # its database was replaced; nobody else has the right to pay
    WAITING = "waiting"  # for another copy to hand over the right to pay


@dataclass(frozen=True, slots=True)
class Card:
    """What lies in the instance folder.

    Attributes:
        copy: The name of the paying copy; empty where this one never was it.
        state: Whether it is.
        machine: The machine that the card was written on; empty where it has no name.
        folder: The folder that it was written for.
        inode: The number of the card's file, which a copied file does not have.
        database: What identifies the database it was written for.
        request: What another copy hands the right to pay over to; empty where nobody asked.
    """

    copy: str
    state: State
    machine: str
    folder: str
    inode: int
    database: str
    request: str = ""


@dataclass(frozen=True, slots=True)
class Holder:
    """What the database says of the paying copy.

    Attributes:
        copy: Its name; empty after it was handed over.
        machine: The machine it is on.
        folder: Its instance folder.
        database: What identifies its database.
        address: What its participants' links begin with.
    """

    copy: str
    machine: str
    folder: str
    database: str
    address: str


class PayingCopyError(WebappError):
    """The right to pay cannot be handed over or taken over."""


def check(connection: Connection, installation: Installation) -> Iterator[Blocker]:
    """Yield a blocker where another copy has the right to pay, or nobody knows which."""
    if why := _why_not(connection, installation.instance):
        yield Blocker(why, REMEDY, FORBIDS)


def holder_of(connection: Connection) -> Holder | None:
    """Return what the database says of the paying copy; None where it says nothing."""
    [(value,)] = _stamps(connection.dialect).find(connection)
    return None if value is None else Holder(**json.loads(value))


def is_paying(connection: Connection, instance: Path) -> bool:
    """Return whether this copy has the right to pay."""
    card, holder = read_card(instance), holder_of(connection)
    return (
        holder is not None
        and card is not None
        and card.state == State.PAYING
        and card.copy == holder.copy != ""
        and card.database == _database(connection)
    )


def read_card(instance: Path) -> Card | None:
    """Return the card of a folder; None where there is none that was written for this place."""
    file = instance / FILE
    try:
        found = json.loads(file.read_bytes())
        card = Card(**{**found, "state": State(found["state"])})
        inode = file.stat().st_ino
    except (OSError, ValueError, KeyError, TypeError):
        return None
    here = (machine_id(), str(instance.resolve()), inode)
    return card if (card.machine, card.folder, card.inode) == here else None


@contextmanager
def acting(instance: Path) -> Iterator[bool]:
    """Yield whether this copy may move money or places, and keep it so for the time of the block.

    The card alone is asked, without the database: this is asked right before each call.
    """
    lock = FileLock(instance / _LOCK, shared=True)
    try:
        # A file system without locks leaves the card alone.
        locked = lock.acquire(_LOCK_TIMEOUT_S)
    except OSError:
        locked = True
    try:
        card = read_card(instance) if locked else None
        yield card is not None and card.state == State.PAYING
    finally:
        lock.release()


def is_to_begin(connection: Connection, instance: Path) -> bool:
    """Return whether this copy has the right to pay, and database or folder do not say so yet.

    It is so for a new database, for one of an earlier version, and on a further machine of a shared
    database.
    """
    card, holder = read_card(instance), holder_of(connection)
    if holder is None:
        if not (instance / FILE).exists():
            return True
        at_hand = card is not None and card.database == _database(connection)
        paying = card is not None and card.state == State.PAYING
        return paying and (at_hand or not _has_offers(connection))
    return not (instance / FILE).exists() and _shares(connection, holder)


def begin(connection: Connection, installation: Installation) -> None:
    """Let database and folder say that this is the paying copy, if it is; the connection writes."""
    if not is_to_begin(connection, installation.instance):
        return
    with no_call(installation.instance):
        if is_to_begin(connection, installation.instance):  # no other process was faster
            take(connection, installation)


def restoring(instance: Path) -> None:
    """Take the right to pay from a folder whose database is about to be replaced by a backup."""
    card = read_card(instance)
    with no_call(instance):
        if card is not None and card.state in (State.PAYING, State.RESTORED):
            _write(instance, State.RESTORED, card.copy, card.database)
        else:
            _write(instance, State.WAITING)


def request_of(instance: Path) -> str:
    """Return what another copy is to hand the right to pay over to, made where there is none."""
    card = read_card(instance)
    if card is None or not card.request:
        state = card.state if card is not None else State.WAITING
        card = _write(instance, state, card.copy if card else "", card.database if card else "")
    return card.request


def give_up(connection: Connection, instance: Path) -> None:
    """Give up the right to pay; the connection writes, and no call is being made (``no_call``).

    Raises:
        PayingCopyError: This copy does not have it.
    """
    holder = holder_of(connection)
    if holder is None or not is_paying(connection, instance):
        raise PayingCopyError(
            "this copy of the installation does not have the right to pay",
            where=str(instance),
            remedy="See which one does with: parallax paying-copy show",
        )
    set_stamp(connection, _STAMP, json.dumps(asdict(replace(holder, copy=""))))
    _write(instance, State.WAITING)


def code_for(keys: Keys, request: str) -> str:
    """Return what proves that the right to pay was handed over to the copy that asked for it."""
    # Copies of an installation have the same keys; the oldest is the one that no rotation changes.
    secret = keys.pseudonyms[0].secret.encode()
    return hmac.new(secret, f"paying copy {request}".encode(), sha256).hexdigest()[:24]


def may_take(connection: Connection, instance: Path, keys: Keys, code: str) -> bool:
    """Return whether nobody else has the right to pay, as far as this folder can prove it."""
    card, holder = read_card(instance), holder_of(connection)
    if card is not None and card.state == State.RESTORED and card.database == _database(connection):
        return True
    if holder is not None and _shares(connection, holder):
        return True
    asked = card.request if card is not None else ""
    return bool(asked) and hmac.compare_digest(code_for(keys, asked), code.strip().lower())


def take(connection: Connection, installation: Installation) -> None:
    """Make this the paying copy; the connection writes."""
    holder, database = holder_of(connection), _database(connection)
    if holder is not None and _shares(connection, holder):
        _write(installation.instance, State.PAYING, holder.copy, database)
        return
    copy = secrets.token_hex(16)
    folder, address = str(installation.instance.resolve()), installation.settings.link_base
    stamp = Holder(copy, machine_id(), folder, database, address)
    # Where another machine was faster, this fails before the card is there.
    set_stamp(connection, _STAMP, json.dumps(asdict(stamp)))
    _write(installation.instance, State.PAYING, copy, database)


def lives_in(holder: Holder) -> Path | None:
    """Return the folder of the paying copy where it is on this machine and still pays."""
    if not holder.folder or holder.machine != machine_id():
        return None
    card = read_card(Path(holder.folder))
    return Path(holder.folder) if card is not None and card.state == State.PAYING else None


def public_mark(instance: Path) -> str:
    """Return what a paying copy's server shows of itself; empty where it does not pay."""
    card = read_card(instance)
    return mark_of(card.copy) if card is not None and card.state == State.PAYING else ""


def mark_of(copy: str) -> str:
    """Return what tells a paying copy from others, and reveals nothing."""
    return sha256(f"paying copy {copy}".encode()).hexdigest()[:16]


def _why_not(connection: Connection, instance: Path) -> str:
    if is_paying(connection, instance):
        return ""
    card, holder = read_card(instance), holder_of(connection)
    if holder is None and card is None and not _has_offers(connection):
        return ""
    if card is not None and card.state == State.RESTORED:
        return (
            "its database was restored from a backup, and a restored database starts without"
            " the right to pay"
        )
    whose = "another copy of this installation may have the right to pay"
    if holder is not None and holder.copy:
        machine = "" if holder.machine == machine_id() else " on another machine"
        whose = (
            f"the right to pay is with the copy of this installation in {holder.folder}{machine}"
        )
    elif holder is not None:
        whose = "the right to pay was handed over to another copy of this installation"
    if card is None and (instance / FILE).exists():
        return f"{whose}: this folder or its file {FILE} was copied or moved"
    return whose


def _has_offers(connection: Connection) -> bool:
    found = select(Payment.id).union_all(select(Hit.id), select(Recruitment.id)).limit(1)
    return connection.scalar(found) is not None


def _shares(connection: Connection, holder: Holder) -> bool:
    """Return whether this is the very database of the paying copy, which machines can share."""
    if connection.dialect.name == "sqlite" or not holder.copy:
        return False
    return holder.database == _database(connection)


@cache
def _stamps(dialect: Dialect) -> Prepared:
    """Return the statement that every page of the researcher's asks, made once per database."""
    value = select(Stamp.value).where(Stamp.name == _STAMP)
    return Prepared(select(value.scalar_subquery()), dialect)


def _database(connection: Connection) -> str:
    """Return what tells the database from a copy of it, as far as it can be told."""
    if connection.dialect.name == "sqlite":
        return f"{machine_id()} {Path(str(connection.engine.url.database)).resolve()}"
    pool = connection.engine.pool
    if pool not in _IDENTITIES:
        _IDENTITIES[pool] = _postgres_identity(connection)
    return _IDENTITIES[pool]


_IDENTITIES = WeakKeyDictionary[Pool, str]()


def _postgres_identity(connection: Connection) -> str:
    allowed = "SELECT has_function_privilege('pg_control_system()', 'execute')"
    system = ""
    if connection.scalar(text(allowed)):
        system = connection.scalar(text("SELECT system_identifier FROM pg_control_system()"))
    oid = connection.scalar(text("SELECT oid FROM pg_database WHERE datname = current_database()"))
    return f"postgresql {system} {oid}"


@contextmanager
def no_call(instance: Path) -> Iterator[None]:
    """Hold the card's lock alone: this folder makes no call that moves money or places meanwhile.

    Raises:
        PayingCopyError: A call did not end.
    """
    lock = FileLock(instance / _LOCK)
    try:
        locked = lock.acquire(_LOCK_TIMEOUT_S)
    except OSError:
        locked = True
    if not locked:
        raise PayingCopyError(
            "a payment or an offer is still being made", where=str(instance), remedy="Try again"
        )
    try:
        yield
    finally:
        lock.release()


def _write(instance: Path, state: State, copy: str = "", database: str = "") -> Card:
    """Replace the card by a new one for this place, safe on the disk."""
    request = "" if state == State.PAYING else secrets.token_hex(8)
    handle, name = tempfile.mkstemp(prefix=f".{FILE}.", dir=instance)
    with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
        inode = os.fstat(file.fileno()).st_ino
        folder = str(instance.resolve())
        card = Card(copy, state, machine_id(), folder, inode, database, request)
        content: Mapping[str, object] = asdict(card)
        json.dump(content, file)
        file.flush()
        os.fsync(file.fileno())
    Path(name).replace(instance / FILE)
    return card
