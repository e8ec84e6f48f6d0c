"""Groups of rows are those of pandas, whatever holds the texts."""

import numpy as np
import pandas as pd
import pytest

from analysis.data.categorical import group_rows

ROWS = pd.DataFrame(
    {
        "a": ["y", "x", "y", "x", "x", "z"],
        "b": [2, 1, 2, 3, 1, 2],
        "person": ["p", "q", None, "q", "r", None],
        "right": [True, False, True, True, True, False],
    }
)


@pytest.mark.parametrize("by", [["a"], ["b"], ["a", "b"], ["b", "a"]])
@pytest.mark.parametrize("categorical", [False, True])
def test_they_are_those_of_pandas_in_the_order_of_their_first_rows(by, categorical):
    frame = ROWS.astype({"a": "category", "person": "category"}) if categorical else ROWS
    found = group_rows(frame, by)
    theirs = ROWS.groupby(by, sort=False)
    pd.testing.assert_frame_equal(
        pd.DataFrame(found.keys), theirs.size().reset_index()[by], check_column_type=False
    )
    assert found.number.tolist() == theirs.ngroup().tolist()
    assert found.size.tolist() == theirs.size().tolist()
    assert found.sums(frame["right"]).tolist() == theirs["right"].sum().tolist()
    assert found.distinct(frame["person"]).tolist() == theirs["person"].nunique().tolist()


def test_what_is_not_known_is_no_true_one():
    frame = ROWS.assign(right=pd.array([True, None, None, True, False, None], "boolean"))
    assert group_rows(frame, ["a"]).sums(frame["right"]).tolist() == [1, 1, 0]


def test_no_rows_have_no_groups_and_missing_values_are_one_of_their_own():
    none = group_rows(ROWS[:0], ["a", "b"])
    assert (len(none.number), len(none.size), len(none.keys["a"])) == (0, 0, 0)
    assert none.distinct(ROWS[:0]["person"]).tolist() == []
    assert group_rows(ROWS, ["person"]).size.tolist() == [1, 2, 2, 1]
    assert group_rows(ROWS.assign(person=np.nan), ["a"]).distinct(
        pd.Series([np.nan] * 6)
    ).tolist() == [
        0,
        0,
        0,
    ]
