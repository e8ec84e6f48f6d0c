"""How often the first place is chosen, with an interval that a balanced design does not widen."""

import numpy as np
import pandas as pd
import pytest

from analysis.takers.by_reading import (
    estimate_first_place_shares,
    estimate_history_effects,
    measure_first_place_bias,
)
from benchmarks.takers import SETTINGS, answers, coverage

N_ITEMS, N_SESSIONS = 24, 10


def answered(choose, orders=("listed", "swapped")) -> pd.DataFrame:
    """Answers of whoever chooses by (whether the good option stands first, the item's number)."""
    rows = []
    for session in range(N_SESSIONS):
        for item in range(N_ITEMS):
            on_screen_first = (session + item) % 2 == 0
            for order in orders:
                good_first = on_screen_first != (order == "swapped")
                chose_first = choose(good_first, item)
                rows.append(
                    {
                        "model": "m",
                        "reading": "forced_choice",
                        "context": "zero_shot",
                        "labels": "letters",
                        "order": order,
                        "session": session,
                        "item_id": f"i{item}",
                        "construction": "all",
                        "good_side": "first" if on_screen_first else "second",
                        "chosen_side": "first" if chose_first != (order == "swapped") else "second",
                        "chose_good": float(chose_first == good_first),
                    }
                )
    return pd.DataFrame(rows)


NOBODY = pd.DataFrame(
    {"participant": [], "item_id": [], "good_side": [], "chosen_side": [], "chose_good": []}
)


def row_of(frame: pd.DataFrame) -> pd.Series:
    return measure_first_place_bias(frame, NOBODY).query("labels == 'all'").iloc[0]


def test_whoever_follows_the_texts_has_no_bias_and_an_interval_all_the_same():
    row = row_of(answered(lambda good_first, item: good_first))
    assert row["estimate"] == 0.5
    assert 0.3 < row["low"] < 0.5 < row["high"] < 0.7


def test_whoever_takes_the_first_has_an_interval_that_ends_at_one():
    row = row_of(answered(lambda good_first, item: True))
    assert row["estimate"] == row["high"] == 1.0 and row["low"] < 0.95


@pytest.mark.parametrize("orders", [("listed", "swapped"), ("listed",)])
def test_what_the_design_deals_out_evenly_does_not_widen_the_interval(orders):
    """A bias on one item in four: the rest follows the texts, which is no chance."""
    frame = answered(lambda good_first, item: good_first or item % 4 == 0, orders)
    row = row_of(frame)
    assert row["estimate"] == pytest.approx(0.625)
    one_side = frame[["chosen_side"]].eq("first").mean().item()
    as_if_chance = 2 * 1.96 * np.sqrt(one_side * (1 - one_side) / N_ITEMS)
    assert 0 < row["high"] - row["low"] < 0.75 * as_if_chance


def test_a_group_without_answers_gives_no_row():
    assert estimate_first_place_shares(NOBODY).empty


def test_a_context_is_paired_with_the_very_trial_without_it():
    plain = answered(lambda good_first, item: good_first or item % 3 == 0)
    better = answered(lambda good_first, item: good_first).assign(context="history")
    [row] = estimate_history_effects(pd.concat([plain, better])).to_dict("records")
    assert row["difference"] == pytest.approx(plain["chose_good"].rsub(1).mean())
    assert 0 < row["low"] < row["difference"] < row["high"] and row["p"] < 0.05
    [alike] = estimate_history_effects(pd.concat([plain, plain.assign(context="history")])).to_dict(
        "records"
    )
    assert alike["low"] < 0 == alike["difference"] < alike["high"]


def test_a_context_without_its_trials_is_left_out():
    only = answered(lambda good_first, item: good_first).assign(context="history")
    assert estimate_history_effects(only).empty


# Fewer of so many intervals that cover 95 % do so once in a thousand times.
@pytest.mark.parametrize(("n", "least"), [(8, 5), pytest.param(25, 20, marks=pytest.mark.campaign)])
def test_planted_biases_are_covered(n, least):
    """A few comparisons of one setting; benchmarks/takers.py makes 2,000 of five."""
    found = coverage(SETTINGS["order .8"], n, 3)
    assert min(found.values()) >= least / n
    people, taken = answers(SETTINGS["order .8"], np.random.default_rng(2))
    assert measure_first_place_bias(taken, people)["judge"].tolist()[-1] == "people"
