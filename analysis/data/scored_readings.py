"""Reading times with the surprisals of the words that were read."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.data.load import ExportedRun
from analysis.data.readings import keep_right_words, select_readings
from analysis.data.word_predictors import KEYS, add_predictors, normalise_word
from analysis.errors import AnalysisError

BITS = "surprisal_bits"
BITS_BEFORE = f"prev1_{BITS}"


@dataclass(frozen=True, slots=True)
class ScoredReadings:
    """Reading times with the surprisals of several models, all of the same words.

    Attributes:
        by_model: The readings with each model's surprisals and the other predictors. The surprisal
            of the word before is missing if not every table has it for all of these words.
        note: On how many words the models are compared, if a table lacks some; else empty.
    """

    by_model: Mapping[str, pd.DataFrame]
    note: str = ""

    @property
    def with_word_before(self) -> bool:
        """Whether the surprisal of the word before is a predictor."""
        return all(BITS_BEFORE in frame for frame in self.by_model.values())


def text_ids(frame: pd.DataFrame) -> "pd.Series[str]":
    """Return the text ids of the surprisal tables: item and version."""
    return frame["item_id"].astype(str) + ":" + frame["version"].astype(str)


def times_with_surprisal(
    run: ExportedRun, judgments: pd.DataFrame, surprisal: Mapping[str, pd.DataFrame]
) -> ScoredReadings:
    """Return the readings of the words of which every table has a surprisal.

    ``position`` is the word's, and ``trial`` the trial's place in the session.

    Args:
        run: The run.
        judgments: The analysed trials.
        surprisal: By model: text_id, position, text, surprisal_bits.

    Raises:
        AnalysisError: A table lacks a word that was read, or has another word in its place.
    """
    times = select_readings(run, judgments)
    frame = keep_right_words(times.frame)
    frame = frame.assign(
        text_id=text_ids(frame), read=frame["text"].astype(str), trial=frame["position"]
    )
    frame = frame.drop(columns=["position", "text"]).rename(columns={"step": "position"})
    return _keep_same_words(
        {model: _join_surprisals(frame, of_model, model) for model, of_model in surprisal.items()}
    )


def _keep_same_words(joined: Mapping[str, pd.DataFrame]) -> ScoredReadings:
    """Keep the readings of words that every table scores, without sentences' first words."""
    if not joined:
        return ScoredReadings({})
    is_later = ~np.logical_or.reduce([frame["is_first"].astype(bool) for frame in joined.values()])
    has_bits = {model: is_later & frame[BITS].notna() for model, frame in joined.items()}
    is_kept = np.logical_and.reduce([*has_bits.values()])
    kept = {model: frame[is_kept].reset_index(drop=True) for model, frame in joined.items()}
    lacks_before = any(frame[BITS_BEFORE].isna().any() for frame in kept.values())
    if is_kept.sum() == is_later.sum() and not lacks_before:
        return ScoredReadings(kept)
    words = next(iter(joined.values()))[KEYS]
    n_words = {model: count_words(words[has]) for model, has in has_bits.items()}
    note = (
        f"All rows are about the same {count_words(words[is_kept]):,} of "
        f"{count_words(words[is_later]):,} words, those of which every table has a surprisal ("
        + ", ".join(f"{model}: {n:,}" for model, n in n_words.items())
        + ")."
    )
    if lacks_before:
        kept = {model: frame.drop(columns=BITS_BEFORE) for model, frame in kept.items()}
        note += (
            " The surprisal of the word before is no predictor, because not every table has it for "
            "all of these words."
        )
    return ScoredReadings(kept, note)


def count_words(words: pd.DataFrame) -> int:
    """Return the number of different words of texts."""
    return len(words.drop_duplicates())


def _join_surprisals(frame: pd.DataFrame, surprisal: pd.DataFrame, model: str) -> pd.DataFrame:
    """Join readings with predictors, checking that each word is the scored word.

    Raises:
        AnalysisError: A word has no row in the table, or differs from the word there.
    """
    predictors = add_predictors(surprisal, [BITS], 1).rename(columns={"text": "scored"})
    joined = frame.merge(predictors, "left", on=KEYS, validate="m:1")
    location = joined["text_id"].astype(str) + ", step " + joined["position"].astype(str)
    if (unscored := joined["scored"].isna()).any():
        raise _make_mismatch_error(
            f"{int(unscored.sum()):,} reading times have no surprisal; the first: "
            f"{location[unscored].iloc[0]}",
            model,
            "the items of the run, divided into the same steps",
        )
    differs = joined["read"].map(normalise_word) != joined["scored"].map(normalise_word)
    if differs.any():
        read, scored = joined.loc[differs, ["read", "scored"]].iloc[0]
        raise _make_mismatch_error(
            f'"{read}" was read and "{scored}" was scored: {location[differs].iloc[0]}',
            model,
            "the words that were read",
        )
    return joined


def _make_mismatch_error(problem: str, model: str, expected: str) -> AnalysisError:
    return AnalysisError(
        problem,
        where=f"the surprisals of {model}",
        expected=expected,
        remedy="Score them with `parallax reading surprisal MODEL EXPORT`",
    )
