"""What many tests do first is done once; for the later ones, the state that it led to is put back.

A deed is known by its name and by everything that is stored when it begins: a state that differs in
one byte has the deed done anew. What only lives in memory is as after a server's start.
"""

import sqlite3
import zlib
from collections.abc import Callable, Hashable, Iterator
from contextlib import closing
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")
# Where SQLite counts the changes of a file and of its tables, which are others after each copy.
_COUNTERS = (slice(24, 28), slice(40, 44), slice(92, 100))


@dataclass(frozen=True, slots=True)
class _Stored:
    """What a deed returned, and what was stored after it."""

    result: Any
    files: dict[tuple[int, Path], bytes]


_done = dict[Hashable, _Stored]()
# Only states that such deeds led to are kept: no other test comes to what a test does next.
_reached = set[Hashable]()


@dataclass(frozen=True, slots=True)
class DoneOnce:
    """The deeds that begin a test.

    Attributes:
        folders: Where everything is stored that they look at and change.
        circumstances: What else they look at; None when that cannot be known.
    """

    folders: tuple[Path, ...]
    circumstances: Callable[[], Hashable | None]

    def __call__(self, deed: Hashable, do: Callable[[], T], *, first: bool = False) -> T:
        """Do it, or put back what it led to, and return what it returned.

        Args:
            deed: What it is, with its arguments.
            do: Does it.
            first: Whether nothing was done before it.
        """
        if self.circumstances() is None:
            return do()
        begins = self._state(self.files())
        key = (deed, begins)
        if key in _done:
            stored = _done[key].files
            self.put_back({name: zlib.decompress(stored[name]) for name in stored})
            return _done[key].result

        result = do()
        if first or begins in _reached:
            files = self.files()
            _done[key] = _Stored(result, {name: zlib.compress(files[name], 1) for name in files})
            _reached.add(self._state(files))
        return result

    def files(self) -> dict[tuple[int, Path], bytes]:
        """Return the content of every file, by the number of its folder and its path there."""
        found = {}
        for number, folder in enumerate(self.folders):
            for path in _stored_in(folder):
                found[number, path.relative_to(folder)] = _content(path)
        return found

    def _state(self, files: dict[tuple[int, Path], bytes]) -> Hashable:
        digest = blake2b(repr(self.circumstances()).encode())
        for (number, path), content in sorted(files.items()):
            kept = bytearray(content)
            if path.suffix == ".sqlite3":
                for counter in _COUNTERS:
                    kept[counter] = bytes(counter.stop - counter.start)
            digest.update(f"{number} {path} {len(kept)}\n".encode())
            digest.update(kept)
        return digest.digest()

    def put_back(self, files: dict[tuple[int, Path], bytes]) -> None:
        """Give every file the content that it had, and remove the others."""
        for number, folder in enumerate(self.folders):
            for path in _stored_in(folder):
                if (number, path.relative_to(folder)) not in files:
                    path.unlink()
        for (number, path), content in files.items():
            _write(self.folders[number] / path, content)


def _stored_in(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        if path.is_file() and not path.name.endswith(("-wal", "-shm")):
            yield path


def _content(path: Path) -> bytes:
    if path.suffix != ".sqlite3":
        return path.read_bytes()
    with closing(sqlite3.connect(path)) as database:
        return database.serialize()


def _write(path: Path, content: bytes) -> None:
    if path.suffix != ".sqlite3":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return
    # In memory there is no write-ahead log. The file's connections go on with what is copied.
    content = content[:18] + b"\1\1" + content[20:]
    with closing(sqlite3.connect(":memory:")) as kept, closing(sqlite3.connect(path)) as database:
        kept.deserialize(content)
        kept.backup(database)
