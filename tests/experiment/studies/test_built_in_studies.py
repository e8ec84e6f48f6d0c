"""What every study that ships with Parallax keeps."""

import pytest

from experiment.grammar.grammar import load_grammar
from experiment.materials.checks import Result, check_items
from experiment.materials.read import load_items
from experiment.materials.render import render
from experiment.studies.load import built_in_studies, load_study
from experiment.studies.study import Study


@pytest.mark.parametrize("name", built_in_studies())
def test_a_built_in_study_is_sound(name: str):
    study = load_study(name)
    assert study.name == name
    render(study.materials.shown_to_people)
    render(study.materials.given_to_models)
    assert all(f.result is Result.PASSED for f in check_items(load_items(study)))


WHOM_TO_ASK_AND_HOW_TO_STOP = {
    "en": (
        "write to the contact below",
        "voluntary",
        "with *Stop taking part*",
    ),
    "it": (
        "al contatto indicato qui sotto",
        "volontaria",
        "con *Smettere di partecipare*",
    ),
}


def conditions_by_template(study: Study) -> dict[str, int]:
    if study.materials.grammar:
        grammar = load_grammar(study.grammar_path)
        # Without inherent features, all frames of a template have the same conditions.
        return {t.name: len(cells) for t in grammar.templates for cells in t.cells.values()}
    conditions: dict[str, set[str]] = {}
    for item in load_items(study):
        conditions.setdefault(item.template, set()).add(item.condition)
    return {template: len(names) for template, names in conditions.items()}


@pytest.mark.parametrize("name", built_in_studies())
def test_templates_and_constructions_are_the_ones_that_the_design_uses(name: str):
    study = load_study(name)
    squares = [template for square in study.design.squares for template in square.templates]
    assert sorted(squares) == sorted(conditions_by_template(study))
    used = {item.construction for item in load_items(study)}
    assert used == {construction.name for construction in study.constructions}


@pytest.mark.parametrize("name", built_in_studies())
def test_templates_kept_apart_have_the_slots_that_keep_them_apart(name: str):
    study = load_study(name)
    if not study.design.disjoint:
        return
    templates = {template.name: template for template in load_grammar(study.grammar_path).templates}
    for group in study.design.disjoint:
        for template in group.templates:
            assert set(group.slots) <= set(templates[template].slots)


@pytest.mark.parametrize("name", built_in_studies())
def test_no_list_needs_a_frame_twice(name: str):
    study = load_study(name)
    design = study.design
    conditions = conditions_by_template(study)
    trials = 0
    for square in design.squares:
        frames = square.frames or design.lists
        assert frames % design.lists == 0
        number = conditions[square.templates[0]]
        assert number <= design.lists
        trials += frames * number // design.lists
    assert trials == design.trials_per_list


@pytest.mark.parametrize("name", built_in_studies())
def test_the_simulated_shares_sum_to_one(name: str):
    assert sum(load_study(name).simulation.mix.values()) == pytest.approx(1)


@pytest.mark.parametrize("name", built_in_studies())
def test_the_consent_page_says_whom_to_ask_and_that_one_may_stop(name: str):
    study = load_study(name)
    text = " ".join(study.text("consent").split())
    assert all(words in text for words in WHOM_TO_ASK_AND_HOW_TO_STOP[study.study.language])


@pytest.mark.parametrize(
    "point",
    [
        "two sentences",
        "both of them carefully",
        "more acceptable",
        "you would choose the first",
        "grammatical mistake",
        "click",
        "**1** for the upper one and **2** for the lower one",
        "accuracy counts, not speed",
        "your submission is accepted if you read every sentence and choose with care",
    ],
)
def test_the_instructions_make_every_point_of_the_papers(point: str):
    text = " ".join(load_study("marvin_linzen_2018").text("instructions").split())
    assert point in text.lower()
