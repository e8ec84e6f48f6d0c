"""What is read goes from the pages to a report beside two models, in short."""

import pytest

from benchmarks.reading_types import CASES, compared, trained

# Fewer than 40 readings of a condition have no interval: 14 people read 3 of 6 frames in each.
PER_LIST = 7


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    return trained(tmp_path_factory.mktemp("models"), "[l-p]*.md")


@pytest.mark.parametrize("name", ["maze", "mixed"])
def test_a_study_that_is_read_has_a_report_beside_two_models(models, tmp_path, name):
    told = compared(CASES[name], models, tmp_path, PER_LIST)
    assert not [line for line in told if line.startswith("LACKS")], told
    beside = [line for line in told if " beside " in line]
    assert len(beside) == (2 if name == "mixed" else 1)
    assert all("trigram, unigram:" in line for line in beside)
    assert any(line.startswith("left out: ") for line in told)
