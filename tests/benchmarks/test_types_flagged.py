"""The bench of every type of response flags no honest person, and finds a forgotten wait."""

import random
from pathlib import Path

import pytest

from experiment.responses.reading.reading import Read
from experiment.responses.registry import RESPONSE_TYPES

with pytest.MonkeyPatch.context() as patch:
    patch.syspath_prepend(Path(__file__).parents[2] / "benchmarks")
    from types_flagged import NETWORKS, WAYS, send, speaks, types, work

TYPES = dict(types())


def spoken(name: str, way: str) -> set[str]:
    rng = random.Random(name)
    return speaks(send(work(TYPES[name], WAYS[way], rng), WAYS[way], NETWORKS["2 s"], rng))


def test_the_bench_has_every_type_of_response():
    assert {name.partition(",")[0] for name in TYPES} == set(RESPONSE_TYPES.built_in)


@pytest.mark.parametrize("name", TYPES)
def test_who_lets_the_pointer_dwell_over_a_slow_network_is_not_flagged(name: str):
    assert spoken(name, "dwell") == set()


@pytest.mark.parametrize("name", ["self_paced", "read_then_rate"])
def test_a_type_that_leaves_out_the_wait_before_a_sentence_is_found(name: str, monkeypatch):
    monkeypatch.setattr(Read, "time_outside_rt_ms", lambda _self, _answer: 0.0)
    assert spoken(name, "screen reader") == {"timing_mismatch"}
