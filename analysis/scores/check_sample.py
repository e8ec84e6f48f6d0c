"""The rows whose scores the check computes again, and the check of all sentences' tokens.

A fault hits a kind of sentence, a batch, or sentences at random. So the sample has the extremes of
every kind, and the rest spread evenly over the sentences in the two orders in which scorers divide
them into batches: by text, and by length.
"""

import math
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from analysis.errors import AnalysisError
from analysis.scores.certify import EXACT_NATS
from analysis.scores.materials import Chunk, Floats, Ints, Sentences
from experiment.records import Variant
from lm.independent import SplitFunction

# A twentieth of the rows, but at least so many; of large tables so many, or a hundredth.
SHARE, AT_LEAST, MANY, SHARE_OF_LARGE = 0.05, 20, 400, 0.01
_N_LONGEST, _N_UNKNOWN, _N_IMPROBABLE = 2, 2, 2


def sample_size(n: int) -> int:
    """Return how many of ``n`` rows are computed again, decisions that are close apart."""
    return max(AT_LEAST, min(math.ceil(SHARE * n), max(MANY, math.ceil(SHARE_OF_LARGE * n))))


def choose_rows(
    table: pa.Table, texts: Sequence[str], pairs: Ints, rng: np.random.Generator
) -> list[int]:
    """Return the rows to compute again: extreme ones, an even sample, and close decisions.

    Args:
        table: The score table.
        texts: Each row's text.
        pairs: The rows of close decisions, see ``find_close_pairs``.
        rng: The source of randomness of the even sample.
    """
    extremes = _find_extremes(table)
    chosen, n_spread = np.union1d(extremes, pairs.ravel()), sample_size(len(texts)) - len(extremes)
    n_tokens = _numbers(table, "n_tokens")
    by_text = np.array(sorted(range(len(texts)), key=texts.__getitem__), np.int64)
    by_length = by_text[np.argsort(n_tokens[by_text], kind="stable")]
    for order, size in ((by_text, n_spread - n_spread // 2), (by_length, n_spread // 2)):
        others = order[~np.isin(order, chosen)]
        chosen = np.union1d(chosen, others[_spread(len(others), size, rng)])
    rows: list[int] = chosen.tolist()
    return rows


def _find_extremes(table: pa.Table) -> Ints:
    """Return the rows in which faults of a kind of sentence are seen first.

    They are the longest and the shortest, those with the most unknown tokens, those with the least
    probable tokens, and the one that shares the longest beginning with the row it is compared with.
    """
    n_tokens, n_unknown = _numbers(table, "n_tokens"), _numbers(table, "n_unknown")
    per_token = _numbers(table, "logprob_nats") / np.maximum(1, n_tokens)
    most_unknown = np.argsort(-n_unknown, kind="stable")[:_N_UNKNOWN]
    return np.unique(
        np.concatenate(
            [
                np.argsort(-n_tokens, kind="stable")[:_N_LONGEST],
                [np.argmin(n_tokens), np.argmax(_numbers(table, "difference_at"))],
                most_unknown[n_unknown[most_unknown] > 0],
                np.argsort(per_token, kind="stable")[:_N_IMPROBABLE],
            ]
        )
    )


def _spread(n: int, size: int, rng: np.random.Generator) -> Ints:
    """Return ``size`` of ``n`` places, or all, one in each of as many equal parts."""
    size = max(0, min(n, size))
    return np.floor((np.arange(size) + rng.random(size)) * n / max(1, size)).astype(np.int64)


def _numbers(table: pa.Table, column: str) -> Floats:
    return np.asarray(table[column].to_numpy(), np.float64)


def find_close_pairs(table: pa.Table) -> Ints:
    """Return the rows of each decision within the claimed error, shape ``(decisions, 2)``."""
    variants = np.asarray(table["variant"].to_numpy(zero_copy_only=False))
    good = variants == Variant.GOOD
    of_item = np.maximum.accumulate(np.where(good, np.arange(len(good)), 0))
    alternatives = np.flatnonzero(~good)
    sums = np.asarray(table["logprob_nats"].to_numpy())
    close = alternatives[np.abs(sums[alternatives] - sums[of_item[alternatives]]) <= EXACT_NATS]
    return np.stack([of_item[close], close], axis=1)


def refuse_other_tokens(
    sentences_: Sentences, scored: Sequence[Chunk], split: SplitFunction | None
) -> int:
    """Raise unless the scores of every sentence are those of its own tokens.

    Scores that belong to another sentence, lack a token or split the text in another way are seen
    in every sentence, without computing a score.

    Args:
        sentences_: The sentences.
        scored: Their scores.
        split: Divides texts into tokens by code of its own; None if there is none.

    Returns:
        The number of sentences whose tokens were compared.

    Raises:
        AnalysisError: A sentence has the scores of other tokens.
    """
    if split is None:
        return 0
    for places, answers in scored:
        texts = [sentences_.distinct[place] for place in places]
        for text, expected, tokens in zip(
            texts, split(texts), answers["tokens"].to_pylist(), strict=True
        ):
            if tuple(tokens) != expected:
                raise AnalysisError(
                    f'the sentence "{text[:80]}" has the scores of the tokens '
                    f"{' '.join(tokens)[:80]}",
                    expected=f"those of {' '.join(expected)[:80]}",
                    remedy="Score with `--plain`, text by text, and report the model's type",
                )
    return len(sentences_.distinct)
