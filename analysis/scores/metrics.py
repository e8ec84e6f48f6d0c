"""Metrics: the tokens that count in a version's score, and the normalisation of their sum.

The score table holds the log-probability of every token. A metric turns the log-probabilities of
one version into one number; the model chooses the version with the higher number.

References:
    Pauls, A., & Klein, D. (2012). Large-scale syntactic language modeling with treelets. ACL 2012.
    Lau, J. H., Clark, A., & Lappin, S. (2017). Grammaticality, acceptability, and probability: a
    probabilistic view of linguistic knowledge. Cognitive Science, 41(5), 1202-1241.
    Lau, J. H., Armendariz, C., Lappin, S., Purver, M., & Shu, C. (2020). How furiously can
    colorless green ideas sleep? TACL, 8, 296-310 (PenLP).
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from analysis.data.categorical import have_equal_text
from analysis.data.load import Scores
from analysis.errors import AnalysisError
from experiment.plugins import unknown_name
from experiment.records import Variant

Floats = NDArray[np.float64]

SUM = "sum"
METRICS: Mapping[str, str] = MappingProxyType(
    {
        "sum": "log p of the whole sentence",
        "mean": "log p of the whole sentence / tokens",
        "unigram": "log p - log unigram p of the whole sentence",
        "slor": "(log p - log unigram p) / tokens",
        "penlp": "log p / ((5 + tokens) / 6)^0.8",
        "word": "log p of the first token that differs",
        "word_unigram": "log p - log unigram p of the first token that differs",
        "completion": "log p from the first token that differs to the end",
        "completion_mean": "log p from the first token that differs to the end / its tokens",
        "choice": "log p of the choice, given its context",
        "choice_mean": "log p of the choice, given its context / its tokens",
    }
)
# Without contexts these are the sum and the mean.
CHOICE_METRICS = ("choice", "choice_mean")
NEED_UNIGRAM = frozenset({"unigram", "slor", "word_unigram"})
# Metrics that need no second version also apply to single sentences.
SENTENCE_METRICS = ("sum", "mean", "unigram", "slor", "penlp")
_PENALTY_BASE, _PENALTY_POWER = 5, 0.8
# The last digits of the same words' scores differ between batches.
_EQUAL_NATS = 1e-4


def describe_metric(metric: str) -> str:
    """Return a metric's name and formula: "completion mean, log p from ..."."""
    return f"{metric.replace('_', ' ')}, {METRICS[metric]}"


@dataclass(frozen=True, slots=True)
class Tokens:
    """The compared versions, token by token; rows 2i and 2i + 1 are good and bad of one item.

    Attributes:
        rows: ``item_id`` and ``variant`` of each row.
        logprobs_nats: Shape ``(rows, longest)``: log-probabilities; 0 beyond a version's end.
        lengths: Shape ``(rows,)``: tokens of each version.
        start: Shape ``(rows,)``: the first token in which the item's two versions differ.
        choice: Shape ``(rows,)``: the first token after the item's context; -1 if unknown.
    """

    rows: pd.DataFrame
    logprobs_nats: Floats
    lengths: NDArray[np.int64]
    start: NDArray[np.int64]
    choice: NDArray[np.int64]

    @property
    def follow_contexts(self) -> bool:
        """Whether the choices are known, and some of them follow a context."""
        return bool((self.choice >= 0).all() and (self.choice > 0).any())


def check_metric(name: str) -> None:
    """Raise unless a metric of that name exists.

    Raises:
        UnknownNameError: The metric does not exist.
    """
    if name not in METRICS:
        raise unknown_name("metric", name, dict(METRICS))


def read_tokens(scores: Scores, items: Collection[str] | None = None) -> Tokens:
    """Read the tokens of the compared versions of the given items, or of all items.

    The point of difference is taken from the table. If the table lacks it, it is the first token
    with different log-probabilities, since a left-to-right model gives a shared beginning the same
    scores.

    Raises:
        AnalysisError: A version of an item was not scored.
    """
    table = pq.read_table(scores.path, columns=["token_logprobs_nats", "difference_at"])
    frame = scores.frame
    is_selected = frame["item_id"].isin(items) if items is not None else True
    good = np.flatnonzero((frame["variant"] == Variant.GOOD) & is_selected)
    alternatives = np.flatnonzero(have_equal_text(frame["variant"], frame["contrast"]))
    number, item_ids = pd.factorize(frame["item_id"])
    index = np.full(len(item_ids), -1)
    index[number[alternatives]] = alternatives
    partner = index[number[good]]
    if (partner < 0).any():
        raise AnalysisError(
            f"{int((partner < 0).sum())} item(s) lack the alternative to the good version; "
            f"the first: {frame['item_id'].iloc[good[partner < 0][0]]}",
            where=str(scores.path),
            remedy="Score the materials again with `parallax lm score`",
        )
    order = np.stack([good, partner], axis=1).ravel()
    lists = table["token_logprobs_nats"].combine_chunks()
    offsets = lists.offsets.to_numpy()
    starts, lengths = offsets[:-1][order], np.diff(offsets)[order]
    matrix = _pad_matrix(lists.values.to_numpy(zero_copy_only=False), starts, lengths)
    rows = frame.iloc[order][["item_id", "variant"]].reset_index(drop=True)
    recorded = table["difference_at"].take(pa.array(order[0::2]))
    start = _find_first_difference(matrix) if recorded.null_count else recorded.to_numpy()
    choice = _read_choices(scores)[order]
    return Tokens(rows, matrix, lengths.astype(np.int64), np.repeat(start, 2), choice)


def _read_choices(scores: Scores) -> NDArray[np.int64]:
    """Return the number of tokens before the choice of each row; -1 if unknown."""
    name = "choice_at"
    if name not in pq.read_schema(scores.path).names:
        return np.full(len(scores.frame), -1)
    column = pq.read_table(scores.path, columns=[name])[name]
    return np.asarray(column.fill_null(-1).to_numpy(), np.int64)


def _pad_matrix(values: Floats, starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> Floats:
    places = np.arange(max(1, int(lengths.max(initial=0))))
    within = places < lengths[:, None]
    matrix = np.zeros(within.shape)
    matrix[within] = values[(starts[:, None] + places)[within]]
    return matrix


def _find_first_difference(matrix: Floats) -> NDArray[np.int64]:
    good, alternative = matrix[0::2], matrix[1::2]
    # Two impossible tokens (-inf each) count as equal.
    difference = np.subtract(good, alternative, out=np.zeros(good.shape), where=good != alternative)
    differs = np.abs(difference) > _EQUAL_NATS
    return np.asarray(differs.argmax(axis=1), np.int64)


def compute_metric(tokens: Tokens, metric: str, unigram: Tokens | None = None) -> Floats:
    """Return a metric of each row of the tokens, shape ``(rows,)``; higher is more acceptable.

    Args:
        tokens: A model's log-probabilities.
        metric: One of ``METRICS``.
        unigram: A unigram model's log-probabilities of the same tokens.

    Raises:
        AnalysisError: The metric needs a unigram model, and there is none.
    """
    check_metric(metric)
    logprobs = tokens.logprobs_nats
    if metric in NEED_UNIGRAM:
        logprobs = logprobs - _match_unigram_tokens(tokens, unigram, metric).logprobs_nats
    if metric in ("sum", "unigram"):
        return np.asarray(logprobs.sum(axis=1))
    if metric in ("mean", "slor"):
        return np.asarray(logprobs.sum(axis=1) / tokens.lengths)
    if metric == "penlp":
        penalty = (_PENALTY_BASE + tokens.lengths) / (_PENALTY_BASE + 1)
        return np.asarray(logprobs.sum(axis=1) / penalty**_PENALTY_POWER)
    if metric in ("word", "word_unigram"):
        return np.asarray(logprobs[np.arange(len(logprobs)), tokens.start])
    if metric in CHOICE_METRICS and (tokens.choice < 0).any():
        raise AnalysisError(
            f'the metric "{metric}" needs the place of each choice after its context, which the '
            "scores do not name",
            expected="scores of `parallax lm score`",
            remedy="Score the items again, with the rendering as_written",
        )
    start = tokens.choice if metric in CHOICE_METRICS else tokens.start
    is_later = np.arange(logprobs.shape[1]) >= start[:, None]
    sums = np.asarray(np.where(is_later, logprobs, 0).sum(axis=1))
    return sums / (tokens.lengths - start) if metric.endswith("_mean") else sums


def _match_unigram_tokens(tokens: Tokens, unigram: Tokens | None, metric: str) -> Tokens:
    if unigram is None:
        raise _missing_unigram_error(metric)
    if not tokens.rows.equals(unigram.rows) or not np.array_equal(tokens.lengths, unigram.lengths):
        raise _mismatched_tokens_error()
    # Use the model's point of difference: equally frequent words have equal unigram scores.
    return replace(unigram, start=tokens.start)


def _missing_unigram_error(metric: str) -> AnalysisError:
    return AnalysisError(
        f'the metric "{metric}" needs the log-probabilities of a unigram model',
        expected="a unigram model's score file",
        remedy="Train it with `parallax lm train --type ngram --order 1`, score the same "
        "materials and name the file with --unigram",
    )


def _mismatched_tokens_error() -> AnalysisError:
    return AnalysisError(
        "the unigram model's scores are not of the same items, cut into the same tokens",
        expected="the same materials scored with the same rendering and tokens",
    )


def apply_metric(scores: Scores, metric: str, unigram: Scores | None = None) -> Scores:
    """Return the scores of the compared versions by a metric instead of the sum.

    Args:
        scores: A model's scores.
        metric: One of ``METRICS``; the file's own sums are kept for "sum".
        unigram: A unigram model's scores of the same items.

    Raises:
        AnalysisError: The required unigram model is missing, or has other items.
    """
    check_metric(metric)
    if metric == SUM:
        return scores
    if metric in SENTENCE_METRICS and _has_single_version(scores):
        return replace(
            scores,
            frame=scores.frame.assign(
                logprob_nats=compute_sentence_metric(scores, metric, unigram)
            ),
        )
    tokens = read_tokens(scores)
    values = compute_metric(tokens, metric, read_tokens(unigram) if unigram else None)
    valued = tokens.rows.assign(logprob_nats=values)
    frame = scores.frame.drop(columns="logprob_nats").merge(valued, on=["item_id", "variant"])
    return replace(scores, frame=frame[list(scores.frame.columns)])


def _has_single_version(scores: Scores) -> bool:
    """Return whether an item has only one version."""
    frame = scores.frame
    compared_ids = frame["item_id"][have_equal_text(frame["variant"], frame["contrast"])]
    return bool(set(frame["item_id"].astype(str)) - set(compared_ids.astype(str)))


def compute_sentence_metric(scores: Scores, metric: str, unigram: Scores | None = None) -> Floats:
    """Return a whole-sentence metric for each row of a score file, for any versions.

    Args:
        scores: A model's scores, as read.
        metric: One of ``SENTENCE_METRICS``.
        unigram: A unigram model's scores of the same rows.

    Raises:
        AnalysisError: The metric needs a unigram model, and there is none for these rows.
    """
    sums = scores.frame["logprob_nats"].to_numpy(dtype=float)
    lengths = _read_lengths(scores)
    if metric in NEED_UNIGRAM:
        sums = sums - _unigram_sums(scores, lengths, unigram, metric)
    if metric in ("mean", "slor"):
        return np.asarray(sums / lengths)
    if metric == "penlp":
        return np.asarray(
            sums / ((_PENALTY_BASE + lengths) / (_PENALTY_BASE + 1)) ** _PENALTY_POWER
        )
    return sums


def _read_lengths(scores: Scores) -> NDArray[np.int64]:
    return np.asarray(pq.read_table(scores.path, columns=["n_tokens"])["n_tokens"], np.int64)


def _unigram_sums(
    scores: Scores, lengths: NDArray[np.int64], unigram: Scores | None, metric: str
) -> Floats:
    if unigram is None:
        raise _missing_unigram_error(metric)
    rows = [
        score_file.frame[["item_id", "variant"]].astype(str) for score_file in (scores, unigram)
    ]
    if not rows[0].equals(rows[1]) or not np.array_equal(lengths, _read_lengths(unigram)):
        raise _mismatched_tokens_error()
    return unigram.frame["logprob_nats"].to_numpy(dtype=float)
