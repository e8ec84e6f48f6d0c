"""Scores cached shard by shard while they are made, so that a killed command goes on from there."""

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from experiment.tables.atomic_write import atomic_write

_FACTS = "facts.json"


class ShardCache:
    """Tables in a folder under names, each written whole or not at all."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def path(self, name: str) -> Path:
        """Return where the shard of that name is cached."""
        return self._folder / f"{name}.parquet"

    def missing(self, names: Sequence[str]) -> list[str]:
        """Return those names whose shard is not there yet."""
        return [name for name in names if not self.path(name).is_file()]

    def put(self, name: str, table: pa.Table) -> None:
        """Write a shard."""
        with atomic_write(self.path(name)) as temporary:
            pq.write_table(table, temporary, compression="zstd")

    def get(self, name: str) -> pa.Table:
        """Return a shard."""
        return pq.read_table(self.path(name))

    def forget(self) -> None:
        """Throw all shards away, because they are not right: no later call may use them."""
        shutil.rmtree(self._folder, ignore_errors=True)


@contextmanager
def shard_cache(out: Path, facts: Mapping[str, str]) -> Iterator[ShardCache]:
    """Yield the shards of a file; they are removed when the block succeeds, and only then.

    Args:
        out: The file that is made from the shards.
        facts: What the shards are about; shards that are about something else are thrown away.
    """
    folder = out.with_name(f".{out.name}.parts")
    described = json.dumps(dict(facts), indent=2, sort_keys=True)
    if not _is_about(folder, described):
        shutil.rmtree(folder, ignore_errors=True)
        with atomic_write(folder / _FACTS) as temporary:
            temporary.write_text(described, encoding="utf-8", newline="\n")
    yield ShardCache(folder)
    shutil.rmtree(folder, ignore_errors=True)


def _is_about(folder: Path, described: str) -> bool:
    try:
        return (folder / _FACTS).read_text(encoding="utf-8") == described
    except OSError:
        return False
