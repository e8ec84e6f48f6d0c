"""Every mapping of a published data set reads a file with the headers that were published."""

import pytest

from benchmarks import published_imports
from benchmarks.published_sets.one import MODELS, PEOPLE


def test_there_are_ten_sets_of_people_and_five_of_models():
    kinds = [one.of for one in published_imports.SETS]
    assert (kinds.count(PEOPLE), kinds.count(MODELS)) == (10, 5)
    without = [one.name for one in published_imports.SETS if one.of == PEOPLE and not one.mapping]
    # Its format is known by its columns.
    assert without == ["gulordava_people"]


@pytest.mark.parametrize("one", published_imports.SETS, ids=lambda one: one.name)
def test_a_rebuilt_file_gives_its_own_number(one):
    rebuilt, published, ours, said = published_imports.run(one, None, compare=False)
    assert rebuilt
    assert ours == pytest.approx(published, abs=1e-9)
    assert "rebuilt, not the published file" in published_imports.line(
        one, rebuilt, published, ours, said
    )


@pytest.mark.parametrize("name", ["qfrblimp", "grammaticality", "events_rev"])
def test_each_kind_of_answer_goes_through_compare(name):
    (one,) = [one for one in published_imports.SETS if one.name == name]
    said = published_imports.run(one, None)[3]
    wanted = {"qfrblimp": "accuracy 0.8", "grammaticality": "accuracy 0.7", "events_rev": "good 5."}
    assert wanted[name] in said
