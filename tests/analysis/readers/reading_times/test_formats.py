"""Every format of reading times is found in its folder and documented."""

from pathlib import Path

import pytest

from analysis.readers.reading_times.table import times_formats

PAGE = Path(__file__).parents[4] / "docs" / "reading.md"


def test_the_formats_are_those_of_the_folders_modules():
    assert sorted(times_formats()) == ["dmdx", "frank2013", "ibex", "natural-stories", "pcibex"]


@pytest.mark.parametrize("name", sorted(times_formats()))
def test_a_format_has_its_row_in_the_documentation(name: str):
    assert times_formats()[name].documentation in PAGE.read_text("utf-8").splitlines()
