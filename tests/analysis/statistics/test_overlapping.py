"""Groups of items that share items have what each of them would have alone."""

import numpy as np
import pandas as pd
import pytest

from analysis.statistics.accuracy import overlapping_accuracy, people_accuracy

SAME = ["accuracy", "low", "high", "n_judgments", "n_items"]


@pytest.mark.parametrize("people", [11, 24])
@pytest.mark.parametrize("paired", [False, True])
def test_each_group_is_as_it_would_be_alone(people: int, paired: bool):
    """Also where two items share a frame, of which each participant sees one."""
    rng = np.random.default_rng(4)
    person, number = np.divmod(np.arange(people * 30), 30)
    seen = rng.random(len(person)) < 0.7
    if paired:
        seen &= (number + number // 2 + person) % 2 == 0
    easy = rng.normal(1, 1, 30)
    judgments = pd.DataFrame(
        {
            "participant": person[seen].astype(str),
            "item_id": number[seen].astype(str),
            "frame": (number // 2 if paired else number)[seen].astype(str),
            "chose_good": (rng.random(len(person)) < 1 / (1 + np.exp(-easy[number])))[seen],
        }
    )
    members = {0: range(30), 3: range(0, 30, 2), 4: range(5, 15), 9: [7]}
    of_item = pd.factorize(judgments["item_id"])[1]
    pairs = [(of_item.get_loc(str(n)), g) for g, own in members.items() for n in own]
    item, group = (np.array(column) for column in zip(*pairs, strict=True))
    found = overlapping_accuracy(judgments, item, group)
    assert list(found["group"]) == list(members)
    for place, own in enumerate(members.values()):
        alone = judgments[judgments["item_id"].isin([str(n) for n in own])].assign(all=1)
        [expected] = people_accuracy(alone, ["all"])[SAME].to_numpy()
        assert found[SAME].iloc[place].to_numpy(dtype=float) == pytest.approx(
            expected.astype(float), nan_ok=True
        )


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(("people", "items"), [(70, 1), (70, 2), (1, 70), (2, 70), (30, 7)])
def test_where_all_are_right_as_many_clusters_count_as_alone(people, items, known):
    person, item = (each.ravel() for each in np.indices((people, items)))
    judgments = pd.DataFrame(
        {"participant": person if known else np.nan, "item_id": item, "all": 1, "chose_good": True}
    )
    found = overlapping_accuracy(judgments, np.arange(items), np.zeros(items, int))
    [expected] = people_accuracy(judgments, ["all"])[SAME].to_numpy()
    assert found[SAME].iloc[0].to_numpy(dtype=float) == pytest.approx(expected.astype(float))
    assert np.isfinite(found["low"].item())
