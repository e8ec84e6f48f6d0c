import numpy as np
import pytest

from lm.ngram.counts import group_keys


@pytest.mark.parametrize(
    "keys",
    [[3, 1, 3, 3, 0, 1], [2**62, 5, 2**62, 5, 7], [4], []],
    ids=["small", "too large to carry their places", "one", "none"],
)
def test_equal_keys_stand_together_in_the_order_of_keys(keys: list[int]):
    in_order, places, is_first = group_keys(np.array(keys, np.int64))
    assert in_order.tolist() == [keys[place] for place in places] == sorted(keys)
    assert sorted(places.tolist()) == list(range(len(keys)))
    assert [key for key, first in zip(in_order, is_first, strict=True) if first] == sorted(
        set(keys)
    )
