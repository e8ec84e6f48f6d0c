"""The program that reads every output of a blind run finds nothing, and much once unblinded."""

import pytest

from benchmarks.blind.outputs import Reader, differences
from benchmarks.blind.world import World, exchange


@pytest.fixture
def world(tmp_path):
    world = World(tmp_path, "pairs", 2)
    yield world
    world.close()


def test_nothing_that_can_be_read_of_a_blind_run_follows_its_answers(world):
    reader = Reader(world)
    before = reader.read()
    assert len(before) > 60
    assert exchange(world.sessions) == 16
    assert differences(before, reader.read()) == []
    assert [*world.told_by_the_log()] == []
    world.unblind()
    before = reader.read(report=False)
    exchange(world.sessions)
    seen = differences(before, reader.read(report=False))
    assert {each.partition(" ")[0] for each in seen} >= {"GET", "POST", "parallax"}
