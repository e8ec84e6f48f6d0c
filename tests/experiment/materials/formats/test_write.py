"""Items written for other programs are the items that are read again."""

import json

import pytest

from experiment.errors import MaterialsError
from experiment.materials.formats.files import open_materials
from experiment.materials.formats.suite import load_suite
from experiment.materials.formats.write import OUTPUT_FORMATS, write_items
from experiment.records import Item, Kind, Variant

ITEMS = [
    Item(item_id, Kind.TARGET, construction, condition, "t", "c=1", "f=1", *texts, extra=extra)
    for item_id, construction, condition, texts, extra in (
        ("a", "agreement", "simple", ("", "The keys are here.", "The keys is here."), ()),
        ("b", "agreement", "other", ("The key", "is.", "are."), (("own", "1"),)),
        ("c", "npi", "x", ("", "No cat", "The cat", "A cat", Variant.DISTRACTOR), ()),
    )
]
PAIRS = [
    ("The keys are here.", "The keys is here."),
    ("The key is.", "The key are."),
    ("No cat", "A cat"),
]


@pytest.mark.parametrize("form", OUTPUT_FORMATS)
def test_what_is_written_is_read_again(tmp_path, form):
    out = tmp_path / f"items{OUTPUT_FORMATS[form][0]}"
    assert write_items(iter(ITEMS), form, out) == 3
    found = list(open_materials(out).items())
    texts = [[f"{one.context} {text}".strip() for text in (one.good, one.bad)] for one in found]
    assert texts == [list(pair) for pair in PAIRS]
    if form in ("blimp", "multiblimp"):
        assert [one.construction for one in found] == ["agreement", "agreement", "npi"]
        assert dict(found[1].extra)["own"] == "1"


def test_a_task_keeps_contexts_apart_and_names_its_data(tmp_path):
    write_items(iter(ITEMS), "lm_eval", tmp_path / "mine.yaml")
    second = json.loads((tmp_path / "mine.jsonl").read_text().splitlines()[1])
    assert (second["context"], second["good"]) == ("The key", "is.")
    assert [item.context for item in open_materials(tmp_path / "mine.yaml").items()][1] == "The key"


def test_a_suite_has_what_differs_in_a_region_of_its_own(tmp_path):
    write_items(iter(ITEMS[:1]), "syntaxgym", tmp_path / "mine.json")
    good, bad = load_suite(tmp_path / "mine.json").items[0].conditions
    assert good.texts == ["The keys", "are", "here."]
    assert bad.texts == ["The keys", "is", "here."]


def test_a_name_that_ends_otherwise_is_refused(tmp_path):
    with pytest.raises(
        MaterialsError, match=r"a file of the form blimp cannot end in \.csv. Expected a name"
    ):
        write_items(iter(ITEMS), "blimp", tmp_path / "items.csv")
