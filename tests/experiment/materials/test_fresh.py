"""Draws are parallel to a study's items: the same words and templates, mostly new sentences."""

import csv
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner
from scipy.stats import chisquare

from experiment.commands.materials import materials
from experiment.design.frames import index_materials
from experiment.errors import MaterialsError
from experiment.materials.fresh import draw_parallel_items, parallel_id, parse_parallel_id
from experiment.materials.item_rows import item_table
from experiment.materials.read import load_items
from experiment.records import Item, lemmas_of
from experiment.seeds import generator
from experiment.studies.load import load_study
from experiment.tables.files import write_table

STUDY = load_study("minimal")
INDEX = index_materials(load_items(STUDY)).items
# Four subjects with four verbs, each once.
FRAMES = [f"S={s} V={v}" for s, v in zip(
    ("child", "neighbor", "singer", "baker"), ("sleeps", "dances", "sings", "is_happy"), strict=True
)]  # fmt: skip
SHOWN = [item for frame in FRAMES for item in INDEX["simple"][frame].values()]
DRAWS = 5


@pytest.fixture(scope="module")
def drawn() -> list[Item]:
    items, left_out = draw_parallel_items(INDEX, SHOWN, DRAWS, generator(1, "fresh"))
    assert not left_out
    return items


def test_each_draw_has_an_item_parallel_to_each_of_the_study(drawn: list[Item]):
    shown = {item.item_id: item for item in SHOWN}
    assert [item.item_id for item in drawn] == [
        parallel_id(item.item_id, draw, is_fresh=is_fresh(parallel))
        for draw in range(1, DRAWS + 1)
        for item, parallel in zip(SHOWN, drawn[(draw - 1) * len(SHOWN) :], strict=False)
    ]
    for item in drawn:
        name, draw, _ = parse_parallel_id(item.item_id)
        assert item.extra == (("parallel_to", name), ("draw", str(draw)))
        own = shown[name]
        assert (item.template, item.condition) == (own.template, own.condition)
        assert lemmas_of(item.frame)["S"] == lemmas_of(own.frame)["S"]


def is_fresh(item: Item) -> bool:
    return item.good not in {shown.good for shown in SHOWN}


def test_a_draw_uses_every_word_as_often_as_the_study(drawn: list[Item]):
    words = Counter(word for item in SHOWN for word in item.frame.split())
    for draw in range(DRAWS):
        items = drawn[draw * len(SHOWN) : (draw + 1) * len(SHOWN)]
        assert len({item.good for item in items}) == len(SHOWN)
        assert Counter(word for item in items for word in item.frame.split()) == words


def test_a_study_is_as_likely_a_draw_as_any_other_order_of_its_words():
    drawn, _ = draw_parallel_items(INDEX, SHOWN, 2_400, generator(1, "fresh"))
    n_shown = Counter(
        sum(not is_fresh(item) for item in drawn[start : start + len(SHOWN)]) // 2
        for start in range(0, len(drawn), len(SHOWN))
    )
    # Of the 24 orders of four verbs, 9 leave none in its place, 8 one, 6 two, and 1 all.
    assert chisquare([n_shown[n] for n in (0, 1, 2, 4)], [900, 800, 600, 100]).pvalue > 0.01


def test_items_of_a_study_are_no_draw_of_others():
    assert parse_parallel_id("simple-3") == ("simple-3", 0, False)
    assert parse_parallel_id("simple.fresh-3") == ("simple.fresh-3", 0, False)
    assert parse_parallel_id("simple-3.shown12") == ("simple-3", 12, False)
    assert parse_parallel_id("simple-3.fresh12") == ("simple-3", 12, True)


def test_a_template_all_of_whose_combinations_are_shown_is_left_out(tmp_path: Path):
    every = [item for cells in INDEX["simple"].values() for item in cells.values()]
    across = [item for cells in INDEX["across_phrase"].values() for item in cells.values()][:2]
    items, left_out = draw_parallel_items(INDEX, [*every, *across], 1, generator(1, "fresh"))
    assert left_out == ["simple", "across_phrase"] and not items
    write_table(*item_table(every), tmp_path / "items.csv")
    with pytest.raises(MaterialsError, match="minimal leaves too few sentences that it does not"):
        fresh("minimal", tmp_path, "--out", tmp_path / "fresh.csv")


def fresh(*arguments: str | Path) -> None:
    call = ["fresh", *map(str, arguments), "--seed", "1"]
    CliRunner().invoke(materials, call, catch_exceptions=False)


def test_the_command_reads_the_items_of_a_folder_and_writes_a_table(tmp_path: Path):
    (tmp_path / "lists").mkdir()
    write_table(*item_table(SHOWN), tmp_path / "lists" / "items.csv")
    fresh("minimal", tmp_path / "lists", "--draws", "2", "--out", tmp_path / "fresh.csv")
    with (tmp_path / "fresh.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["parallel_to"], row["draw"]) for row in rows] == [
        (item.item_id, draw) for draw in "12" for item in SHOWN
    ]


def test_what_no_items_can_be_drawn_for_is_refused_before_anything_is_written(tmp_path: Path):
    out = tmp_path / "fresh.csv"
    with pytest.raises(MaterialsError, match="the folder holds no table of items"):
        fresh("minimal", tmp_path, "--out", out)
    with pytest.raises(MaterialsError, match="no template says how they were made"):
        fresh("gulordava_2018_italian", tmp_path, "--out", out)
    other = INDEX["simple"]["S=child V=sings"]["plural"]
    write_table(*item_table([Item(**{
        name: getattr(other, name) for name in Item.__slots__} | {"frame": "S=dog V=barks"}
    )]), tmp_path / "items.csv")  # fmt: skip
    with pytest.raises(MaterialsError, match='templates do not make the item "simple-6"'):
        fresh("minimal", tmp_path, "--out", out)
    assert not out.exists()
