import numpy as np
import pytest

from lm.errors import LmError
from lm.training.batches import TextColumns

TEXT = np.arange(24, dtype=np.int32)


def columns(**changes: int) -> TextColumns:
    return TextColumns(TEXT[:-1], TEXT[1:], **{"batch": 4, "steps": 2} | changes)


def test_columns_run_on_from_window_to_window():
    read = [columns().window(number) for number in range(len(columns()))]
    assert [tuple(window.inputs.shape) for window in read] == [(2, 4), (2, 4), (1, 4)]
    first = [int(number) for window in read for number in window.inputs[:, 0]]
    assert first == [0, 1, 2, 3, 4]
    assert read[0].inputs[0].tolist() == [0, 5, 10, 15]


def test_what_is_told_is_the_next_word():
    for number in range(3):
        window = columns().window(number)
        assert (window.targets - window.inputs == 1).all()


def test_processes_share_the_columns_between_them():
    whole = columns().window(1).inputs.tolist()
    parts = [columns(rank=rank, world=2).window(1).inputs.tolist() for rank in (0, 1)]
    assert [a + b for a, b in zip(*parts, strict=True)] == whole


@pytest.mark.parametrize("changes", [{"batch": 24}, {"batch": 3, "world": 2}])
def test_a_batch_that_cannot_be_taken_is_refused(changes: dict[str, int]):
    with pytest.raises(LmError, match="Give a longer text"):
        columns(**changes)
