"""Shards of scores in a folder or shared storage, where each worker writes its own."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow.fs import FileSystem, FileType, LocalFileSystem

from analysis.errors import AnalysisError
from analysis.scores.materials import make_token_table
from lm.sharding import Loading, score_texts

_FACTS_FILE = "facts.json"


@dataclass(frozen=True, slots=True)
class ShardCache:
    """A cache of named tables in a folder; each is written completely or not at all.

    Other processes and machines may receive a copy, and use the same tables.

    Attributes:
        address: The folder: an absolute path, or a URI of a file system that pyarrow knows, such as
            s3://bucket/folder.
    """

    address: str

    def _open(self) -> tuple[FileSystem, str]:
        """Return the file system and the folder there."""
        try:
            if "://" in self.address:
                files, folder = FileSystem.from_uri(self.address)
                return files, folder
        except (OSError, ValueError) as error:
            raise self._make_error("the folder of shards cannot be opened", error) from error
        return LocalFileSystem(), self.address

    def _make_error(self, problem: str, error: Exception) -> AnalysisError:
        return AnalysisError(
            f"{problem} ({error})",
            where=self.address,
            expected="a folder or a URI such as s3://bucket/folder that this command and all "
            "workers can read and write",
            remedy="Name one with `--shards`",
        )

    def missing(self, names: Sequence[str]) -> list[str]:
        """Return the names whose shard is not cached yet."""
        files, folder = self._open()
        infos = files.get_file_info([f"{folder}/{name}.parquet" for name in names])
        return [name for name, info in zip(names, infos, strict=True) if info.type != FileType.File]

    def put(self, name: str, table: pa.Table) -> None:
        """Write a shard."""
        files, folder = self._open()
        # Two workers may have the same task, if one of them seemed lost.
        temporary = f"{folder}/.{name}.{uuid4().hex}.tmp"
        try:
            pq.write_table(table, temporary, compression="zstd", filesystem=files)
            files.move(temporary, f"{folder}/{name}.parquet")
        except OSError as error:
            raise self._make_error("a shard cannot be written", error) from error

    def get(self, name: str) -> pa.Table:
        """Return a shard."""
        files, folder = self._open()
        try:
            return pq.read_table(f"{folder}/{name}.parquet", filesystem=files)
        except OSError as error:
            raise self._make_error("a shard that was written cannot be read", error) from error

    def prepare(self, facts: str) -> None:
        """Keep the shards if they have these facts; otherwise, delete them."""
        files, folder = self._open()
        path = f"{folder}/{_FACTS_FILE}"
        try:
            if files.get_file_info(path).type == FileType.File:
                with files.open_input_stream(path) as stream:
                    if stream.read().decode() == facts:
                        return
            self.forget()
            files.create_dir(folder)
            with files.open_output_stream(path) as stream:
                stream.write(facts.encode())
        except OSError as error:
            raise self._make_error("the folder of shards cannot be written", error) from error

    def forget(self) -> None:
        """Delete all shards because they are invalid: no later call may use them."""
        files, folder = self._open()
        if files.get_file_info(folder).type == FileType.Directory:
            files.delete_dir(folder)


@contextmanager
def open_shard_cache(
    out: Path, facts: Mapping[str, str], storage: str = ""
) -> Iterator[ShardCache]:
    """Yield the shards of a file; they are deleted only when the block succeeds.

    Args:
        out: The file made from the shards.
        facts: The metadata of the shards; shards with other metadata are deleted.
        storage: The folder or URI that gets the folder of shards; by default, that of the file.
    """
    name = f".{out.name}.parts"
    parent, mark, query = storage.partition("?") if "://" in storage else (storage, "", "")
    if "://" not in storage:
        parent = str(Path(storage or out.parent).resolve())
    cache = ShardCache(f"{parent.rstrip('/')}/{name}{mark}{query}")
    cache.prepare(json.dumps(dict(facts), indent=2, sort_keys=True))
    yield cache
    cache.forget()


def score_shard(
    cache: ShardCache, model: str, loading: Loading, name: str, texts: Sequence[str]
) -> int:
    """Score texts in a worker, which writes their shard; return the number of texts.

    Raises:
        AnalysisError: The model returned an invalid log-probability, or the shard cannot be
            written.
        LmError: A text cannot be scored.
    """
    cache.put(name, make_token_table(texts, score_texts(model, texts, loading)))
    return len(texts)
