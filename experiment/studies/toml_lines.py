"""On which line of a TOML file each key stands, so that messages can say so."""

import tomllib
from collections.abc import Iterator, Mapping, Sequence

Path = tuple[str | int, ...]


class TomlLines:
    """The lines of a file's keys.

    Statements are found by reading the file line by line until what was read is whole; so all
    grammar is left to the standard library.

    Args:
        text: The file's text; as much of it is used as is TOML.
        earlier: What keys above all tables were called before, by what they are called now.
    """

    def __init__(self, text: str, earlier: Mapping[str, str] | None = None) -> None:
        self._lines: dict[Path, int] = {}
        table: Path = ()
        counts: dict[Path, int] = {}
        for number, statement in _statements(text):
            keys = _keys(tomllib.loads(statement))
            if statement.lstrip().startswith("["):
                table = _numbered(keys, counts, array=statement.lstrip().startswith("[["))
                self._lines.setdefault(table, number)
            else:
                self._note((*table, *keys), number)
        for now, before in (earlier or {}).items():
            if (before,) in self._lines:
                self._lines.setdefault((now,), self._lines[before,])

    def _note(self, path: Path, number: int) -> None:
        for length in range(1, len(path) + 1):
            self._lines.setdefault(path[:length], number)

    def line_of(self, path: Sequence[str | int]) -> int | None:
        """Return the line of a key, or else of the nearest table around it; None at the top."""
        for length in range(len(path), 0, -1):
            if (found := self._lines.get(tuple(path[:length]))) is not None:
                return found
        return None


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Yield each statement with the line it begins on; what never becomes whole is left out."""
    waiting, began = "", 1
    for number, line in enumerate(text.splitlines(), start=1):
        began = began if waiting else number
        waiting += f"{line}\n"
        try:
            tomllib.loads(waiting)
        except tomllib.TOMLDecodeError:
            continue
        if not line.strip().startswith("#") and waiting.strip():
            yield began, waiting
        waiting = ""


def _keys(parsed: Mapping[str, object]) -> tuple[str, ...]:
    """Return the keys that lead to a statement's value."""
    keys = []
    found: object = parsed
    while isinstance(found, Mapping) and len(found) == 1:
        ((key, found),) = found.items()
        keys.append(key)
        if isinstance(found, list):
            break
    return tuple(keys)


def _numbered(keys: Sequence[str], counts: dict[Path, int], *, array: bool) -> Path:
    """Return a header's path with the number of each array's present table in it."""
    path: Path = ()
    for place, key in enumerate(keys):
        path = (*path, key)
        last = place == len(keys) - 1
        if last and array:
            counts[path] = counts.get(path, -1) + 1
        if path in counts:
            path = (*path, counts[path])
    return path
