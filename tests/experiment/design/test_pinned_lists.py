"""A seed gives the same lists in this version and in the next."""

import pytest

from experiment.design.lists import build_lists
from experiment.materials.read import load_items
from experiment.studies.load import load_study


@pytest.mark.parametrize("seed", [1, 2])
def test_a_seed_gives_the_lists_that_it_always_gave(seed: int, file_regression):
    study = load_study("minimal")
    lines = []
    for number, entries in enumerate(build_lists(study, load_items(study), seed).lists):
        lines.append(f"list {number}")
        lines += [f"  {entry.item.item_id} {entry.kind}: {entry.item.good}" for entry in entries]
    file_regression.check("\n".join(lines) + "\n", basename=f"minimal_{seed}", newline="\n")
