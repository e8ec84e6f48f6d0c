import numpy as np
import pytest

from analysis.statistics.resample import (
    count_cells,
    crossed_bootstrap,
    draw_counts,
    numpy_generator,
    percentile_interval,
    resample_batches,
    wilson_interval,
)

ONE_GROUP = np.zeros(6, dtype=np.intp)


def test_judgments_are_counted_by_participant_and_item():
    counted = count_cells(
        [1, 0, 1, 1], ["a", "a", "b", "b"], ["x", "y", "x", "x"], np.zeros(4, np.intp)
    )
    assert counted.judged.toarray().tolist() == [[1, 1], [2, 0]]
    assert counted.right.toarray().tolist() == [[1, 0], [2, 0]]


def test_an_item_in_two_groups_is_two_columns():
    counted = count_cells([1, 0], ["a", "a"], ["x", "x"], np.array([1, 0]))
    assert counted.judged.toarray().tolist() == [[1, 1]]
    assert counted.right.toarray().tolist() == [[0, 1]]
    assert counted.starts.tolist() == [0, 1]


def test_groups_begin_where_their_first_items_stand():
    counted = count_cells([1, 0, 1, 0], ["a"] * 4, ["x", "y", "y", "z"], np.array([0, 0, 1, 1]))
    assert counted.judged.toarray().tolist() == [[1, 1, 1, 1]]
    assert counted.starts.tolist() == [0, 2]


def test_a_resample_weighs_each_judgment_by_its_participant_and_its_item():
    rng = np.random.default_rng(3)
    correct = [1, 0, 1, 1, 0, 1]
    participant, item = [0, 0, 1, 1, 2, 2], [0, 1, 1, 2, 0, 2]
    found = crossed_bootstrap(count_cells(correct, participant, item, ONE_GROUP), rng, 50)[:, 0]
    again = np.random.default_rng(3)
    people, items = draw_counts(again, 3, 50), draw_counts(again, 3, 50)
    for draw in range(50):
        weights = [people[draw][p] * items[draw][i] for p, i in zip(participant, item, strict=True)]
        if sum(weights):
            assert found[draw] == pytest.approx(np.average(correct, weights=weights))
        else:
            assert np.isnan(found[draw])


def test_the_same_seed_gives_the_same_resamples():
    counted = count_cells([1, 0, 1, 1, 0, 1], [0, 0, 1, 1, 2, 2], [0, 1, 1, 2, 0, 2], ONE_GROUP)
    first, second = (
        crossed_bootstrap(counted, numpy_generator(1, "bootstrap"), 20) for _ in range(2)
    )
    assert np.array_equal(first, second, equal_nan=True)


def test_groups_share_the_drawn_participants():
    # Each participant judges one item of each group and is always right or always wrong.
    correct, people = [1, 1, 0, 0], [0, 0, 1, 1]
    counted = count_cells(correct, people, ["x", "y", "x", "y"], np.array([0, 1, 0, 1]))
    draws = crossed_bootstrap(counted, np.random.default_rng(1), 100)
    assert np.array_equal(draws[:, 0], draws[:, 1])
    assert len(np.unique(draws[:, 0])) > 1


def test_one_participant_still_varies_by_item_and_one_item_by_participant():
    judgments = [1, 1, 0, 1, 0, 1]
    one_person = count_cells(judgments, ["a"] * 6, range(6), ONE_GROUP)
    one_item = count_cells(judgments, range(6), ["x"] * 6, ONE_GROUP)
    for counted in (one_person, one_item):
        interval = percentile_interval(
            crossed_bootstrap(counted, np.random.default_rng(1), 2000)[:, 0]
        )
        assert interval.low < 4 / 6 < interval.high


def test_empty_resamples_do_not_count():
    assert percentile_interval(np.array([np.nan, 0.5, 0.5])).low == 0.5


def test_blocks_add_up_and_bound_the_weights():
    sizes = list(resample_batches(10_000, 1_000_000))
    assert sum(sizes) == 10_000
    assert max(sizes) == 2
    assert list(resample_batches(3, 3_000_000)) == [1, 1, 1]
    assert list(resample_batches(5, 1_000_000)) == [2, 2, 1]


def test_wilson_agrees_with_the_printed_example():
    # Newcombe (1998), Statistics in Medicine 17, Table I, method 3: 81 of 263.
    interval = wilson_interval(81, 263)
    assert (round(interval.low, 4), round(interval.high, 4)) == (0.2553, 0.3662)


def test_the_interval_covers_the_true_accuracy_about_as_often_as_it_says():
    rng = np.random.default_rng(2026)
    covered, simulations = 0, 200
    people, items = np.divmod(np.arange(40 * 20), 20)
    for _ in range(simulations):
        # Effects are symmetric around 0, so that the true accuracy is exactly .75.
        probability = (
            0.75 + rng.uniform(-0.12, 0.12, 40)[people] + rng.uniform(-0.12, 0.12, 20)[items]
        )
        correct = rng.random(800) < probability
        counted = count_cells(correct, people, items, np.zeros(800, np.intp))
        interval = percentile_interval(crossed_bootstrap(counted, rng, 300)[:, 0])
        covered += interval.low <= 0.75 <= interval.high
    assert 0.90 <= covered / simulations <= 1.0


def test_where_items_count_alike_each_drawn_items_own_accuracy_is_averaged():
    """An item nobody drawn has judged does not count."""
    correct = np.array([1.0, 0, 1, 1, 0, 1, 1])
    participant, item = np.array([0, 0, 1, 1, 2, 2, 2]), np.array([0, 1, 1, 2, 0, 2, 2])
    counted = count_cells(correct, participant, item, np.zeros(7, np.intp))
    found = crossed_bootstrap(counted, np.random.default_rng(3), 300, "items")[:, 0]
    again = np.random.default_rng(3)
    people, items = draw_counts(again, 3, 300), draw_counts(again, 3, 300)
    for draw in range(300):
        shares, weights = [], []
        for one in range(3):
            times = people[draw][participant[item == one]]
            if times.sum():
                shares.append(times @ correct[item == one] / times.sum())
                weights.append(items[draw][one])
        expected = np.average(shares, weights=weights) if sum(weights) else np.nan
        assert found[draw] == pytest.approx(expected, nan_ok=True)
