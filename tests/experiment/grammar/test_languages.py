"""The grammars in docs/grammars make the sentences that their languages' sets have."""
# ruff: noqa: RUF001 - letters of other scripts

import hashlib
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from experiment.grammar.grammar import generate, load_grammar
from experiment.records import Item

FOLDER = Path(__file__).parents[3] / "docs" / "grammars"
# Of the set published as CLAMS, for the constructions of each language in which its sentences are
# those of the grammar: the number of its pairs, and the SHA-256 of the lines "construction, good,
# bad", joined by tabs, sorted and joined by newlines. The published sentences are written in the
# ordinary way first: without spaces before commas, after apostrophes and after Hebrew prefixes.
PUBLISHED = {
    "english": (
        51_780,
        "71dffdb5ce0b913cce219e76a8eb80961344aaeeefcc72176dc8521855cb9d22",
    ),
    "french": (
        49_360,
        "34b9a609b8d597d704cab9ef9f8841bf098b304d5b01617c9be6e76845f6b191",
    ),
    "german": (
        24_020,
        "8ccf41d7c4d69946144e4397f89954fd9f5485724e1578a5c54d3651c4d64454",
    ),
    "russian": (
        24_160,
        "579a22858963b7a4840105daab46c99a921902e39d8554f2b43d79271af9e15d",
    ),
    "hebrew": (
        40_820,
        "f8a76bf0d57ef06cddc1c387e2d8cd685075905ecc5c7fc68a2ac963c42b33ec",
    ),
}
DIFFERENT = {
    "german": ["across_prepositional_phrase", "across_subject_relative"],
    "russian": ["across_prepositional_phrase", "across_subject_relative"],
}
OF_OUR_OWN = ("gender_agreement",)


@cache
def items_of(language: str) -> list[Item]:
    return list(generate(load_grammar(FOLDER / f"{language}.toml")))


def test_every_grammar_can_be_read_by_a_linguist_and_makes_items():
    for path in FOLDER.glob("*.toml"):
        assert len(path.read_text("utf-8").splitlines()) <= 150, path.name


@pytest.mark.parametrize("language", PUBLISHED)
def test_the_sentences_are_the_published_ones(language: str):
    left_out = (*DIFFERENT.get(language, ()), *OF_OUR_OWN)
    lines = sorted(
        f"{item.construction}\t{item.good}\t{item.bad}"
        for item in items_of(language)
        if item.construction not in left_out
    )
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    assert (len(lines), digest) == PUBLISHED[language]


def test_german_nouns_have_their_case_where_the_published_set_lacks_it():
    goods = {item.good for item in items_of("german")}
    assert "die Schriftsteller vor den Wächtern sind alt" in goods
    assert "der Schriftsteller, der den Architekten mag, schwimmt" in goods
    assert "der Pilot in der Nähe vom Vater lacht" in goods


def test_russian_pairs_with_a_noun_that_the_published_set_leaves_out():
    numbers = Counter(item.construction for item in items_of("russian"))
    # 10 subjects, 10 nouns, 7 verbs, 4 conditions; 3 prepositions or 4 embedded verbs. The
    # published set has 7 and 9 of the nouns.
    assert numbers["across_prepositional_phrase"] == 10 * 10 * 7 * 4 * 3
    assert numbers["across_subject_relative"] == 10 * 10 * 7 * 4 * 4


@pytest.mark.parametrize(
    ("language", "good", "bad"),
    [
        ("french", "la chanson de l'auteur est petite", "la chanson de l'auteur est petit"),
        ("russian", "новая игра", "новое игра"),
        ("hebrew", "המלצרית מאחורי השומר רוקדת", "המלצרית מאחורי השומר רוקד"),
        ("turkish", "bizim gözlerimizde", "bizim gözlerinizde"),
        ("turkish", "siz dün baktınız", "siz dün baktık"),
        ("turkish", "benim arabam", "benim araban"),
        ("turkish", "sen geç saatte yürüdün", "sen geç saatte yürüdünüz"),
        ("chinese", "老师买了三张地图", "老师买了三只地图"),
        ("chinese", "医生画了五只猫", "医生画了五本猫"),
    ],
)
def test_each_language_makes_its_contrast(language: str, good: str, bad: str):
    assert (good, bad) in {(item.good, item.bad) for item in items_of(language)}


def test_numbers_of_items_of_our_own_constructions():
    def number(language: str) -> int:
        return sum(item.construction in OF_OUR_OWN for item in items_of(language))

    # Three things and a predicate that differs between genders, in two numbers.
    assert number("french") == 3 * 1 * 2
    # Six nouns that are not neuter, two adjectives, in the singular.
    assert number("russian") == 6 * 2
    # Six persons, two prepositions, ten nouns, two verbs that differ between genders, two numbers.
    assert number("hebrew") == 6 * 2 * 10 * 2 * 2
    # Three persons and numbers each: 4 conditions of 3 adverbs and 6 verbs, twice; 7 nouns, twice.
    assert len(items_of("turkish")) == 4 * (3 * 6 * 2 + 7 * 2)
    # 10 constructions: 6 persons, 4 verbs; 4 things whose number shows, of 5; see the file.
    numbers = Counter(item.construction for item in items_of("ten_paradigms"))
    assert numbers == {
        "anaphor_gender_agreement": 6 * 4,
        "anaphor_number_agreement": 6 * 4 * 2,
        "determiner_noun_agreement": 6 * 4 * 2 * 4 * 2,
        "determiner_noun_agreement_with_adjective": 6 * 4 * 2 * 3 * 4 * 2,
        "distractor_agreement": 6 * 3 * 4 * 5 * 2,
        "irregular_forms": 6 * 4 * 5,
        "argument_structure": 6 * 4 * 4 * 5 * 2,
        "existential_there": 3 * 6 * 4 * 5,
        "npi_licensing": 6 * 4 * 5,
        "filler_gap_dependency": 6 * 3 * 5 * 4 * 5,
    }
    # 4 subjects, 3 verbs, 3 numbers; 9 things and 3 animals; things with 2 adjectives.
    assert len(items_of("chinese")) == 4 * 3 * 3 * (9 + 3 + 9 * 2)
