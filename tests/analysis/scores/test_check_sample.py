"""Which rows are computed again, and what is checked of all sentences."""

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from analysis.errors import AnalysisError
from analysis.scores.check_sample import (
    choose_rows,
    find_close_pairs,
    refuse_other_tokens,
    sample_size,
)

N = 1_000
TEXTS = [f"{n:04}" for n in range(N)]


@pytest.mark.parametrize(
    ("n_rows", "size"),
    [(100, 20), (400, 20), (1_000, 50), (8_000, 400), (40_000, 400), (100_000, 1_000)],
)
def test_a_twentieth_is_computed_again_within_bounds(n_rows: int, size: int):
    assert sample_size(n_rows) == size


def chosen(texts: list[str] = TEXTS, seed: int = 1, **special: dict[int, float]) -> list[int]:
    """Return the rows chosen from a table whose columns have these special values."""
    n = len(texts)
    columns = {
        "variant": ["good", "bad"] * (n // 2),
        "logprob_nats": [-10.0, -20.0] * (n // 2),
        "n_tokens": [5] * n,
        "n_unknown": [0] * n,
        "difference_at": [1] * n,
    }
    for name, values in special.items():
        for row, value in values.items():
            columns[name][row] = value
    table = pa.table(columns)
    return choose_rows(table, texts, find_close_pairs(table), np.random.default_rng(seed))


@pytest.mark.parametrize("seed", range(3))
def test_the_extremes_are_always_computed_again(seed: int):
    rows = chosen(
        seed=seed,
        n_tokens={310: 12, 311: 12, 420: 2},
        n_unknown={77: 3},
        difference_at={640: 4},
        logprob_nats={501: -90.0},
    )
    assert {310, 311, 420, 77, 640, 501} <= set(rows)
    assert len(rows) == 50


def test_every_part_of_the_texts_and_of_the_lengths_is_computed_again():
    # The rows from 900 on have six tokens. At least 42 rows are in equal parts of the texts or of
    # the lengths: 21 parts of 47 or 48 sorted texts, and 21 of which two are in the last tenth.
    rows = np.array(chosen(n_tokens=dict.fromkeys(range(900, N), 6)))
    assert len(rows) == 50
    assert np.diff(rows).max() < 2 * 48
    assert (rows >= 900).sum() >= 2


def test_both_sides_of_a_close_decision_are_computed_again():
    assert {600, 601} <= set(chosen(logprob_nats={601: -10.0 + 5e-5}))


def test_a_small_set_is_computed_again_whole():
    assert chosen(["a", "b", "c", "d"]) == [0, 1, 2, 3]


def split(texts):
    return [tuple(text.split()) for text in texts]


def test_a_single_sentence_with_the_scores_of_another_is_refused():
    texts = [f"the dog{n} barks" for n in range(500)]
    sentences = SimpleNamespace(distinct=texts)
    answers = pa.table({"tokens": [text.split() for text in texts]})
    assert refuse_other_tokens(sentences, [(range(500), answers)], split) == 500
    assert refuse_other_tokens(sentences, [(range(500), answers)], None) == 0
    places = [*range(498), 499, 498]
    with pytest.raises(AnalysisError, match='"the dog499 barks" has the scores of the tokens the'):
        refuse_other_tokens(sentences, [(places, answers)], split)
