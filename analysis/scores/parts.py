"""Scores kept part by part while they are made, so that a killed command goes on where it was."""

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from experiment.writing import replacing

_FACTS = "facts.json"


class Parts:
    """Tables kept in a folder under names, each written whole or not at all."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def path(self, name: str) -> Path:
        """Return where the part of that name is kept."""
        return self._folder / f"{name}.parquet"

    def missing(self, names: Sequence[str]) -> list[str]:
        """Return those names whose part is not there yet."""
        return [name for name in names if not self.path(name).is_file()]

    def keep(self, name: str, table: pa.Table) -> None:
        """Write a part."""
        with replacing(self.path(name)) as temporary:
            pq.write_table(table, temporary, compression="zstd")

    def read(self, name: str) -> pa.Table:
        """Return a part."""
        return pq.read_table(self.path(name))

    def kept(self, name: str, make: Callable[[], pa.Table]) -> pa.Table:
        """Return a part, made now if it is not there."""
        if self.missing([name]):
            self.keep(name, make())
        return self.read(name)


@contextmanager
def parts_beside(out: Path, facts: Mapping[str, str]) -> Iterator[Parts]:
    """Yield the parts of a file; they are removed when the block succeeds, and only then.

    Args:
        out: The file that is made from the parts.
        facts: What the parts are about; parts that are about something else are thrown away.
    """
    folder = out.with_name(f".{out.name}.parts")
    described = json.dumps(dict(facts), indent=2, sort_keys=True)
    if not _is(folder, described):
        shutil.rmtree(folder, ignore_errors=True)
        with replacing(folder / _FACTS) as temporary:
            temporary.write_text(described, encoding="utf-8")
    yield Parts(folder)
    shutil.rmtree(folder, ignore_errors=True)


def _is(folder: Path, described: str) -> bool:
    try:
        return (folder / _FACTS).read_text(encoding="utf-8") == described
    except OSError:
        return False
