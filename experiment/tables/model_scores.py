"""Models' scores of items, read without the analysis: the good version's, and its contrast's."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from experiment.errors import TableError
from experiment.records import Variant
from experiment.tables.column import TableSchema
from experiment.tables.files import read_table
from experiment.tables.schemas import SCORES

_NEEDED = ("item_id", "contrast", "variant", "logprob_nats")
_SCHEMA = TableSchema(
    SCORES.name,
    SCORES.description,
    SCORES.primary_key,
    tuple(column for column in SCORES.columns if column.name in _NEEDED),
)


@dataclass(frozen=True, slots=True)
class ModelScores:
    """A model's log-probabilities.

    Attributes:
        model: The model's name.
        path: The file that they were read from.
        good: Each item's good version, in nats.
        contrast: Each item's version that is compared with it; without items of a single version.
    """

    model: str
    path: Path
    good: Mapping[str, float]
    contrast: Mapping[str, float]


def read_model_scores(path: Path) -> ModelScores:
    """Read a file that ``parallax lm score`` wrote.

    Raises:
        TableError: The file is not Parquet, lacks a column or does not name its model.
    """
    if not path.is_file():
        raise TableError("there is no such file", where=str(path), expected="scores of a model")
    from experiment.tables.parquet import open_parquet

    metadata = open_parquet(path).metadata.metadata or {}
    if b"model" not in metadata:
        raise TableError(
            "the file does not name its model",
            where=str(path),
            expected="a file that `parallax lm score` or `parallax import scores` wrote",
        )
    good, contrast = dict[str, float](), dict[str, float]()
    for row in read_table(_SCHEMA, path):
        nats = float(str(row["logprob_nats"]))
        if row["variant"] == Variant.GOOD:
            good[str(row["item_id"])] = nats
        elif row["variant"] == row["contrast"]:
            contrast[str(row["item_id"])] = nats
    return ModelScores(metadata[b"model"].decode(), path, good, contrast)
