"""A score file from materials and a model, in bounded memory and resumable."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from analysis.load import ScoreFacts
from analysis.scores.certify import (
    Certificate,
    close_calls,
    largest_error,
    portions_of,
    sampled,
    worst_difference,
)
from analysis.scores.materials import Portion, Sentences, score_table, sentences, token_table
from analysis.scores.parts import Parts, parts_beside
from analysis.scores.wanted import Materials
from experiment.materials.render import render
from experiment.schemas import SCORES
from experiment.tables import arrow_schema
from experiment.writing import replacing
from lm.scoring.shards import PLAIN, TEXTS_AT_A_TIME, Loading, score_texts, shards

# What is held at a time: the published sets fit in one block, so that no beginning is met twice.
ITEMS_AT_A_TIME = 262_144
_ROWS_PER_GROUP = 65_536

Show = Callable[[int], object]


@dataclass(frozen=True, slots=True)
class Scoring:
    """Who scores, and how.

    Attributes:
        model: The model as the command line names it.
        loading: How it is loaded; a fast pass is certified by ``analysis.scores.certify``.
        executor: Who scores shards; None for this process.
        show: Told how many versions were scored since it was last told.
        items_at_a_time: How many items are held at a time.
    """

    model: str
    loading: Loading = PLAIN
    executor: Executor | None = None
    show: Show = lambda _: None
    items_at_a_time: int = ITEMS_AT_A_TIME


def write_score_file(
    materials: Materials, scoring: Scoring, facts: ScoreFacts, out: Path
) -> ScoreFacts:
    """Score materials and write the score file; what an interrupted call scored is used.

    Args:
        materials: The items.
        scoring: Who scores, and how.
        facts: What the file is to say about itself, but for what only the scores can tell.
        out: The file to write.

    Returns:
        What the file says about itself.

    Raises:
        AnalysisError: The model gave something that is no log-probability.
        LmError: A text cannot be scored.
        TableError: The file cannot be written.
    """
    about = facts.model_dump() | {
        "fast": str(scoring.loading.fast),
        "items_at_a_time": str(scoring.items_at_a_time),
    }
    with parts_beside(out, about) as parts:
        certificates: list[Certificate] = []
        with (
            replacing(out) as temporary,
            pq.ParquetWriter(temporary, arrow_schema(SCORES), compression="zstd") as writer,
        ):
            for block, wanted in enumerate(_blocks(materials, scoring.items_at_a_time)):
                table, certificate = _BlockScores(wanted, block, scoring, parts).table()
                certificates += [certificate] if certificate else []
                writer.write_table(table, _ROWS_PER_GROUP)
            facts = facts.model_copy(update={"certificate": _joined(certificates)})
            writer.add_key_value_metadata(facts.model_dump())
    return facts


def _blocks(materials: Materials, size: int) -> Iterator[Sentences]:
    items = materials.items()
    while block := list(islice(items, size)):
        yield sentences(block, render(materials.rendering))


def _joined(certificates: Sequence[Certificate]) -> str:
    if not certificates:
        return ""
    return str(
        Certificate(
            max(one.bound_nats for one in certificates),
            max(one.worst_nats for one in certificates),
            sum(one.n_sampled for one in certificates),
            sum(one.n_close for one in certificates),
            sum(one.n_compared for one in certificates),
        )
    )


class _BlockScores:
    """The scores of one block of items, kept as parts while they are made."""

    def __init__(self, wanted: Sentences, number: int, scoring: Scoring, parts: Parts) -> None:
        self._wanted, self._number, self._scoring, self._parts = wanted, number, scoring, parts
        self._versions = np.bincount(wanted.of_row)

    def table(self) -> tuple[pa.Table, Certificate | None]:
        """Return the block's score table, certified if the first pass was fast."""
        places = shards(self._wanted.distinct)
        fast = self._scoring.loading.fast
        portions = self._portions("shard", places, fast=fast)
        table = score_table(self._wanted, portions)
        return self._certified(table, portions) if fast else (table, None)

    def _certified(self, table: pa.Table, portions: list[Portion]) -> tuple[pa.Table, Certificate]:
        places = sampled(len(self._wanted.distinct))
        [(_, exact)] = self._portions("sample", [places.tolist()], fast=False)
        [(_, fast)] = self._portions("sample-fast", [places.tolist()], fast=True)
        worst = worst_difference(exact, fast)
        again, n_close, n_compared = close_calls(self._wanted, table, portions)
        close = self._portions("close", list(portions_of(again, TEXTS_AT_A_TIME)), fast=False)
        bound = largest_error(portions)
        certificate = Certificate(bound, worst, len(places), n_close, n_compared)
        return score_table(self._wanted, [*portions, *close]), certificate

    def _portions(self, kind: str, places: Sequence[Sequence[int]], *, fast: bool) -> list[Portion]:
        names = {f"{self._number:05}-{kind}-{n:05}": own for n, own in enumerate(places)}
        missing = self._parts.missing(list(names))
        for name in names.keys() - set(missing):
            self._tell(kind, names[name])
        texts = [[self._wanted.distinct[place] for place in names[name]] for name in missing]
        loading = replace(self._scoring.loading, fast=fast)
        score = partial(score_texts, self._scoring.model, loading=loading)
        run = self._scoring.executor.map if self._scoring.executor else map
        for name, scored in zip(missing, run(score, texts), strict=True):
            self._parts.keep(name, token_table(self._wanted, names[name], scored))
            self._tell(kind, names[name])
        return [(own, self._parts.read(name)) for name, own in names.items()]

    def _tell(self, kind: str, places: Sequence[int]) -> None:
        if kind == "shard":
            self._scoring.show(int(self._versions[places].sum()))
