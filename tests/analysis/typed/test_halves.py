"""The agreement of two halves of the people, worked out by hand."""

import numpy as np
import pandas as pd
import pytest

from analysis.typed.cloze import count_answers
from analysis.typed.halves import correlate_halves
from analysis.typed.same_answers import SameAnswers

# Of two people, the halves are one each. Of equally frequent answers the first in the alphabet is
# the most frequent: cat, ant, ant and elk.
ANSWERS = {"t1": ("cat", "Cat."), "t2": ("ant", "bee"), "t3": ("bee", "ant"), "t4": ("", "elk")}


def judgments(answers) -> pd.DataFrame:
    rows = [
        {"item_id": item, "version": "good", "participant": who, "list": 0, "typed": typed}
        for item, texts in answers.items()
        for who, typed in zip("ab", texts, strict=True)
    ]
    frame = pd.DataFrame(rows)
    return frame.assign(no_answer=frame["typed"] == "")


def correlate(frame: pd.DataFrame) -> dict[str, float]:
    same = SameAnswers()
    counts = count_answers(frame, same)
    return correlate_halves(frame, counts, same, np.random.default_rng(1), 20).iloc[0].to_dict()


def test_halves_correlate_as_their_shares_of_the_most_frequent_answers_do():
    # One gave it to the texts 1 1 0 0, the other 1 0 1 1: -.5 / sqrt(1 * .75).
    row = correlate(judgments(ANSWERS))
    assert row["halves"] == pytest.approx(-0.5 / np.sqrt(0.75))
    assert (row["n_texts"], row["n_splits"]) == (4, 20)


def test_a_person_with_several_answers_to_a_text_counts_once():
    frame = judgments(ANSWERS)
    further = frame[(frame["item_id"] == "t2") & (frame["participant"] == "a")].assign(
        typed="zebra"
    )
    assert correlate(pd.concat([frame, further], ignore_index=True))["halves"] == pytest.approx(
        -0.5 / np.sqrt(0.75)
    )


def test_texts_that_are_all_alike_have_no_correlation():
    row = correlate(judgments(dict.fromkeys(ANSWERS, ("cat", "cat"))))
    assert np.isnan(row["halves"]) and np.isnan(row["whole"])
