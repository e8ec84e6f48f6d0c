"""When a rule stops, by hand, and that the stop does not depend on who looks when."""

import math

import numpy as np
import pytest
from scipy import stats

from experiment.stopping.betting import Bounds
from experiment.stopping.rule import Question, Reason, estimate_mean, look_at, take_blocks
from experiment.studies.analysis_plan import Comparison
from experiment.studies.stopping import Stopping

WHOLE = Bounds(-1, 1)


def _question(**keys: object) -> Question:
    of_rule = {name: keys.pop(name) for name in list(keys) if name in Stopping.model_fields}
    rule = Stopping.model_validate({"rule": "any_time", "maximum": 80} | of_rule)
    declared = Comparison.model_validate({"name": "match", "compare": "match: a - b"} | keys)
    return Question(rule, declared, rule.alpha, WHOLE if rule.rule == "any_time" else None)


def _blocks(mean: float, n: int, sd: float = 0.1) -> list[list[float]]:
    rng = np.random.default_rng(3)
    return [[float(value) for value in rng.normal(mean, sd, 2).clip(-1, 1)] for _ in range(n)]


def test_values_count_in_the_order_of_arrival_up_to_whom_is_open():
    people = [
        ("a", 1.0, False), ("b", 2.0, False), ("a", None, False), ("a", 3.0, False),
        ("b", None, True), ("b", 4.0, False), ("a", 5.0, False),
    ]  # fmt: skip
    assert take_blocks(people, 2) == [[1.0, 2.0]]
    decided = [(group, value, False) for group, value, _ in people]
    assert take_blocks(decided, 2) == [[1.0, 2.0], [3.0, 4.0]]
    assert take_blocks(people, 3) == []


def test_the_mean_is_that_of_the_groups_and_its_error_leaves_out_their_differences():
    estimate, error, freedom = estimate_mean([[1.0, 5.0], [3.0, 7.0]])
    # Each group has the variance 2; of the mean of two means of two values it is 2 / 2 / 2.
    assert (estimate, error, freedom) == (4.0, pytest.approx(math.sqrt(0.5)), 2)


def test_a_clear_difference_stops_and_the_interval_excludes_0():
    look = look_at(_question(smallest_effect=0.1), _blocks(0.3, 40))
    assert look.reason is Reason.DIFFERENCE
    assert look.n_at_stop < look.n_participants == 80
    assert 0 < look.low < 0.3 < look.high


def test_the_stop_is_the_same_whenever_somebody_looks():
    blocks, question = _blocks(0.3, 40), _question(smallest_effect=0.1)
    stop = look_at(question, blocks).n_at_stop
    looks = [look_at(question, blocks[:n]) for n in range(41)]
    assert [look.reason is not None for look in looks] == [2 * n >= stop for n in range(41)]
    assert {look.n_at_stop for look in looks if look.reason} == {stop}


def test_nothing_stops_before_the_minimum_and_everything_at_the_maximum():
    assert look_at(_question(smallest_effect=0.1, minimum=70), _blocks(0.3, 34)).reason is None
    assert look_at(_question(smallest_effect=0.1, minimum=70), _blocks(0.3, 35)).n_at_stop == 70
    at_most = look_at(_question(maximum=20), _blocks(0.0, 12))
    assert (at_most.reason, at_most.n_at_stop) == (Reason.MAXIMUM, 20)


def test_no_difference_of_interest_stops():
    blocks = _blocks(0.0, 200)
    two_sided = look_at(_question(smallest_effect=0.15, maximum=400), blocks)
    assert two_sided.reason is Reason.EQUIVALENT
    expected = {"predicted": "positive", "one_sided": True}
    one_sided = look_at(_question(smallest_effect=0.15, maximum=400, **expected), blocks)
    assert one_sided.reason is Reason.SMALLER
    assert one_sided.n_at_stop < two_sided.n_at_stop
    assert look_at(_question(maximum=402), blocks).reason is None


def test_a_narrow_interval_stops():
    look = look_at(_question(half_width=0.2, maximum=400), _blocks(0.0, 200))
    assert look.reason is Reason.PRECISE
    assert look.high - look.low <= 0.4


def test_a_difference_against_the_prediction_stops_no_one_sided_test():
    keys = {"smallest_effect": 0.1, "one_sided": True}
    blocks = _blocks(-0.3, 40)
    assert look_at(_question(predicted="negative", **keys), blocks).reason is Reason.DIFFERENCE
    assert look_at(_question(predicted="positive", **keys), blocks).reason is Reason.SMALLER


def test_planned_looks_are_at_their_numbers_alone():
    question = _question(rule="planned_looks", looks=[20, 40])
    early = look_at(question, _blocks(0.3, 9))
    assert early.reason is None
    assert early.low == -math.inf
    look = look_at(question, _blocks(0.3, 14))
    assert (look.reason, look.n_at_stop, look.n_participants) == (Reason.DIFFERENCE, 20, 20)
    estimate, error, freedom = estimate_mean(_blocks(0.3, 14)[:10])
    # The first look, at a quarter of the participants, spends 2 * (1 - Phi(z(.0125) / sqrt(.25)))
    # on each side, with 18 degrees of freedom; of alpha, 95% are spent.
    spent = 2 * stats.norm.sf(stats.norm.isf(0.95 * 0.0125) / 0.5)
    assert freedom == 18
    assert (estimate - look.low) / error == pytest.approx(stats.t.isf(spent, 18), rel=0.02)


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ({"rule": "any_time", "looks": [8]}, "no looks with the rule any_time"),
        ({"rule": "planned_looks"}, "looks with the rule planned_looks, such as"),
        (
            {"rule": "planned_looks", "looks": [8], "bounds": [-1, 1]},
            "no bounds with the rule planned_looks",
        ),
        (
            {"rule": "planned_looks", "looks": [16, 8]},
            "looks that rise, the last one below maximum",
        ),
        (
            {"rule": "planned_looks", "looks": [8, 80]},
            "looks that rise, the last one below maximum",
        ),
        ({"rule": "any_time", "minimum": 90}, "a minimum that is not above maximum"),
        ({"rule": "any_time", "bounds": [0, 1]}, "two numbers as bounds, one below 0"),
    ],
)
def test_keys_that_do_not_fit_the_rule_are_refused(keys: dict[str, object], problem: str):
    with pytest.raises(ValueError, match=problem):
        Stopping.model_validate({"maximum": 80} | keys)
