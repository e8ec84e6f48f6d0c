"""A study drawn by seed goes through the commands, and what they print is read."""

from pathlib import Path

import pytest

from tests.drawn_studies.commands import _in_text, faults, taken_through
from tests.drawn_studies.drawn import RESPONSES, drawn
from tests.drawn_studies.workshop import Said, workshop


def test_ten_seeds_draw_every_type_with_and_without_each_part():
    found = [drawn(seed) for seed in range(10)]
    assert {one.response for one in found} == set(RESPONSES)
    for part in ("between", "fillers", "frequency", "native"):
        assert len({bool(getattr(one, part)) for one in found}) == 2, part


@pytest.mark.parametrize(
    ("text", "said"),
    [("mean nan", "no number"), ("[-0.00, 0.10]", "minus sign"), ("+inf to 2", "no number")],
)
def test_what_must_not_be_printed_is_seen(text, said):
    assert any(said in fault for fault in _in_text(text))
    assert not list(_in_text("banana -0.04 information 10.00"))


def test_a_crash_and_a_refusal_are_faults(tmp_path):
    with workshop(tmp_path) as work:
        work("study", "check", "none")
        work.said.append(Said(("export", "x"), "", 1, "KeyError: 'x'"))
        [refused, crashed] = list(faults(drawn(1), work))
    assert "study check refused" in refused and "export x crashed: KeyError" in crashed


@pytest.mark.parametrize("seed", [3, pytest.param(5, marks=pytest.mark.campaign)])
def test_a_drawn_study_goes_through_every_command_without_a_fault(seed, tmp_path: Path):
    one = drawn(seed)
    with workshop(tmp_path) as work:
        taken_through(one, work)
        assert list(faults(one, work)) == []
    assert len(work.said) > 12
