"""Files of scores over time: their metadata, and each model's decisions at each checkpoint."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.data.facts import ScoreFacts
from analysis.data.frames import read_parquet
from analysis.data.load import read_facts
from analysis.data.score_sums import refuse_impossible_scores
from analysis.errors import AnalysisError
from experiment.records import Variant
from experiment.tables.schemas import SCORES_OVER_TIME

_COLUMNS = (
    "checkpoint",
    "tokens_seen",
    "item_id",
    "construction",
    "condition",
    "contrast",
    "variant",
    "logprob_nats",
)


class HistoryFacts(ScoreFacts):
    """The metadata of scores over time: also the model's family of seeds, and the seed."""

    family: str
    seed: str


@dataclass(frozen=True, slots=True)
class History:
    """A model's decisions during its training.

    Attributes:
        path: The file.
        facts: Its metadata.
        tokens_seen: Shape ``(checkpoints,)``, ascending.
        items: One row per item: item_id, construction, condition.
        correct: Shape ``(items, checkpoints)``: whether the expected version had the higher score.
    """

    path: Path
    facts: HistoryFacts
    tokens_seen: NDArray[np.int64]
    items: pd.DataFrame
    correct: NDArray[np.bool_]

    def __str__(self) -> str:
        facts, (first, *_, last) = self.facts, self.tokens_seen.tolist()
        return (
            f"{facts.model}: {len(self.tokens_seen)} checkpoints after {first:,} to {last:,} "
            f"tokens; trained on {facts.trained_on}; given {facts.given}."
        )


def read_history_facts(path: Path) -> HistoryFacts:
    """Return a file's metadata (see ``analysis.data.load.read_facts``)."""
    return read_facts(SCORES_OVER_TIME, path, HistoryFacts)


def load_histories(paths: Sequence[Path]) -> list[History]:
    """Read files of scores over time, each of a different training.

    Raises:
        AnalysisError: Two files are of the same training, a file does not name its training, or a
            checkpoint lacks the score of a version, or has a score above 0.
        TableError: A file is missing or violates the schema.
    """
    histories = [_load_history(path) for path in paths]
    for model, n in Counter(history.facts.model for history in histories).items():
        if n > 1:
            raise AnalysisError(
                f'{n} files of scores over time are of "{model}"',
                where=", ".join(str(h.path) for h in histories if h.facts.model == model),
                expected="one file for each training",
                remedy="Give trainings different names, or the seeds that they had",
            )
    return histories


def _load_history(path: Path) -> History:
    frame = read_parquet(SCORES_OVER_TIME, path, _COLUMNS, categorical=True)
    refuse_impossible_scores(path)
    is_good = (frame["variant"] == Variant.GOOD).to_numpy()
    is_contrast = frame["variant"].astype(str).to_numpy() == frame["contrast"].astype(str)
    seen = np.sort(frame["tokens_seen"].unique())
    good, contrast = (
        frame[rows].pivot_table("logprob_nats", "item_id", "tokens_seen", observed=True)
        for rows in (is_good, is_contrast)
    )
    good = good.reindex(columns=seen)
    contrast = contrast.reindex(index=good.index, columns=seen)
    if len(seen) != frame["checkpoint"].nunique() or good.isna().any(axis=None):
        raise AnalysisError(
            "a checkpoint lacks scores of some items, or two saw the same number of tokens",
            where=str(path),
            remedy="Score the checkpoints again with `parallax lm score`",
        )
    if contrast.isna().any(axis=None):
        raise AnalysisError(
            "an item has one version alone, so a model has none to prefer",
            where=str(path),
            expected="items with a good version and another",
        )
    items = frame[is_good].drop_duplicates("item_id").set_index("item_id").loc[good.index]
    return History(
        path,
        read_history_facts(path),
        seen.astype(np.int64),
        items[["construction", "condition"]].astype(str).reset_index(),
        (good > contrast).to_numpy(),
    )
