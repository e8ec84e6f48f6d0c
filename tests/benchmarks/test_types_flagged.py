"""The bench of every type of response flags no honest person, and finds a forgotten wait."""

import csv
import random
from itertools import product
from pathlib import Path

import pytest

from experiment.responses.reading.reading import Read
from experiment.responses.registry import RESPONSE_TYPES

with pytest.MonkeyPatch.context() as patch:
    patch.syspath_prepend(Path(__file__).parents[2] / "benchmarks")
    from types_flagged import (
        CELLS,
        LENGTHS,
        NETWORKS,
        SIGNS,
        WAYS,
        WORST,
        send,
        speaks,
        types,
        work,
    )

TYPES = dict(types())
# Nobody has measured how often a flag is false for people who type or slide: none counts there.
MEASURED = set(RESPONSE_TYPES.built_in) - {"typed", "fluency", "slider"}


def spoken(name: str, way: str) -> set[str]:
    rng = random.Random(name)
    return speaks(send(work(TYPES[name], WAYS[way], rng), WAYS[way], NETWORKS["2 s"], rng))


def test_the_bench_has_every_type_of_response():
    assert {name.partition(",")[0] for name in TYPES} == MEASURED


@pytest.mark.parametrize("name", TYPES)
def test_who_lets_the_pointer_dwell_over_a_slow_network_is_not_flagged(name: str):
    assert spoken(name, "dwell") == set()


def test_every_cell_was_measured_with_enough_people_for_one_in_a_hundred():
    with CELLS.open(encoding="utf-8", newline="") as file:
        cells = list(csv.DictReader(file))
    named = [(cell["type"], cell["input"], cell["network"], int(cell["trials"])) for cell in cells]
    assert named == list(product(TYPES, WAYS, NETWORKS, LENGTHS))
    assert all(int(cell["sessions"]) >= 368 for cell in cells)  # 0 of 368: at most 0.997 %


def test_the_product_reads_the_worst_cell_of_each_sign():
    lines = WORST.read_text("utf-8").splitlines()[1:]
    rows = list(csv.DictReader(lines, delimiter="\t"))
    keys = {(row["type"], row["seen"], int(row["n_trials"]), row["name"]) for row in rows}
    seen = {way.seen for way in WAYS.values()}
    assert keys == set(product(MEASURED, seen, LENGTHS, SIGNS))
    assert len(rows) == len(keys)


@pytest.mark.parametrize("name", ["self_paced", "read_then_rate"])
def test_a_type_that_leaves_out_the_wait_before_a_sentence_is_found(name: str, monkeypatch):
    monkeypatch.setattr(Read, "time_outside_rt_ms", lambda _self, _answer: 0.0)
    assert spoken(name, "screen reader") == {"timing_mismatch"}
