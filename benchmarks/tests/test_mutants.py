"""Which changes are made of a file, and that a changed function is the one that runs."""

import importlib
from ast import unparse
from pathlib import Path

from benchmarks.mutants.changes import CLASSES, OMISSION, mutants
from benchmarks.mutants.put import Place

TEXT = """
from datetime import timedelta

MOST = 3
UNUSED = 4


def late(at, now, rows):
    if not rows:
        raise ValueError("none")
    rows = sorted(rows, key=abs)
    return now - at > timedelta(days=2) and len(rows) < MOST
"""
EXPECTED = [
    "comparison 12: len(rows) < MOST -> len(rows) <= MOST",
    "comparison 12: now - at > timedelta(days=2) -> now - at >= timedelta(days=2)",
    "date 12: now - at -> now + at",
    "date 12: timedelta(days=2) -> timedelta(hours=2)",
    "number 12: 2 -> 3",
    "number 4: 3 -> 4",
    "permission 12: now - at > timedelta(days=2) and len(rows) < MOST -> "
    "now - at > timedelta(days=2) or len(rows) < MOST",
    "permission 9: if not rows: raise -> pass",
    "permission 9: not rows -> rows",
    "sort 11: sorted(rows, key=abs) -> list(rows)",
]


def test_every_change_of_a_class_is_made_once_and_only_what_runs_is_changed(tmp_path, monkeypatch):
    file = tmp_path / "text_of_mutants.py"
    file.write_text(TEXT)
    found = [one for one in mutants(file, CLASSES) if one.reachable]
    said = (f"{one.kind} {one.line}: {one.before} -> {one.after}" for one in found)
    assert sorted(said) == EXPECTED
    assert {one.kind for one in mutants(file, ("sort",))} == {"sort"}


def test_an_omission_leaves_out_a_filter_an_entry_an_argument_or_a_root(tmp_path):
    file = tmp_path / "text_of_mutants.py"
    file.write_text(
        "def scale(rows, limit):\n"
        "    kept = [r for r in rows if r < limit]\n"
        "    both: tuple[int, str] = (1, 'a')\n"
        "    return {'a': sqrt(kept), 'b': sum(kept, start=limit), 'c': dict(d=1)}\n"
    )
    made = sorted(
        f"{mutant.line}: {mutant.before} -> {mutant.after}" for mutant in mutants(file, (OMISSION,))
    )
    assert made == [
        "2: for r in rows if r < limit -> for r in rows",
        "3: (1, 'a') -> (1,)",
        "4: sqrt(kept) -> kept",
        "4: start=limit -> nothing",
        "4: {'a': sqrt(kept), 'b': sum(kept, start=limit), 'c': dict(d=1)} -> "
        "{'b': sum(kept, start=limit), 'c': dict(d=1)}",
    ]
    assert not [mutant for mutant in mutants(file, CLASSES) if mutant.kind == OMISSION]
    keyword = next(mutant for mutant in mutants(file, (OMISSION,)) if mutant.after == "nothing")
    assert "sum(kept)" in unparse(keyword.tree())


def test_a_changed_function_and_a_changed_name_take_the_place_of_the_true_ones(
    tmp_path, monkeypatch
):
    file: Path = tmp_path / "module_of_mutants.py"
    file.write_text("MOST = 3\n\n\ndef few(n):\n    return n < MOST\n")
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("module_of_mutants")
    held = module.few
    compared, most = sorted(mutants(file, CLASSES), key=lambda one: one.kind)
    assert [held(3), held(4)] == [False, False]
    place = Place({str(file)})
    assert place.put(compared) and [held(3), held(4)] == [True, False]
    assert place.put(most) and [held(3), held(4)] == [True, True]
