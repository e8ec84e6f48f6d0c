import numpy as np
import pytest

from analysis.errors import AnalysisError
from analysis.scores.certify import (
    Certificate,
    choose_sample,
    find_close_calls,
    find_largest_error,
    find_worst_difference,
)
from analysis.scores.materials import collect_sentences, make_score_table, make_token_table
from experiment.records import Item, Kind, Variant
from lm.scorer import TokenScores


def item(item_id: str, good: str, bad: str, distractor: str = "") -> Item:
    return Item(
        item_id, Kind.TARGET, "c", "d", "t", "", "", "", good, bad, distractor, Variant.BAD
    )  # fmt: skip


# The digits of a word are its log-probability, in tenths of a nat.
ITEMS = [item("far", "a1 b10", "a1 b90"), item("close", "a5 b10 c3", "a5 b12 c3", "a5 b10 c9")]


def table(wanted, indices, error=0.0, bound=None):
    answers = []
    for place in indices:
        tokens = tuple(wanted.distinct[place].split())
        exact = np.array([-float(token[1:]) / 10 for token in tokens])
        unknown = np.zeros(len(tokens), bool)
        bounds = None if bound is None else np.full(len(tokens), bound)
        answers.append(TokenScores(tokens, exact - error, unknown, bounds))
    return make_token_table([wanted.distinct[place] for place in indices], answers)


def test_only_sentences_of_close_comparisons_are_scored_again():
    wanted = collect_sentences(ITEMS, str)
    every = list(range(len(wanted.distinct)))
    # Between good and bad stand 0.2 nats and four tokens; good and distractor differ by 0.6 in two.
    for bound, expected in ((0.04, []), (0.06, ["a5 b10 c3", "a5 b12 c3"])):
        fast = [
            (every[2:], table(wanted, every[2:], 0.0, bound)),
            (every[:2], table(wanted, [0, 1])),
        ]
        again, n_close, n_compared = find_close_calls(wanted, make_score_table(wanted, fast), fast)
        assert [wanted.distinct[place] for place in again] == expected
        assert (n_close, n_compared) == (len(expected) // 2, 3)
        assert find_largest_error(fast) == bound


def test_scores_made_again_replace_the_first_ones():
    wanted = collect_sentences(ITEMS, str)
    every = list(range(len(wanted.distinct)))
    fast, again = table(wanted, every, error=0.5, bound=1.0), [2, 3]
    scores = make_score_table(wanted, [(every, fast), (again, table(wanted, again))])
    found = scores["logprob_nats"].to_pylist()
    assert found == pytest.approx([-2.1, -10.1, -1.8, -2.0, -3.9])


def test_the_worst_difference_is_that_of_one_token():
    wanted = collect_sentences(ITEMS, str)
    fast = table(wanted, [0, 1], error=0.25, bound=0.3)
    assert find_worst_difference(table(wanted, [0, 1]), fast) == 0.25


def test_a_score_further_off_than_its_bound_stops_everything():
    wanted = collect_sentences(ITEMS, str)
    fast = table(wanted, [0, 1], error=0.25, bound=0.2)
    with pytest.raises(AnalysisError, match=r"0\.25 nats off, more than rounding"):
        find_worst_difference(table(wanted, [0, 1]), fast)


def test_a_sample_is_spread_over_all_sentences():
    assert choose_sample(3).tolist() == [0, 1, 2]
    spread = choose_sample(1_000_000)
    assert (spread[0], spread[-1], len(spread)) == (0, 999_999, 1024)


def test_a_certificate_says_how_many_comparisons_were_close():
    said = str(Certificate(0.4, 0.211, 1024, 149, 184_772, "kernel k"))
    assert "provably at most 0.4 nats off (at most 0.21 on 1,024 sampled sentences)" in said
    assert "149 of 184,772 comparisons" in said
