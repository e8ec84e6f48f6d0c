"""Twelve tables of published reading times have mappings that name every comparison."""

import pytest

from analysis.readers.reading_times.mapped.mapping import read_times_mapping
from benchmarks.published_times import SETS, TIMES


def test_there_are_twelve():
    assert len({one.name for one in SETS}) == 12


@pytest.mark.parametrize("one", SETS, ids=lambda one: one.name)
def test_its_mapping_is_read_and_has_its_comparisons(one):
    mapping = read_times_mapping(TIMES / f"{one.name}.toml")
    assert {comparison.name for comparison in mapping.comparisons} == set(one.estimates)
