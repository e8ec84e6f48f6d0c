"""Scoring every version of every item with a language model."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from analysis.errors import AnalysisError
from analysis.load import ScoreFacts
from experiment.records import Item, Variant
from experiment.schemas import SCORES
from experiment.tables import arrow_schema
from experiment.writing import replacing
from lm.scorer import Scorer, TokenScores

SENTENCES_AT_A_TIME = 16_384
_NAMING_COLUMNS = ("item_id", "construction", "condition", "contrast", "variant")
_SCORE_COLUMNS = ("logprob_nats", "n_tokens", "n_unknown", "token_logprobs_nats")


@dataclass(frozen=True, slots=True)
class Sentences:
    """The sentences to score: each distinct one once, however many items share it.

    Attributes:
        rows: One row per item and version: item_id, construction, condition, contrast, variant.
        distinct: The sentences as the model is given them.
        of_row: Shape ``(rows,)``: each row's place in ``distinct``.
    """

    rows: pa.Table
    distinct: list[str]
    of_row: NDArray[np.int64]


def sentences(items: Iterable[Item], render: Callable[[str], str]) -> Sentences:
    """Collect the versions of the items, each as a whole rendered sentence.

    Args:
        items: The items; consumed once.
        render: From plain words to what the model is given.
    """
    place: dict[str, int] = {}
    of_row: list[int] = []
    columns: dict[str, list[str]] = {name: [] for name in _NAMING_COLUMNS}
    for item in items:
        for variant, text in _versions(item):
            whole = f"{item.context} {text}" if item.context else text
            of_row.append(place.setdefault(render(whole), len(place)))
            named = (item.item_id, item.construction, item.condition, item.contrast, variant)
            for name, value in zip(_NAMING_COLUMNS, named, strict=True):
                columns[name].append(value)
    return Sentences(pa.table(columns), list(place), np.array(of_row, dtype=np.int64))


def _versions(item: Item) -> Iterator[tuple[Variant, str]]:
    yield Variant.GOOD, item.good
    yield Variant.BAD, item.bad
    if item.distractor:
        yield Variant.DISTRACTOR, item.distractor


def blocks(texts: Sequence[str], size: int = SENTENCES_AT_A_TIME) -> list[Sequence[str]]:
    """Cut the sentences into the portions that a model scores at a time."""
    return [texts[start : start + size] for start in range(0, len(texts), size)]


def score_blocks(scorer: Scorer, portions: Iterable[Sequence[str]]) -> Iterator[pa.Table]:
    """Yield the scores of each portion: logprob_nats, n_tokens, n_unknown, token_logprobs_nats.

    Raises:
        AnalysisError: The model gave something that is no log-probability.
    """
    for portion in portions:
        scored = scorer.score([("", text) for text in portion])
        yield _score_columns(scorer, portion, scored)


def _score_columns(
    scorer: Scorer, portion: Sequence[str], scored: Sequence[TokenScores]
) -> pa.Table:
    n_tokens = np.array([len(one.logprobs_nats) for one in scored], dtype=np.int64)
    ends = np.concatenate([[0], np.cumsum(n_tokens)])
    tokens = np.concatenate([one.logprobs_nats for one in scored])
    unknown = np.concatenate([[0], np.cumsum(np.concatenate([one.unknown for one in scored]))])
    # Sums are rounded exactly, so that sentences of the same token scores tie in any order.
    sums = np.array([math.fsum(one.logprobs_nats.tolist()) for one in scored])
    _refuse_impossible(scorer, portion, sums)
    return pa.table(
        {
            "logprob_nats": sums,
            "n_tokens": n_tokens,
            "n_unknown": unknown[ends[1:]] - unknown[ends[:-1]],
            "token_logprobs_nats": pa.ListArray.from_arrays(
                pa.array(ends, pa.int32()), pa.array(tokens, pa.float32())
            ),
        }
    )


def _refuse_impossible(scorer: Scorer, portion: Sequence[str], sums: NDArray[np.float64]) -> None:
    impossible = np.isnan(sums) | (sums > 0)
    if impossible.any():
        raise AnalysisError(
            f'the model "{scorer.name}" gave a score that is no log-probability',
            where=f'the sentence "{portion[int(impossible.argmax())]}"',
            expected="a number that is at most 0",
        )


def score_table(wanted: Sentences, scored: Iterable[pa.Table]) -> pa.Table:
    """Return the score table: each item's versions with the scores of their sentences.

    Args:
        wanted: What was to be scored.
        scored: The scores of ``wanted.distinct``, in order, as ``score_blocks`` yields them.
    """
    scores = pa.concat_tables(scored).combine_chunks().take(wanted.of_row)
    columns = {name: wanted.rows[name] for name in _NAMING_COLUMNS}
    columns |= {name: scores[name] for name in _SCORE_COLUMNS}
    return pa.table(columns).cast(arrow_schema(SCORES))


def score_items(scorer: Scorer, items: Iterable[Item], render: Callable[[str], str]) -> pa.Table:
    """Return the score table of the items: one row per item and version."""
    wanted = sentences(items, render)
    return score_table(wanted, score_blocks(scorer, blocks(wanted.distinct)))


def write_scores(table: pa.Table, facts: ScoreFacts, path: Path) -> None:
    """Write a score table as a Parquet file that says which model and materials it is about.

    Raises:
        TableError: The file cannot be written.
    """
    described = table.replace_schema_metadata(facts.model_dump())
    with replacing(path) as temporary:
        pq.write_table(described, temporary, compression="zstd")
