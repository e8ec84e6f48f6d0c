"""Breaks and pages between trials."""

import pytest

from experiment.design.practice import breaks_before, pages_before
from experiment.studies.design import Order
from experiment.studies.load import load_study
from experiment.studies.study import Study

BLOCKS = ["practice", "practice", "main", "main", "main", "end"]


@pytest.fixture(scope="module")
def minimal() -> Study:
    return load_study("minimal")


def with_pauses(study: Study, break_every: int = 0, **order: object) -> Study:
    trial = study.trial.model_copy(update={"break_every": break_every})
    design = study.design.model_copy(update={"order": Order.model_validate(order)})
    return study.model_copy(update={"trial": trial, "design": design})


@pytest.mark.parametrize(
    ("every", "between", "positions"),
    [
        (0, False, []),
        (2, False, [3, 5]),
        (3, False, [4]),
        (6, False, []),
        (0, True, [3, 6]),
        (4, True, [3, 5, 6]),
    ],
)
def test_breaks_come_after_so_many_trials_and_between_blocks(minimal, every, between, positions):
    study = with_pauses(minimal, every, breaks=between)
    assert list(breaks_before(study, BLOCKS)) == positions


def test_a_text_comes_where_its_block_begins(minimal):
    study = with_pauses(minimal, pages={"practice": "before_practice", "main": "before_main"})
    assert pages_before(study, BLOCKS) == {1: "before_practice", 3: "before_main"}
    assert pages_before(study, []) == {}
