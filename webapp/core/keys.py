"""The installation's keys: one file with the keys for each purpose, each with an id.

A line of the file is a purpose, an id and a secret. The newest key of a purpose is used; older keys
are still accepted until they are dropped. A line with only a secret is the single key of earlier
versions, or of machines that share a file: it is the first key of every purpose.
"""

import os
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from experiment.errors import why_unread
from webapp.core.instance import UNREADABLE, key_file, replace_text, write_once
from webapp.errors import WebappError

_SHORTEST_SECRET, _OTHERS = 32, 0o007
_FIRST_ID = 0  # the id of the single key of earlier versions


class Purpose(StrEnum):
    """The purpose of a key."""

    SIGNING = "signing"
    PSEUDONYMS = "pseudonyms"
    SEALING = "sealing"


@dataclass(frozen=True, slots=True)
class Key:
    """One key.

    Attributes:
        id: Its number, unique within a file.
        secret: The secret.
    """

    id: int
    secret: str


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of an installation, for each purpose oldest first; the last one is used.

    Attributes:
        signing: Keys that sign participants' links, receipts and sign-in attempts.
        pseudonyms: Keys for digests that reveal nothing about the text.
        sealing: Keys that encrypt platform ids.
    """

    signing: tuple[Key, ...]
    pseudonyms: tuple[Key, ...]
    sealing: tuple[Key, ...]

    def of(self, purpose: Purpose) -> tuple[Key, ...]:
        """Return the keys of a purpose, oldest first."""
        return {
            Purpose.SIGNING: self.signing,
            Purpose.PSEUDONYMS: self.pseudonyms,
            Purpose.SEALING: self.sealing,
        }[purpose]


def read_keys(instance: Path, given: str = "") -> Keys:
    """Return the installation's keys.

    Args:
        instance: The instance folder, which contains the keys unless another file is given.
        given: That other file, which servers on several machines can share.

    Raises:
        WebappError: The keys cannot be read, or a key is too short or missing.
    """
    path = key_file(instance, given)
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise WebappError(
            "the keys file is missing",
            where=str(path),
            expected="the keys that belong to the database",
            remedy="Put your copy of the file there. The first start makes keys, for a database "
            "that knows nobody yet",
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        problem = f"the secret key cannot be read ({why_unread(error)})"
        raise WebappError(problem, where=str(path), remedy=UNREADABLE) from error
    rows = _rows(path, text)
    if os.name == "posix" and path.stat().st_mode & _OTHERS:
        raise WebappError(
            "every user of this machine can read the secret key",
            where=str(path),
            expected="a file that only its owner or group can read",
            remedy=f"chmod 600 {path}",
        )
    return Keys(*(tuple(Key(id_, key) for each, id_, key in rows if each == p) for p in Purpose))


def make_keys(instance: Path) -> Keys:
    """Return the keys of an instance folder; make them if there are none (new databases only).

    Raises:
        WebappError: The keys cannot be read or written.
    """
    path = key_file(instance)
    try:
        if not path.exists():
            write_once(path, _lines((each, id_, _new()) for id_, each in enumerate(Purpose, 1)))
    except OSError as error:
        raise _unwritten(path, error) from error
    return read_keys(instance)


def rotate(instance: Path, given: str, purpose: Purpose) -> Key:
    """Add a new key for a purpose, used from the next start on, and return it.

    Raises:
        WebappError: The keys cannot be read, or the new key cannot be written.
    """
    keys = read_keys(instance, given)
    key = Key(max(each.id for p in Purpose for each in keys.of(p)) + 1, _new())
    path = key_file(instance, given)
    old = path.read_text(encoding="utf-8").rstrip()
    _replace(path, f"{old}\n{_lines([(purpose, key.id, key.secret)])}")
    return key


def drop(instance: Path, given: str, id_: int) -> None:
    """Remove a key that is no longer used from the file.

    Raises:
        WebappError: There is no key with this id, or it is the newest of a purpose.
    """
    keys, path = read_keys(instance, given), key_file(instance, given)
    if id_ not in {each.id for purpose in Purpose for each in keys.of(purpose)}:
        raise WebappError(
            f"there is no key {id_}", where=str(path), remedy="See them with: parallax keys list"
        )
    for purpose in Purpose:
        if keys.of(purpose)[-1].id == id_:
            raise WebappError(
                f"key {id_} is the current key for {purpose} and cannot be dropped",
                where=str(path),
                remedy=f"First create a new key with: parallax keys rotate {purpose}",
            )
    rows = _rows(path, path.read_text(encoding="utf-8"))
    first = {row[2] for row in rows if row[1] == _FIRST_ID} if id_ != _FIRST_ID else ()
    left = [row for row in rows if row[1] not in (id_, _FIRST_ID)]
    _replace(path, "".join(f"{secret}\n" for secret in first) + _lines(left))


def _rows(path: Path, text: str) -> list[tuple[Purpose, int, str]]:
    """Return every key in the file's text, for each purpose oldest first."""
    rows = []
    for words in (line.split() for line in text.splitlines() or [""]):
        if len(words) <= 1:
            secret = words[0] if words else ""
            rows += [(purpose, _FIRST_ID, secret) for purpose in Purpose]
        elif len(words) == 3 and words[0] in list(Purpose) and words[1].isdecimal():
            rows.append((Purpose(words[0]), int(words[1]), words[2]))
        else:
            raise WebappError(
                "a line of the keys file is not a key",
                where=str(path),
                expected="either a secret alone, or a purpose, an id and a secret",
                remedy="Restore your copy of the file",
            )
    if any(len(secret) < _SHORTEST_SECRET for _, _, secret in rows):
        raise WebappError(
            "the secret key is too short",
            where=str(path),
            expected=f"at least {_SHORTEST_SECRET} characters",
            remedy="Restore your copy of the file; docs/privacy.md says what is lost without it",
        )
    for purpose in Purpose:
        if purpose not in {row[0] for row in rows}:
            raise WebappError(
                f"the keys file has no key for {purpose}",
                where=str(path),
                remedy="Restore your copy of the file",
            )
    return sorted(rows, key=lambda row: row[1])


def _new() -> str:
    return secrets.token_hex(32)


def _lines(rows: Iterable[tuple[Purpose, int, str]]) -> str:
    return "".join(f"{purpose} {id_} {secret}\n" for purpose, id_, secret in rows)


def _replace(path: Path, text: str) -> None:
    try:
        replace_text(path, text)
    except OSError as error:
        raise _unwritten(path, error) from error


def _unwritten(path: Path, error: OSError) -> WebappError:
    return WebappError(
        f"the keys cannot be written ({why_unread(error)})",
        where=str(path),
        expected="a folder that the user running Parallax can write to",
    )
