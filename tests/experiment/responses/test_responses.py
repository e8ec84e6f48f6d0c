"""What every type of response does, and what each of them shows."""

from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import BaseModel, Field

from experiment.errors import PluginError, StudyError, UnknownNameError
from experiment.materials.render import sentence_case
from experiment.records import Item, Kind, Side, Variant
from experiment.responses.base import Shown
from experiment.responses.choice.choice import SentencePair, order_by_side
from experiment.responses.registry import (
    RESPONSE_TYPES,
    answer_keys,
    load_response,
    tables_shown,
)
from experiment.studies.load import load_study
from experiment.studies.study import Trials
from experiment.tables.schemas import RESPONSES

TEMPLATES = Path(__file__).parents[3] / "webapp" / "participant" / "responses"
ITEM = Item(
    item_id="npi-1",
    kind=Kind.TARGET,
    construction="npi",
    condition="past",
    template="npi",
    features="",
    frame="MS=author",
    context="no authors",
    good="have ever been famous",
    bad="had ever been famous",
    distractor="has ever been famous",
)


class Whispered(SentencePair):
    """A type of response of a user's own, with a parameter."""

    name = "whispered"
    mark: str = Field(default="psst", description="what comes before each option")

    def show(self, item, good_side, render) -> Shown:
        return Shown(
            *order_by_side(f"{self.mark} {item.good}", f"{self.mark} {item.bad}", good_side)
        )


OWN = f"{__name__}:Whispered"
# What a type cannot be without.
LEAST = {
    "mixed": {"tasks": {name: {"response": name} for name in ("rating", "sentence_pair")}},
    "scales": {"scales": {name: {"question": name} for name in ("natural", "likely")}},
}


@pytest.fixture(scope="module")
def minimal_study():
    return load_study("minimal")


@pytest.fixture(params=[*RESPONSE_TYPES, OWN])
def present(request):
    return load_response(request.param, LEAST.get(request.param, {}))


@pytest.mark.parametrize("name", [*RESPONSE_TYPES])
def test_a_type_of_response_bears_the_name_it_is_registered_under(name: str):
    assert load_response(name, LEAST.get(name, {})).name == name


def test_its_parameters_are_a_model_that_explains_them(present):
    assert isinstance(present, BaseModel)
    assert all(field.description for field in type(present).model_fields.values())


def test_the_part_of_the_page_that_shows_it_is_there(present):
    text = (TEMPLATES / present.template).read_text(encoding="utf-8")
    parts = ("options.html", "data-side", "reading/question.html", "rating/scale.html")
    assert any(part in text for part in parts) or present.types


def test_its_columns_are_exported_and_its_numbers_have_units(present):
    own = set(tables_shown(present)[1].columns) - set(RESPONSES.columns)
    assert own <= set(present.columns)
    assert {"chosen_side", "chose_good", "rt_ms"} <= {column.name for column in present.columns}
    assert all(column.unit for column in present.columns if column.type in ("number", "integer"))


def test_it_says_how_long_people_take(present):
    assert 100 < present.typical_rt_ms < 100_000


@pytest.mark.parametrize("present", ["sentence_pair", "prefix_completion", OWN], indirect=True)
def test_good_stands_where_the_trial_says(present):
    first = present.show(ITEM, Side.FIRST, sentence_case)
    second = present.show(ITEM, Side.SECOND, sentence_case)
    assert (first.first, first.second) == (second.second, second.first)
    assert first.first != first.second
    assert first.prefix == second.prefix
    assert first.texts == second.texts


@pytest.mark.parametrize("name", ["sentence_pair", "prefix_completion"])
def test_the_contrast_decides_what_stands_against_good(name: str):
    present = load_response(name, {})
    bad = present.show(ITEM, Side.FIRST, str)
    distractor = present.show(replace(ITEM, contrast=Variant.DISTRACTOR), Side.FIRST, str)
    assert bad.first == distractor.first
    assert bad.second != distractor.second


def test_a_sentence_pair_is_rendered_and_begins_with_the_context():
    present = load_response("sentence_pair", {})
    assert present.show(ITEM, Side.SECOND, sentence_case) == Shown(
        "No authors had ever been famous.", "No authors have ever been famous."
    )


def test_a_sentence_pair_needs_no_context():
    item = replace(ITEM, context="", good="the author laughs", bad="the author laugh")
    present = load_response("sentence_pair", {})
    assert present.show(item, Side.FIRST, sentence_case) == Shown(
        "The author laughs.", "The author laugh."
    )


def test_a_prefix_stands_above_two_completions():
    present = load_response("prefix_completion", {})
    assert present.show(ITEM, Side.SECOND, sentence_case) == Shown(
        "had ever been famous", "have ever been famous", "No authors"
    )


def test_a_completion_without_a_prefix_is_refused():
    present = load_response("prefix_completion", {})
    with pytest.raises(StudyError, match='"npi-1" has no context'):
        present.show(replace(ITEM, context=""), Side.FIRST, sentence_case)


def test_a_type_of_response_of_ones_own_takes_its_parameters_from_the_study():
    present = load_response(OWN, {"mark": "hush"})
    assert present.show(ITEM, Side.FIRST, str).first == "hush have ever been famous"


@pytest.mark.parametrize("name", ["sentence_pair", OWN])
def test_an_unknown_parameter_is_refused_by_name(name: str):
    with pytest.raises(StudyError, match=r"wrong parameters: colour is unknown"):
        load_response(name, {"colour": "red"})


@pytest.mark.parametrize("name", ["nothere.nor_here:Class", f"{__name__}:Nothing", ":", "a:b:c"])
def test_a_type_of_response_that_cannot_be_imported_is_a_clear_paragraph(name: str):
    with pytest.raises(PluginError, match="cannot be imported"):
        load_response(name, {})


def test_an_unknown_type_of_response_answers_with_the_known_ones():
    with pytest.raises(UnknownNameError, match=r"no type of response .*one of: .*sentence_pair"):
        load_response("sentence", {})


def test_options_stand_below_their_beginning_with_the_good_one_in_its_place():
    present = load_response("option_list", {})
    assert present.show(ITEM, Side.THIRD, sentence_case) == Shown(
        "had ever been famous", "has ever been famous", "No authors", ("have ever been famous",)
    )
    assert present.versions(ITEM) == ("good", "bad", "distractor")
    assert present.show_options(ITEM, ["bad", "good"], str).options == (
        "had ever been famous", "have ever been famous",
    )  # fmt: skip


def test_options_may_be_whole_sentences_and_columns_of_ones_own():
    item = replace(ITEM, distractor="", extra=(("odd", "were had famous"),))
    present = load_response("option_list", {"against": ["odd", "bad"], "whole_sentences": True})
    assert present.show(item, Side.FIRST, sentence_case) == Shown(
        "No authors have ever been famous.",
        "No authors were had famous.",
        more=("No authors had ever been famous.",),
    )


@pytest.mark.parametrize("alone", [{"bad": "", "distractor": ""}, {"bad": ITEM.good}])
def test_options_that_are_one_or_the_same_are_refused(alone):
    with pytest.raises(StudyError, match=r'"npi-1" has (only one option|two options)'):
        load_response("option_list", {}).versions(replace(ITEM, **alone))


def test_one_version_is_rated_at_a_time():
    present = load_response("rating", {"points": 5})
    assert present.show(ITEM, Side.FIRST, sentence_case).options == (
        "No authors have ever been famous.",
    )
    assert present.show(ITEM, Side.SECOND, sentence_case).options == (
        "No authors had ever been famous.",
    )
    assert present.versions(replace(ITEM, bad="")) == ("good",)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"labels": ["bad", "good"]}, "wrong parameters: labels has 2 texts for 3 points"),
        ({"labels": ["bad", " ", "good"]}, "wrong parameters: labels has an empty text"),
        ({"labels": ["bad", "so-so", "good"], "lowest": "bad"}, "leave lowest and highest out"),
    ],
)
def test_each_point_has_a_label_or_none_has(given, told):
    with pytest.raises(StudyError, match=told):
        load_response("rating", {"points": 3, **given})


@pytest.mark.parametrize(
    ("name", "keys"), [("rating", 7), ("option_list", 3), ("sentence_pair", 2)]
)
def test_digits_choose_the_answers_where_the_study_names_no_keys(name, keys, minimal_study):
    present = load_response(name, {})
    assert answer_keys(minimal_study, present) == tuple(map(str, range(1, keys + 1)))
    named = minimal_study.model_copy(update={"trial": Trials(keys=("f", "j"))})
    if keys == 2:
        assert answer_keys(named, present) == ("f", "j")
    else:
        with pytest.raises(StudyError, match=f"2 keys choose among {keys} answers"):
            answer_keys(named, present)


@pytest.mark.parametrize(
    ("against", "told"),
    [
        (["good", "bad"], "good is always one of the options: name only the others"),
        (["bad", "bad"], "a column is given twice in against"),
    ],
)
def test_an_option_stands_once_against_another_one(against, told):
    with pytest.raises(StudyError, match=told):
        load_response("option_list", {"against": against})
