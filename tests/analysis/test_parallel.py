"""Work in a copy of this process: its result, its error, and that it is a copy."""

import os

import pytest

from analysis.comparison import in_second_process
from analysis.errors import AnalysisError


def test_the_result_comes_back_from_another_process() -> None:
    held = {"here": 2}
    with in_second_process(lambda: (held["here"] * 21, os.getpid())) as result:
        number, process = result()
    assert number == 42
    assert process != os.getpid()


def test_without_room_the_work_is_done_in_this_process() -> None:
    with in_second_process(os.getpid, enough_memory=False) as result:
        assert result() == os.getpid()


def test_the_error_comes_back_with_its_words() -> None:
    def fail() -> None:
        raise AnalysisError("no such column", where="a.csv", remedy="Name another")

    with (
        pytest.raises(AnalysisError, match=r"a\.csv: no such column\. Name another"),
        in_second_process(fail) as result,
    ):
        result()
