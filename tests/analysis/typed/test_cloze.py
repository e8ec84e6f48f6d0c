"""Cloze probabilities, entropy and the counts of rules, by hand."""

import pandas as pd
import pytest
from scipy.stats import binom

from analysis.statistics.resample import wilson_interval
from analysis.typed.cloze import (
    count_answers,
    count_normalisations,
    describe_texts,
    estimate_unseen,
)

# Of eight people two say tree, one bush, four house; one can think of nothing.
TYPED = ["Tree.", "tree", "bush", "house", "House", "house", "house ", None]
ROWS = pd.DataFrame(
    {
        "item_id": "a-1",
        "version": "good",
        "construction": "a",
        "condition": "strong",
        "typed": TYPED,
        "no_answer": [text is None for text in TYPED],
    }
)


def test_a_cloze_probability_is_the_share_of_all_who_saw_the_text():
    counts = count_answers(ROWS).set_index("answer")
    assert counts["n"].to_dict() == {"house": 4, "tree": 2, "bush": 1}
    assert (counts["n_people"] == 8).all()
    assert counts.loc["house", "cloze"] == 0.5
    # Wilson's interval of 4 of 8 by hand: .5 -+ 1.95996 / (1 + 3.84146/8) sqrt(.25/8 + 3.84146/256)
    assert counts.loc["house", "cloze_low"] == pytest.approx(0.21521, abs=1e-5)
    assert counts.loc["house", "cloze_high"] == pytest.approx(0.78479, abs=1e-5)
    # (2 + .1) / (8 + 10) = .116667, 3.0995 bits
    assert counts.loc["tree", "smoothed"] == pytest.approx(0.1166667)
    assert counts.loc["tree", "surprisal_bits"] == pytest.approx(3.09954, abs=1e-5)


@pytest.mark.parametrize(
    ("counts", "unseen"),
    [
        # One of 7 gave a single answer, and two the same: 1/7 * 6 / (6 + 2).
        ([4, 2, 1], 6 / 56),
        # Four answers by four people, none twice: 4/4 * 3 * 3 / (3 * 3 + 2).
        ([1, 1, 1, 1], 9 / 11),
        ([5, 3], 0),
        ([4, 1], 0),
        ([1], 1),
    ],
)
def test_answers_that_nobody_has_given_yet_have_a_share(counts, unseen):
    assert estimate_unseen(pd.Series(counts)) == pytest.approx(unseen)


def test_good_and_turings_estimate_leaves_them_their_share():
    counts = count_answers(ROWS).set_index("answer")
    assert counts.loc["house", "good_turing"] == pytest.approx(0.5 * 50 / 56)
    [text] = describe_texts(ROWS, count_answers(ROWS)).to_dict("records")
    assert text["unseen"] == pytest.approx(6 / 56)


def test_a_text_has_its_most_frequent_answer_and_the_entropy_of_all():
    [text] = describe_texts(ROWS, count_answers(ROWS)).to_dict("records")
    assert (text["answer"], text["cloze"], text["n_different"]) == ("house", 0.5, 3)
    assert (text["n_people"], text["n_no_answer"]) == (8, 1)
    # 4/7, 2/7, 1/7: .8074 * 4/7 + 1.8074 * 2/7 + 2.8074 / 7 = 1.37878 bits
    assert text["entropy_bits"] == pytest.approx(1.37878, abs=1e-5)


def test_a_text_to_which_nobody_thought_of_an_answer_has_none():
    silent = ROWS[ROWS["no_answer"]]
    [text] = describe_texts(silent, count_answers(silent)).to_dict("records")
    assert text["n_different"] == 0 and pd.isna(text["cloze"]) and pd.isna(text["entropy_bits"])


def test_a_text_that_an_archive_withholds_is_an_answer_but_no_word():
    rows = ROWS.assign(typed=ROWS["typed"].where(ROWS["typed"] != "bush"))
    counts = count_answers(rows)
    assert counts["answer"].tolist() == ["house", "tree"] and (counts["n_people"] == 8).all()
    [text] = describe_texts(rows, counts).to_dict("records")
    assert (text["n_withheld"], text["n_no_answer"], text["n_different"]) == (1, 1, 2)


def test_each_rule_counts_the_answers_that_it_changed():
    rules = count_normalisations(ROWS).set_index("rule")
    assert rules.loc["punctuation"].to_dict() == {"n": 1, "example": "'Tree.'"}
    assert rules["n"].to_dict() == {
        "Unicode": 0, "invisible characters": 0, "spaces": 1, "apostrophes": 0,
        "punctuation": 1, "case": 2,
    }  # fmt: skip


@pytest.mark.parametrize(("n", "mean", "least"), [(20, 0.953, 0.925), (40, 0.950, 0.928)])
def test_the_intervals_cover_as_often_as_the_decision_says(n, mean, least):
    intervals = [wilson_interval(k, n) for k in range(n + 1)]
    coverage = [
        sum(
            binom.pmf(k, n, p / 100)
            for k, interval in enumerate(intervals)
            if interval.low <= p / 100 <= interval.high
        )
        for p in range(5, 96, 5)
    ]
    assert sum(coverage) / len(coverage) == pytest.approx(mean, abs=0.005)
    assert min(coverage) >= least - 0.001
