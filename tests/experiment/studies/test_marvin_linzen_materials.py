"""The Marvin & Linzen grammar generates the published data set, no more and no less."""

import hashlib
from collections import Counter

import pytest

from experiment.materials.read import load_items
from experiment.records import Item, Variant
from experiment.studies.load import load_study

STUDY = load_study("marvin_linzen_2018")
# Of the data set that the authors published, formed in the same way as below.
PUBLISHED_SHA256 = "72710614a0e24dd28494ab515c860bde5b5e1a36c6ce5ad13d64c2203d127b21"


@pytest.fixture(scope="module")
def items() -> list[Item]:
    return list(load_items(STUDY))


def versions(item: Item) -> list[str]:
    return [text for text in (item.good, item.bad, item.distractor) if text]


def test_the_items_are_the_published_ones(items: list[Item]):
    # One line per item: template, good, bad and distractor (which may be empty) joined by tabs;
    # the lines sorted and joined by newlines.
    lines = {"\t".join([i.template, i.good, i.bad, i.distractor]) for i in items}
    assert len(lines) == len(items)
    digest = hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()
    assert digest == PUBLISHED_SHA256


def test_there_are_as_many_items_and_sentences_as_published(items: list[Item]):
    sentences = [text for item in items for text in versions(item)]
    assert (len(items), len(sentences), len(set(sentences))) == (163_124, 337_072, 279_252)


def test_each_construction_has_as_many_sentences_as_table_1_prints(items: list[Item]):
    sentences: Counter[str] = Counter()
    for item in items:
        sentences[item.construction] += len(versions(item))
    assert sentences == {c.name: c.published_sentences for c in STUDY.constructions}


def test_there_are_22_templates_and_the_supplements_68_conditions(items: list[Item]):
    assert len({item.template for item in items}) == 22
    assert len({(item.construction, item.condition) for item in items}) == 68


def test_frames_of_a_template_stand_once_in_each_condition(items: list[Item]):
    assert len({(i.template, i.frame, i.condition) for i in items}) == len(items)


def test_people_judge_the_intrusive_version_only_across_a_relative_clause(items: list[Item]):
    contrasts = {(i.construction, i.contrast) for i in items if i.distractor}
    assert contrasts == {
        ("simple_npi", Variant.BAD),
        ("npi_across_relative", Variant.DISTRACTOR),
    }


# The supplement's own examples (A.2), one for each way in which a condition is named.
@pytest.mark.parametrize(
    ("construction", "condition", "good", "against"),
    [
        ("simple_agreement", "plural", "the authors laugh", "the authors laughs"),
        (
            "agreement_sentential_complement",
            "plural / singular",
            "the mechanics said the author laughs",
            "the mechanics said the author laugh",
        ),
        (
            "short_vp_coordination",
            "singular",
            "the author laughs and swims",
            "the author laughs and swim",
        ),
        (
            "agreement_across_prepositional_phrase",
            "plural (animate) / singular",
            "the authors next to the security guard smile",
            "the authors next to the security guard smiles",
        ),
        (
            "agreement_across_subject_relative",
            "singular / plural",
            "the author that likes the security guards laughs",
            "the author that likes the security guards laugh",
        ),
        (
            "agreement_across_object_relative",
            "singular (inanimate) / plural",
            "the movie that the security guards like is good",
            "the movie that the security guards like are good",
        ),
        (
            "agreement_in_object_relative_no_that",
            "plural (animate) / singular",
            "the authors the security guard likes laugh",
            "the authors the security guard like laugh",
        ),
        (
            "reflexive_sentential_complement",
            "singular / plural",
            "the mechanic said the authors hurt themselves",
            "the mechanic said the authors hurt himself",
        ),
        (
            "reflexive_across_relative",
            "singular / plural",
            "the author that the security guards like injured himself",
            "the author that the security guards like injured themselves",
        ),
        (
            "simple_npi",
            "past tense",
            "no authors have ever been famous",
            "most authors have ever been famous",
        ),
        (
            "npi_across_relative",
            "future tense",
            "no authors that the security guards like will ever be famous",
            "the authors that no security guards like will ever be famous",
        ),
    ],
)
def test_the_supplements_examples_stand_in_their_conditions(
    items: list[Item], construction: str, condition: str, good: str, against: str
):
    found = [
        item.condition
        for item in items
        if (item.construction, item.good, item.alternative) == (construction, good, against)
    ]
    assert found == [condition]
