"""Score materials with a model into a score file, with bounded memory and resumable."""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, wait
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from analysis.data.facts import ScoreFacts
from analysis.errors import AnalysisError
from analysis.scores.certify import (
    Certificate,
    choose_sample,
    combine_certificates,
    find_close_calls,
    find_largest_error,
    find_worst_difference,
    split_into_chunks,
)
from analysis.scores.check import ScoreCheck, check_scores, combine_checks
from analysis.scores.materials import (
    Chunk,
    Sentences,
    add_choices,
    collect_sentences,
    make_score_table,
    make_token_table,
)
from analysis.scores.raw_texts import RawTexts
from analysis.scores.scoring_inputs import Materials
from analysis.scores.shards import ShardCache, open_shard_cache, score_shard
from experiment.materials.render import render
from experiment.records import Item
from experiment.seeds import derive_seed
from experiment.tables.atomic_write import atomic_write
from experiment.tables.parquet import arrow_schema
from experiment.tables.schemas import SCORES
from lm.independent import Recomputed, divide_texts, find_splitter, recompute_scores
from lm.scorer import Scorer
from lm.sharding import (
    PLAIN,
    TEXTS_AT_A_TIME,
    Loading,
    ReadsStreams,
    make_shards,
    scorer_of,
    stream_reader_of,
)

# Items in memory at a time: published sets fit in one block, so shared beginnings are scored once.
ITEMS_AT_A_TIME = 262_144
# Blocks whose shards workers get before the block in progress is finished.
_BLOCKS_AHEAD = 1
_ROWS_PER_GROUP = 65_536
_SEED = 1

Progress = Callable[[int], object]


@dataclass(frozen=True, slots=True)
class Scoring:
    """The model, and how it scores.

    Attributes:
        model: The model's name on the command line.
        loading: The loading options; fast passes are certified by ``analysis.scores.certify``.
        executor: The executor that scores shards; None for this process.
        kernel: The kernel of a fast pass, in words for its certificate.
        progress: Called with the number of versions scored since the previous call.
        items_at_a_time: The number of items in a block; memory holds two blocks, or one without
            workers.
        storage: Where workers write their shards; by default, the folder of the score file.
    """

    model: str
    loading: Loading = PLAIN
    executor: Executor | None = None
    kernel: str = "kernel not measured"
    progress: Progress = lambda _: None
    items_at_a_time: int = ITEMS_AT_A_TIME
    storage: str = ""


def write_score_file(
    materials: Materials, scoring: Scoring, facts: ScoreFacts, out: Path
) -> ScoreFacts:
    """Score materials and write the score file, reusing the shards of an interrupted call.

    Args:
        materials: The items.
        scoring: The model, and how it scores.
        facts: The file's metadata, except those known only after scoring.
        out: The file to write.

    Returns:
        The file's metadata.

    Raises:
        AnalysisError: The model returned an invalid log-probability, or different scores without
            shortcuts.
        LmError: A text cannot be scored.
        TableError: The file cannot be written.
    """
    about = facts.model_dump() | {
        "fast": str(scoring.loading.fast),
        "packed": str(scoring.loading.packed),
        "items_at_a_time": str(scoring.items_at_a_time),
    }
    with open_shard_cache(out, about, scoring.storage) as cache:
        certificates: list[Certificate] = []
        checks: list[ScoreCheck] = []
        with (
            atomic_write(out) as temporary,
            pq.ParquetWriter(temporary, arrow_schema(SCORES), compression="zstd") as writer,
        ):
            rendering, raw_texts = render(materials.rendering), materials.raw_texts()
            under_way: deque[_BlockScores] = deque()
            for scores in _start_blocks(materials, scoring, cache, under_way):
                seed = derive_seed(_SEED, "check of scores", facts.materials_hash, scores.number)
                table, certificate = scores.table()
                try:
                    check = scores.check(table, rendering, np.random.default_rng(seed), raw_texts)
                except AnalysisError:
                    for block in under_way:
                        block.stop()
                    cache.forget()
                    raise
                checks += [check] if check else []
                certificates += [certificate] if certificate else []
                writer.write_table(table, _ROWS_PER_GROUP)
                # Not in memory while the next block is collected.
                del scores, table
            facts = _add_results(facts, certificates, checks)
            writer.add_key_value_metadata(facts.model_dump())
    return facts


def _add_results(
    facts: ScoreFacts, certificates: Sequence[Certificate], checks: Sequence[ScoreCheck]
) -> ScoreFacts:
    results = {"certificate": combine_certificates(certificates), "check": combine_checks(checks)}
    return facts.model_copy(update=results)


def _start_blocks(
    materials: Materials, scoring: Scoring, cache: ShardCache, under_way: deque["_BlockScores"]
) -> Iterator["_BlockScores"]:
    """Yield each block of items when workers have the shards of the next one.

    Otherwise, one slow shard would keep all other workers waiting at the end of its block.

    Args:
        materials: The items.
        scoring: The model, and how it scores.
        cache: The shards.
        under_way: Filled with the started blocks that are not finished.
    """
    for block in _collect_blocks(materials, scoring, cache):
        under_way.append(block)
        if len(under_way) > (_BLOCKS_AHEAD if scoring.executor else 0):
            yield under_way[0]
            under_way.popleft()
    while under_way:
        yield under_way[0]
        under_way.popleft()


def _collect_blocks(
    materials: Materials, scoring: Scoring, cache: ShardCache
) -> Iterator["_BlockScores"]:
    """Yield blocks of items with their sentences."""
    rendering = render(materials.rendering)
    # A study's texts are rendered as its study.toml says; for a file, changes are reported.
    noting_rendering = rendering if materials.study else materials.noting(rendering)
    load = partial(scorer_of, scoring.model, replace(scoring.loading, fast=False))
    all_items = materials.items()
    blocks = iter(lambda: list(islice(all_items, scoring.items_at_a_time)), [])
    for number, items in enumerate(blocks):
        wanted = collect_sentences(
            items, noting_rendering, materials.further, render_context=rendering
        )
        yield _BlockScores(items, add_choices(wanted, load), number, scoring, cache)


@dataclass(frozen=True, slots=True)
class _StartedShards:
    """Shards whose scoring has begun.

    Attributes:
        kind: The kind of shard.
        indices: The indices of each shard's sentences, by its name.
        missing: The names of the shards that were not cached.
        results: Yields the number of texts of each missing shard once it is written; without
            workers, the shard is scored then.
        futures: What the workers do for it.
    """

    kind: str
    indices: Mapping[str, Sequence[int]]
    missing: Sequence[str]
    results: Iterator[int]
    futures: Sequence[Future[int]] = ()


class _BlockScores:
    """The scores of one block of items, cached shard by shard; workers get the shards at once.

    Attributes:
        number: The block's number, from 0.
    """

    def __init__(
        self,
        items: Sequence[Item],
        sentences_: Sentences,
        number: int,
        scoring: Scoring,
        cache: ShardCache,
    ) -> None:
        self._items, self._wanted, self.number = items, sentences_, number
        self._scoring, self._cache = scoring, cache
        self._versions = np.bincount(sentences_.of_row)
        self._started = self._start_shards(
            "shard", make_shards(sentences_.distinct), fast=scoring.loading.fast
        )
        self._scored: list[Chunk] = []

    def stop(self) -> None:
        """Cancel what workers have not begun, and wait until they write no more shards."""
        wait([future for future in self._started.futures if not future.cancel()])

    def table(self) -> tuple[pa.Table, Certificate | None]:
        """Return the block's score table, with a certificate if the first pass was fast."""
        chunks = self._read_shards(self._started)
        table = make_score_table(self._wanted, chunks)
        self._scored = chunks
        return self._certify(table, chunks) if self._scoring.loading.fast else (table, None)

    def check(
        self,
        table: pa.Table,
        rendering: Callable[[str], str],
        rng: np.random.Generator,
        raw_texts: RawTexts | None,
    ) -> ScoreCheck | None:
        """Check the block's score table against recomputed scores of its items."""
        recompute_part = partial(
            recompute_scores, self._scoring.model, loading=self._scoring.loading
        )
        run = self._scoring.executor.map if self._scoring.executor else map

        def recompute(texts: list[str]) -> Recomputed:
            recomputed = list(run(recompute_part, divide_texts(self._scoring.model, texts)))
            return Recomputed(
                [logprob for part in recomputed for logprob in part.logprobs_nats],
                all(part.independent for part in recomputed),
                self._scoring.loading.weights.rounding_nats,
            )

        split, scored = find_splitter(self._scoring.model), self._scored
        return check_scores(
            self._items, self._wanted, scored, table, rendering, recompute, rng, raw_texts, split
        )

    def _certify(self, table: pa.Table, chunks: list[Chunk]) -> tuple[pa.Table, Certificate]:
        indices = choose_sample(len(self._wanted.distinct))
        [(_, exact)] = self._score_chunks("sample", [indices.tolist()], fast=False)
        [(_, fast)] = self._score_chunks("sample-fast", [indices.tolist()], fast=True)
        worst = find_worst_difference(exact, fast)
        to_rescore, n_close, n_compared = find_close_calls(self._wanted, table, chunks)
        close = self._score_chunks(
            "close", list(split_into_chunks(to_rescore, TEXTS_AT_A_TIME)), fast=False
        )
        kernel, bound = self._scoring.kernel, find_largest_error(chunks)
        certificate = Certificate(bound, worst, len(indices), n_close, n_compared, kernel)
        self._scored = [*chunks, *close]
        return make_score_table(self._wanted, self._scored), certificate

    def _score_chunks(
        self, kind: str, indices: Sequence[Sequence[int]], *, fast: bool
    ) -> list[Chunk]:
        return self._read_shards(self._start_shards(kind, indices, fast=fast))

    def _start_shards(
        self, kind: str, indices: Sequence[Sequence[int]], *, fast: bool
    ) -> _StartedShards:
        names = {
            f"{self.number:05}-{kind}-{n:05}": chunk_indices
            for n, chunk_indices in enumerate(indices)
        }
        missing = self._cache.missing(list(names))
        for name in names.keys() - set(missing):
            self._report_progress(kind, names[name])
        texts = ([self._wanted.distinct[index] for index in names[name]] for name in missing)
        loading = replace(self._scoring.loading, fast=fast)
        score = partial(score_shard, self._cache, self._scoring.model, loading)
        if self._scoring.executor is None:
            return _StartedShards(kind, names, missing, map(score, missing, texts))
        futures = [
            self._scoring.executor.submit(score, name, own_texts)
            for name, own_texts in zip(missing, texts, strict=True)
        ]
        results = (future.result() for future in futures)
        return _StartedShards(kind, names, missing, results, futures)

    def _read_shards(self, started: _StartedShards) -> list[Chunk]:
        """Return the scores of started shards when all are written."""
        for name, _ in zip(started.missing, started.results, strict=True):
            self._report_progress(started.kind, started.indices[name])
        return [
            (chunk_indices, self._cache.get(name))
            for name, chunk_indices in started.indices.items()
        ]

    def _report_progress(self, kind: str, indices: Sequence[int]) -> None:
        if kind == "shard":
            self._scoring.progress(int(self._versions[indices].sum()))


AS_STREAM = "as one stream, each item after the good versions of all items before it"
# Their hidden states are collected for one softmax.
_ITEMS_AT_A_TIME = 256


def write_stream_file(
    materials: Materials, scoring: Scoring, facts: ScoreFacts, out: Path
) -> ScoreFacts:
    """Score materials in order as one stream and write the score file.

    No sentence can be shared or skipped, and scoring cannot be resumed: each score depends on all
    preceding text.

    Args:
        materials: The items.
        scoring: The model; it scores the items one after the other, in this process.
        facts: The file's metadata.
        out: The file to write.

    Returns:
        The file's metadata.

    Raises:
        AnalysisError: The model returned an invalid log-probability.
        LmError: The model cannot keep its state between texts.
        TableError: The file cannot be written.
    """
    reader = stream_reader_of(scoring.model, scoring.loading)
    with (
        atomic_write(out) as temporary,
        pq.ParquetWriter(temporary, arrow_schema(SCORES), compression="zstd") as writer,
    ):
        load = partial(scorer_of, scoring.model, scoring.loading)
        for table in _stream_tables(materials, reader, load):
            writer.write_table(table)
            scoring.progress(table.num_rows)
        writer.add_key_value_metadata(facts.model_dump())
    return facts


def _stream_tables(
    materials: Materials, reader: ReadsStreams, load: Callable[[], Scorer]
) -> Iterator[pa.Table]:
    items, state = materials.items(), None
    while block := list(islice(items, _ITEMS_AT_A_TIME)):
        sentences_ = collect_sentences(
            block, render(materials.rendering), materials.further, repeated=True
        )
        sentences_ = add_choices(sentences_, load)
        scored, state = reader.score_stream(_group_versions(sentences_), state)
        indices = range(len(sentences_.distinct))
        answers = make_token_table(
            sentences_.distinct, [scores for group in scored for scores in group]
        )
        yield make_score_table(sentences_, [(indices, answers)])


def _group_versions(sentences_: Sentences) -> list[list[str]]:
    """Return the versions of each item, the good version first."""
    variants: Any = sentences_.rows["variant"].to_numpy()
    firsts = np.flatnonzero(variants == "good").tolist()
    ends = [*firsts, len(sentences_.distinct)]
    return [sentences_.distinct[start:end] for start, end in pairwise(ends)]
