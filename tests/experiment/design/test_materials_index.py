"""The materials as the design sees them."""

from dataclasses import replace

import pytest

from experiment.design.frames import index_materials
from experiment.errors import DesignError, UnknownNameError
from experiment.materials.read import materials_hash
from experiment.records import lemmas_of
from tests.experiment.design.small_studies import MIXED_ITEMS, NUMBERS, make_items


def test_conditions_come_in_order_of_first_appearance():
    items = list(make_items("simple", {"N": 2}, ("plural", "singular")))
    assert index_materials(items).conditions(["simple"]) == ["plural", "singular"]


def test_a_frame_falls_into_slots_and_lemmas():
    assert lemmas_of("N=security_guard V=is_old") == {"N": "security_guard", "V": "is_old"}
    assert lemmas_of("17") == {"": "17"}


def test_the_catalogue_knows_the_identity_of_the_materials():
    assert index_materials(iter(MIXED_ITEMS)).materials_hash == materials_hash(MIXED_ITEMS)


def test_two_items_in_one_cell_are_refused():
    item = next(make_items("simple", {"N": 1}, NUMBERS))
    twin = replace(item, item_id="twin")
    with pytest.raises(DesignError, match='"simple-0-singular" and "twin" have the same frame'):
        index_materials([item, twin])


def test_pooled_templates_with_other_conditions_are_refused():
    items = [
        *make_items("living", {"N": 2}, ("past", "future")),
        *make_items("lifeless", {"N": 2}, ("past", "present")),
    ]
    with pytest.raises(DesignError, match='"lifeless" has the conditions past, present'):
        index_materials(items).conditions(["living", "lifeless"])


def test_an_unknown_template_answers_with_the_nearest():
    with pytest.raises(UnknownNameError, match=r'no template "simpel".*Did you mean "simple"'):
        index_materials(MIXED_ITEMS).conditions(["simpel"])
