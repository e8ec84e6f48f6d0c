"""Mistakes in materials are seen, and materials without one are left in peace."""

import csv
import random
from pathlib import Path

import pytest

from benchmarks import lint
from benchmarks.lint_mistakes import held_half, open_half
from benchmarks.lint_mistakes.tables import PARADIGMS, TABLES, blimp
from experiment.authoring.check import check_folder


def test_every_kind_of_mistake_is_seen():
    found = list(lint.outcomes(len(lint.MISTAKES)))
    assert [(one.mistake, one.table, one.said) for one in found if not one.seen] == []


@pytest.mark.parametrize("make", TABLES, ids=lambda make: make.__name__)
def test_a_table_without_a_mistake_is_left_in_peace(make):
    assert lint.messages(make(random.Random("clean 1"))) == []


@pytest.mark.parametrize("paradigm", PARADIGMS)
def test_a_paradigm_like_those_of_blimp_is_left_in_peace(paradigm):
    assert lint.messages(blimp(random.Random("clean 1"), paradigm)) == []


def test_a_comma_that_one_of_two_constructions_is_about_is_left_in_peace():
    assert check_folder("docs/examples/mixed", 1).notes == ()


def test_the_written_taxonomy_is_what_is_planted():
    with Path("benchmarks/lint_mistakes/taxonomy.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    halves = {row["name"]: row["half"] for row in rows}
    assert halves == {
        **dict.fromkeys(open_half.MISTAKES, "open"),
        **dict.fromkeys(held_half.MISTAKES, "held"),
    }
