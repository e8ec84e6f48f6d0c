"""Score sentences as one stream, each after all preceding sentences."""

from collections.abc import Iterator
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from analysis.data.load import ScoreFacts
from analysis.scores.file import Scoring
from analysis.scores.materials import Sentences, score_table, sentences, token_table
from analysis.scores.scoring_inputs import Materials
from experiment.materials.render import render
from experiment.tables.atomic_write import atomic_write
from experiment.tables.parquet import arrow_schema
from experiment.tables.schemas import SCORES
from lm.sharding import ReadsStreams, stream_reader_of

READING = "as one stream, each item after the good versions of all items before it"
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
        for table in _tables(materials, reader):
            writer.write_table(table)
            scoring.progress(table.num_rows)
        writer.add_key_value_metadata(facts.model_dump())
    return facts


def _tables(materials: Materials, reader: ReadsStreams) -> Iterator[pa.Table]:
    items, before = materials.items(), None
    while block := list(islice(items, _ITEMS_AT_A_TIME)):
        wanted = sentences(block, render(materials.rendering), repeated=True)
        scored, before = reader.score_stream(_groups(wanted), before)
        indices = range(len(wanted.distinct))
        answers = token_table(wanted, indices, [one for group in scored for one in group])
        yield score_table(wanted, [(indices, answers)])


def _groups(wanted: Sentences) -> list[list[str]]:
    """Return the versions of each item, the good version first."""
    variants: Any = wanted.rows["variant"].to_numpy()
    firsts = np.flatnonzero(variants == "good").tolist()
    ends = [*firsts, len(wanted.distinct)]
    return [wanted.distinct[start:end] for start, end in pairwise(ends)]
