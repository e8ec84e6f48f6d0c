"""A deadline: whose answers are late, what is said of it, and what a study may not ask."""

import re
import shutil
from pathlib import Path

import pytest

from experiment.authoring.check import check_folder
from experiment.records import Steps
from experiment.responses.base import Arrangement
from experiment.responses.registry import load_response, tables_shown

EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "deadline"


def steps(*rt_ms: float | None) -> Steps:
    n = len(rt_ms)
    return Steps(tuple(400.0 * k for k in range(n)), rt_ms, "p" * n, (4.0,) * n)


def test_an_answer_is_late_after_the_deadline_and_not_at_it():
    timed = load_response("rating", {"deadline_ms": 1500})
    assert [timed.late(ms) for ms in (1499.9, 1500, 1500.1, None)] == [False, False, True, None]
    assert load_response("rating", {}).late(99_999) is None


def test_a_sentence_is_late_where_any_step_is_however_long_the_whole_takes():
    timed = load_response("self_paced", {"deadline_ms": 1000})
    assert timed.late(9000, steps(900, 900, 900)) is False
    assert timed.late(900, steps(100, 1001, None)) is True
    assert timed.late(900, steps(None, None)) is None


def test_a_task_of_a_mixed_session_has_a_deadline_of_its_own_and_a_row_says_so():
    tasks = {
        "rate": {"response": "rating", "deadline_ms": 1500},
        "pair": {"response": "sentence_pair"},
    }
    mixed = load_response("mixed", {"tasks": tasks})
    assert "is_late" in tables_shown(mixed)[1].column_names
    assert mixed.is_late(Arrangement(None, ("rate", "good"), 7), 1600) is True
    assert mixed.is_late(Arrangement(None, ("pair",)), 1600) is None
    row = {"task": "rate good", "version": "rate good", "rating": 3, "rt_ms": 1600.0}
    assert mixed.derive_all_columns(row)["is_late"] is True
    pair = mixed.derive_all_columns({"task": "pair", "version": "pair", "rt_ms": 1600.0})
    assert pair["is_late"] is None


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("deadline_ms = 1500", "deadline_ms = 100", "deadline_ms"),
        ("[trial]\n", "[trial]\nlockout_ms = 2000\n", "no press counts in the first 2000 ms"),
        ("deadline_ms = 1500", "", "counts answers after the deadline, and there is none"),
        ('practice = "practice.toml"', "", "the study has a deadline but no practice trials"),
    ],
)
def test_a_deadline_that_nobody_can_keep_or_knows_is_named_with_its_line(tmp_path, old, new, said):
    folder = shutil.copytree(EXAMPLE, tmp_path / "deadline")
    toml = (folder / "study.toml").read_text("utf-8")
    assert old in toml
    (folder / "study.toml").write_text(toml.replace(old, new, 1), encoding="utf-8")
    report = check_folder(str(folder), 1)
    [found] = [str(one) for one in (*report.errors, *report.notes) if said in str(one)]
    assert re.search(r"study\.toml, (line \d+|trial)", found)
