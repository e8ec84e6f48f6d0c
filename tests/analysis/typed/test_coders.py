"""Agreement of two coders: values worked out by hand, and the width of the interval."""

import numpy as np
import pandas as pd
import pytest

from analysis.statistics.agreement import cohen_kappa
from analysis.typed import coders
from analysis.typed.coders import (
    alpha_of_table,
    describe_agreement,
    estimate_with_interval,
)
from tests.analysis.findings.hand_made_runs import given_of

# Of 50 answers 35 have equal codes (.7). The first coder chose each category 25 times, the second
# one of them 30 times, so that .5 * .6 + .5 * .4 = .5 are equal by chance.
TABLE = np.array([[20.0, 5.0], [10.0, 15.0]])


def test_kappa_and_alpha_are_those_worked_out_by_hand():
    assert cohen_kappa(TABLE) == pytest.approx((0.7 - 0.5) / (1 - 0.5))
    # 30 unlike ordered pairs of 100 codes, of which 55 and 45 are of one category.
    assert alpha_of_table(TABLE) == pytest.approx(1 - 99 * 30 / (2 * 55 * 45))
    three = np.array([[2.0, 1.0, 0.0], [0.0, 3.0, 0.0], [1.0, 0.0, 3.0]])
    # Equal .8; by chance (3 * 3 + 3 * 4 + 4 * 3) / 100 = .33.
    assert cohen_kappa(three) == pytest.approx((0.8 - 0.33) / 0.67)


def test_the_interval_is_as_wide_as_the_textbook_error_says():
    value, low, high = estimate_with_interval(TABLE, cohen_kappa)
    half = 1.96 * np.sqrt(0.7 * 0.3 / (50 * (1 - 0.5) ** 2))
    assert low < value < high
    assert high - low == pytest.approx(2 * half, rel=0.1)


@pytest.mark.parametrize("table", [np.diag([9.0, 9.0]), np.array([[3.0, 1.0], [1.0, 3.0]])])
def test_perfect_agreement_and_few_answers_have_no_interval(table):
    for compute in (cohen_kappa, alpha_of_table):
        assert np.isnan(estimate_with_interval(table, compute)[1:]).all()


def test_an_answer_that_many_people_gave_counts_once():
    names = ("coder_1", "coder_2", "coder_1_again", "coder_2_again")
    codes = [("a", "a", "a", ""), ("a", "a", "a", ""), ("b", "a", "b", ""), ("", "a", "", "")]
    table = pd.DataFrame(codes, columns=list(names)).assign(answer=[1, 1, 2, 3])
    agreed = describe_agreement(table).set_index("pair")
    assert list(agreed["n_answers"]) == [2, 2] and list(agreed["n_equal"]) == [1, 2]
    assert list(agreed.index) == ["the two coders", "the first coder, twice"]


def test_answers_without_a_code_are_counted_and_no_answer_is_none(monkeypatch):
    names = ["code", "coder_1", "coder_2", "coder_1_again", "coder_2_again"]
    codes = pd.DataFrame({"participant": ["p0", "p1"], "position": 1, "answer": [1, 2]})
    codes = codes.assign(**dict.fromkeys(names, "a"), proposed="", proposed_by="")
    monkeypatch.setattr(coders, "read_codes", lambda run: codes)
    rows = pd.DataFrame(
        {
            "participant": ["p0", "p1", "p2", "p3"], "position": 1, "item_id": "x",
            "construction": "c", "condition": "a", "frame": "x",
            # Texts of many answers are categories, and who passes has none.
            "typed": pd.Categorical(["owl", "cat", "dog", None]),
        }
    )  # fmt: skip
    findings = coders.CODER_AGREEMENT.run(given_of(rows))
    assert findings.left_out == ("1 of 3 answers have no code in the frozen version.",)
