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
from webapp.core.instance import READ_REMEDY, key_file, replace_text, write_once
from webapp.errors import WebappError

_SHORTEST_SECRET, _OTHERS_BITS = 32, 0o007
_SINGLE_KEY_ID = 0  # the id of the single key of earlier versions


class Purpose(StrEnum):
    """The purpose of a key."""

    SIGNING = "signing"
    PSEUDONYMS = "pseudonyms"
    SEALING = "sealing"


@dataclass(frozen=True, slots=True)
class Key:
    """One key of the keys file.

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

    def for_purpose(self, purpose: Purpose) -> tuple[Key, ...]:
        """Return the keys of a purpose, oldest first."""
        return {
            Purpose.SIGNING: self.signing,
            Purpose.PSEUDONYMS: self.pseudonyms,
            Purpose.SEALING: self.sealing,
        }[purpose]


def read_keys(instance: Path, configured: str = "") -> Keys:
    """Return the installation's keys.

    Args:
        instance: The instance folder, which contains the keys unless another file is given.
        configured: That other file, which servers on several machines can share.

    Raises:
        WebappError: The keys cannot be read, or a key is too short or missing.
    """
    path = key_file(instance, configured)
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise WebappError(
            "the keys file is missing",
            where=str(path),
            expected="the keys that belong to the database",
            remedy="Put your copy of the file there. The first start creates keys only for a "
            "database without participants",
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        problem = f"the secret key cannot be read ({why_unread(error)})"
        raise WebappError(problem, where=str(path), remedy=READ_REMEDY) from error
    rows = _parse_keys(path, text)
    if os.name == "posix" and path.stat().st_mode & _OTHERS_BITS:
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
            write_once(
                path,
                _format_keys(
                    (purpose, id_, _generate_secret()) for id_, purpose in enumerate(Purpose, 1)
                ),
            )
    except OSError as error:
        raise _write_error(path, error) from error
    return read_keys(instance)


def rotate_key(instance: Path, configured: str, purpose: Purpose) -> Key:
    """Add a new key for a purpose, used from the next start on, and return it.

    Raises:
        WebappError: The keys cannot be read, or the new key cannot be written.
    """
    keys = read_keys(instance, configured)
    key = Key(
        max(existing.id for p in Purpose for existing in keys.for_purpose(p)) + 1,
        _generate_secret(),
    )
    path = key_file(instance, configured)
    old = path.read_text(encoding="utf-8").rstrip()
    _replace_file(path, f"{old}\n{_format_keys([(purpose, key.id, key.secret)])}")
    return key


def drop_key(instance: Path, configured: str, id_: int) -> None:
    """Remove a key that is no longer used from the file.

    Raises:
        WebappError: There is no key with this id, or it is the newest of a purpose.
    """
    keys, path = read_keys(instance, configured), key_file(instance, configured)
    if id_ not in {key.id for purpose in Purpose for key in keys.for_purpose(purpose)}:
        raise WebappError(
            f"there is no key {id_}", where=str(path), remedy="See them with: parallax keys list"
        )
    for purpose in Purpose:
        if keys.for_purpose(purpose)[-1].id == id_:
            raise WebappError(
                f"key {id_} is the current key for {purpose} and cannot be dropped",
                where=str(path),
                remedy=f"First create a new key with: parallax keys rotate {purpose}",
            )
    rows = _parse_keys(path, path.read_text(encoding="utf-8"))
    first = {row[2] for row in rows if row[1] == _SINGLE_KEY_ID} if id_ != _SINGLE_KEY_ID else ()
    remaining_rows = [row for row in rows if row[1] not in (id_, _SINGLE_KEY_ID)]
    _replace_file(path, "".join(f"{secret}\n" for secret in first) + _format_keys(remaining_rows))


def _parse_keys(path: Path, text: str) -> list[tuple[Purpose, int, str]]:
    """Return every key in the file's text, for each purpose oldest first."""
    rows = []
    for words in (line.split() for line in text.splitlines() or [""]):
        if len(words) <= 1:
            secret = words[0] if words else ""
            rows += [(purpose, _SINGLE_KEY_ID, secret) for purpose in Purpose]
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
            remedy="Restore your copy of the file; docs/privacy.md lists what is lost without it",
        )
    for purpose in Purpose:
        if purpose not in {row[0] for row in rows}:
            raise WebappError(
                f"the keys file has no key for {purpose}",
                where=str(path),
                remedy="Restore your copy of the file",
            )
    return sorted(rows, key=lambda row: row[1])


def _generate_secret() -> str:
    return secrets.token_hex(32)


def _format_keys(rows: Iterable[tuple[Purpose, int, str]]) -> str:
    return "".join(f"{purpose} {id_} {secret}\n" for purpose, id_, secret in rows)


def _replace_file(path: Path, text: str) -> None:
    try:
        replace_text(path, text)
    except OSError as error:
        raise _write_error(path, error) from error


def _write_error(path: Path, error: OSError) -> WebappError:
    return WebappError(
        f"the keys cannot be written ({why_unread(error)})",
        where=str(path),
        expected="a folder that the user running Parallax can write to",
    )
