"""Orders that are drawn unevenly, or keep less than asked, fail a check."""

import random
from collections.abc import Iterator

import pytest

from experiment.design.audit import audit
from experiment.design.audit.audit import drawing_checks
from experiment.design.audit.sessions import Check
from experiment.design.lists import build_lists
from experiment.errors import DesignError
from tests.experiment.design.small_studies import MIXED, MIXED_ITEMS, make_items, make_study

ITEMS = [
    *make_items("often", {"N": 24, "V": 2}, ["plain"]),
    *make_items("rare", {"N": 4, "V": 2}, ["plain"]),
    *make_items("other", {"N": 24, "V": 2}, ["plain"]),
]
SQUARES = [
    {"templates": ["often"], "frames": 24},
    {"templates": ["rare"], "frames": 4},
    {"templates": ["other"], "frames": 24},
]


@pytest.fixture(autouse=True)
def _drawn_anew() -> Iterator[None]:
    """Forget what was found of the same lists: a test here draws in a way of its own."""
    audit._block_checks.cache_clear()
    yield
    audit._block_checks.cache_clear()


def rows(**design: object) -> list[Check]:
    study = make_study(SQUARES, lists=1, trials_per_list=52, **design)
    return list(drawing_checks(study, build_lists(study, ITEMS, 1), 1000))


def by_remaining_counts(n: int, constraints: list[object], rng: random.Random) -> list[int]:
    """Draw as orders were drawn once: each next trial of a group by how many it has left."""
    labels = constraints[0].labels  # type: ignore[attr-defined]
    for _ in range(1000):
        left, order = list(range(n)), list[int]()
        while choices := [i for i in left if not order or labels[i] != labels[order[-1]]]:
            order.append(rng.choice(choices))
            left.remove(order[-1])
        if not left:
            return order
    raise DesignError("no order")


def test_orders_drawn_evenly_pass():
    passed = rows()
    assert [each.passed for each in passed] == [True, True]
    assert passed[0].expected == "26.5"
    assert "median chi-square" in passed[1].found


def test_orders_drawn_by_what_is_left_over_are_caught(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(audit, "draw_order", by_remaining_counts)
    mean, positions = rows()
    assert not mean.passed
    assert not positions.passed


def test_a_trial_that_comes_early_is_caught(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(audit, "draw_order", lambda n, asked, rng: list(range(n)))
    mean, *_ = rows(separate="")
    assert not mean.passed
    assert "trial 1 of the list: 1.0" in mean.found


def test_chains_that_agree_pass_and_say_how_well():
    [row] = rows(separate="", order={"distance": {"N": 2}, "in_a_row": {"template": 4}})
    assert row.passed
    assert "4 chains" in row.name


def test_chains_that_stay_where_they_began_are_caught(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(audit, "draw_by_chain", lambda start, asked, rng: list(start))
    monkeypatch.setattr(audit, "sweep_once", lambda order, asked, rng, cost: None)
    [row] = rows(separate="", order={"in_a_row": {"template": 5}})
    assert not row.passed


def test_chains_of_a_long_session_agree():
    sizes = {"a": 270, "b": 180, "c": 180, "d": 139, "e": 130, "f": 130, "g": 100, "h": 72}
    items = [item for name, n in sizes.items() for item in make_items(name, {"N": n}, ["plain"])]
    squares = [{"templates": [name], "frames": n} for name, n in sizes.items()]
    study = make_study(squares, lists=1, trials_per_list=1201)
    [row] = drawing_checks(study, build_lists(study, items, 1), 1000)
    assert row.passed
    assert "4 chains" in row.name


def test_stretches_of_another_length_are_no_fault_of_the_order():
    assert all(
        each.passed for each in drawing_checks(MIXED, build_lists(MIXED, MIXED_ITEMS, 1), 300)
    )


def test_each_block_is_looked_at_by_itself():
    squares = [{**square, "block": square["templates"][0]} for square in SQUARES]
    study = make_study(squares, lists=1, trials_per_list=52, separate="")
    names = [each.name for each in drawing_checks(study, build_lists(study, ITEMS, 1), 100)]
    assert len(names) == 6
    assert sum("in block 3" in name for name in names) == 2
