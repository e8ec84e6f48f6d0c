"""Lists in a time limit: numbers of entries, shares of people and places, by hand."""

import pandas as pd
import pytest
from scipy.stats import t

from analysis.typed.fluency import count_entries, describe_lists, split_entries

LISTS = pd.DataFrame(
    {
        "item_id": "animals",
        "version": "good",
        "construction": "lists",
        "condition": "",
        "participant": ["anna", "ben", "cleo", "dan"],
        "typed": ["Dog | cat | dog ", "cat", None, None],
        "no_answer": [False, False, True, False],
    }
)


def test_each_entry_is_a_row_with_its_place():
    entries = split_entries(LISTS)
    assert entries["typed"].astype(object).where(entries["typed"].notna(), None).tolist() == [
        "Dog", "cat", "dog ", "cat", None, None,
    ]  # fmt: skip
    assert entries["place"].tolist() == [1, 2, 3, 1, 1, 1]


def test_an_entry_counts_once_for_each_person_at_its_first_place():
    counts = count_entries(LISTS).set_index("entry")
    assert counts["n"].to_dict() == {"cat": 2, "dog": 1}
    assert counts["share"].to_dict() == {"cat": 0.5, "dog": 0.25}
    assert counts["mean_place"].to_dict() == {"cat": 1.5, "dog": 1}


def test_different_entries_and_repetitions_are_means_over_people():
    [row] = describe_lists(LISTS).to_dict("records")
    # Anna made two and one again, Ben one, and Cleo none; an archive withholds Dan's list.
    assert (row["n_people"], row["n_withheld"], row["n_none"], row["n_different"]) == (4, 1, 1, 2)
    assert row["entries"] == pytest.approx(1) and row["repetitions"] == pytest.approx(1 / 3)
    half = t.ppf(0.975, 2) * (1 / 3) ** 0.5
    assert (row["entries_low"], row["entries_high"]) == pytest.approx((1 - half, 1 + half))


def test_the_interval_of_one_list_is_missing():
    [row] = describe_lists(LISTS.iloc[:1]).to_dict("records")
    assert row["entries"] == 2 and pd.isna(row["entries_low"])
