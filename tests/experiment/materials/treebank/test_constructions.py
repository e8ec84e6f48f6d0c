"""Finding constructions that agree in number."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from experiment.errors import MaterialsError
from experiment.materials.treebank.build import constructions_of
from experiment.materials.treebank.conllu import Sentence, mark_verb_number, read_treebank
from experiment.materials.treebank.constructions import (
    PAPER,
    PUBLISHED_CODE,
    conditional_entropy_bits,
    extract,
)
from tests.experiment.materials.treebank.treebanks import needs_parts, small_parts, written

LOW = replace(PAPER, least_of_each_number=1)


def clause(path: Path, distance: int, other: str = "Sing", head_of_filler: int = 1) -> Sentence:
    """A subject and its verb that many words apart, with adverbs between."""
    last = distance + 1
    between = [f"{index} sempre sempre ADV B _ {head_of_filler} advmod" for index in range(2, last)]
    rows = [
        f"1 cane cane NOUN S Number=Sing {last} nsubj",
        *between,
        f"{last} dorme dormire VERB V Number={other} 0 root",
        f"{last + 1} . . PUNCT F _ {last} punct",
        "",
    ]
    (sentence,) = read_treebank([written(path / f"{distance}.conllu", *rows)])
    return sentence


def numbers(sentences: list[Sentence]) -> Counter[str]:
    return Counter(extract(sentences, LOW).remaining)


@pytest.mark.parametrize(("distance", "found"), [(3, 0), (4, 1), (14, 1), (15, 0)])
def test_only_dependencies_of_the_right_distance_count(tmp_path: Path, distance: int, found: int):
    sentence = clause(tmp_path, distance)
    assert numbers([sentence])["dependencies of the right distance"] == found


def test_a_dependency_over_a_word_from_outside_is_not_projective(tmp_path: Path):
    inside, outside = clause(tmp_path, 5), clause(tmp_path, 5, head_of_filler=7)
    assert numbers([inside])["projective dependencies"] == 1
    tokens = list(outside.tokens)
    tokens[2] = tokens[2]._replace(head=-1)
    assert numbers([Sentence(tuple(tokens), "x:1")])["projective dependencies"] == 0


def test_a_circle_in_a_faulty_tree_ends(tmp_path: Path):
    tokens = list(clause(tmp_path, 5).tokens)
    tokens[1] = tokens[1]._replace(head=2)
    tokens[2] = tokens[2]._replace(head=1)
    assert numbers([Sentence(tuple(tokens), "x:1")])["projective dependencies"] == 0


def test_the_tags_between_are_those_of_words_that_depend_on_cue_or_target(
    italian_sample: list[Sentence],
):
    names = {pattern.name for pattern in extract(italian_sample, PAPER).constructions}
    assert names == {
        "L__DET_ADJ_NOUN",
        "L__NOUN_VERB_VERB",
        "R__NOUN_NOUN_VERB",
        "R__VERB_NOUN_CCONJ_VERB",
    }


def test_every_instance_kept_agrees(italian_sample: list[Sentence]):
    for candidate in extract(italian_sample, PAPER).constructions.values():
        assert set(candidate.numbers) == {("Sing", "Sing"), ("Plur", "Plur")}
        assert len(candidate.agreeing) == 20


@pytest.mark.parametrize(
    ("pairs", "bits"),
    [
        ({("Sing", "Sing"): 10, ("Plur", "Plur"): 10}, 0),
        ({("Sing", "Sing"): 10, ("Plur", "Plur"): 10, ("Sing", "Plur"): 1}, 0),
        ({("Sing", "Sing"): 10, ("Plur", "Sing"): 10}, 1),
        ({}, 0),
    ],
)
def test_the_entropy_ignores_pairs_seen_once(pairs: dict[tuple[str, str], int], bits: float):
    assert conditional_entropy_bits(pairs) == pytest.approx(bits)


def test_a_pattern_that_disagrees_twice_is_no_agreement(tmp_path: Path):
    agreeing = [clause(tmp_path, 5)] * 10
    plural = [
        Sentence(
            tuple(t._replace(feats=t.feats.replace("Sing", "Plur")) for t in sentence.tokens), "x:1"
        )
        for sentence in agreeing
    ]
    once, twice = ([clause(tmp_path, 5, other="Plur")] * n for n in (1, 2))
    assert len(extract([*agreeing, *plural, *once], PAPER).constructions) == 1
    assert not extract([*agreeing, *plural, *twice], PAPER).constructions


def test_numbers_that_are_always_opposite_are_no_agreement(tmp_path: Path):
    opposite = [clause(tmp_path, 5, other="Plur")] * 12
    turned = [
        Sentence(
            tuple(
                t._replace(feats={"Number=Sing": "Number=Plur"}.get(t.feats, "Number=Sing"))
                if t.feats != "_"
                else t
                for t in sentence.tokens
            ),
            "x:1",
        )
        for sentence in opposite
    ]
    assert not extract([*opposite, *turned], LOW).constructions


def test_a_treebank_without_number_is_refused_with_counts(tmp_path: Path):
    sentence = clause(tmp_path, 5)
    bare = Sentence(tuple(token._replace(feats="_") for token in sentence.tokens), "x:1")
    with pytest.raises(MaterialsError, match=r"both marked for number.*words: 7"):
        constructions_of([bare], PAPER)


def test_a_treebank_without_constructions_is_refused_with_counts(tmp_path: Path):
    with pytest.raises(MaterialsError, match=r"no construction agrees.*patterns: 1"):
        constructions_of([clause(tmp_path, 5)], PAPER)


@pytest.mark.parametrize(
    ("form", "xpos", "feats", "expected"),
    [
        (
            "sees",
            "VBZ",
            "Mood=Ind|Number=Sing|Person=3|Tense=Pres",
            "Mood=Ind|Number=Sing|Tense=Pres",
        ),
        ("see", "VBP", "Mood=Ind|Tense=Pres", "Mood=Ind|Number=Plur|Tense=Pres"),
        (
            "see",
            "VBP",
            "Mood=Ind|Number=Sing|Person=1|Tense=Pres",
            "Mood=Ind|Number=Plur|Tense=Pres",
        ),
        ("am", "VBP", "Mood=Ind|Tense=Pres", "Mood=Ind|Number=Sing|Tense=Pres"),
        ("saw", "VBD", "Mood=Ind|Number=Sing|Person=3|Tense=Past", "Mood=Ind|Tense=Past"),
        ("were", "VBD", "Mood=Ind|Tense=Past", "Mood=Ind|Number=Plur|Tense=Past"),
        ("see", "VB", "VerbForm=Inf", "VerbForm=Inf"),
    ],
)
def test_english_verbs_get_the_number_that_their_form_shows(
    tmp_path: Path, form: str, xpos: str, feats: str, expected: str
):
    path = written(tmp_path / "a.conllu", f"1 {form} see VERB {xpos} {feats} 0 root", "")
    ((token,),) = (mark_verb_number(sentence).tokens for sentence in read_treebank([path]))
    assert token.feats == expected


def test_english_nouns_keep_their_features(tmp_path: Path):
    path = written(tmp_path / "a.conllu", "1 cats cat NOUN NNS Number=Plur 0 root", "")
    (sentence,) = read_treebank([path])
    assert mark_verb_number(sentence) == sentence


def test_the_english_web_treebank_has_the_papers_two_constructions_and_no_other(
    web_treebank: list[Sentence],
):
    found = extract(web_treebank, PUBLISHED_CODE).constructions
    assert {pattern.name for pattern in found} == {"L__NOUN_VERB_VERB", "R__VERB_NOUN_CCONJ_VERB"}
    assert [len(candidate.agreeing) for candidate in found.values()] == [16, 30]


def test_at_the_papers_threshold_one_of_the_two_is_left(web_treebank: list[Sentence]):
    found = extract(web_treebank, PAPER).constructions
    assert [pattern.name for pattern in found] == ["R__VERB_NOUN_CCONJ_VERB"]


@needs_parts
def test_the_italian_parts_have_subject_verb_agreement_across_a_noun():
    sentences = list(read_treebank(small_parts("italian", "it")))
    found = extract(sentences, PUBLISHED_CODE).constructions
    assert {p.name: len(c.agreeing) for p, c in found.items()} == {"L__NOUN_NOUN_VERB": 18}
