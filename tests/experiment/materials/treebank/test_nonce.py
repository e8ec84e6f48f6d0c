"""Original and nonce test sentences."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from experiment.errors import MaterialsError
from experiment.materials.treebank.agreement_test import NONCE, ORIGINAL, AgreementTest, make_item
from experiment.materials.treebank.build import (
    CONTENT,
    AnyWord,
    TestSet,
    build_test_set,
    read_vocabulary,
)
from experiment.materials.treebank.conllu import Sentence, Token, flip_number_feature, read_treebank
from experiment.materials.treebank.constructions import (
    PAPER,
    PUBLISHED_CODE,
    Conventions,
)
from experiment.materials.treebank.originals import (
    Paradigms,
    class_of,
    count_attractors,
    describe_first_letter,
)
from experiment.records import Kind
from tests.experiment.materials.treebank.treebanks import needs_parts, sample, small_parts

BOTH = [PAPER, PUBLISHED_CODE]


def made(sentences: Sequence[Sentence], conventions: Conventions = PAPER, seed: int = 1) -> TestSet:
    return build_test_set(sentences, AnyWord(), conventions, seed, with_fillers=True)


@cache
def of_sample(conventions: Conventions) -> TestSet:
    return made(sample(), conventions)


def by_original(
    tests: Sequence[AgreementTest], sentences: Sequence[Sentence]
) -> list[tuple[Sentence, AgreementTest]]:
    """Each nonce test next to the annotated sentence that it was made from."""
    words = {tuple(token.form for token in s.tokens): s for s in sentences}
    originals = {
        (test.construction, test.instance): words[test.words] for test in tests if not test.version
    }
    return [(originals[test.construction, test.instance], test) for test in tests if test.version]


def assert_nonce_sentences_are_faithful(
    sentences: Sequence[Sentence], tests: Sequence[AgreementTest], conventions: Conventions
) -> None:
    """Length, function words, morphology, beginnings and the agreement are the original's."""
    paradigms = Paradigms(sentences)
    pairs = by_original(tests, sentences)
    assert pairs
    for sentence, test in pairs:
        assert len(test.words) == len(sentence.tokens)
        for token, word in zip(sentence.tokens, test.words, strict=True):
            assert describe_first_letter(word) == describe_first_letter(token.form)
            if token.upos not in CONTENT:
                assert word == token.form
            elif word != token.form:
                entry = class_of(token)
                if not conventions.attached_alike:
                    entry = entry._replace(attached="")
                assert paradigms.by_entry[entry][word] > 1
                assert paradigms.other_pos_share(word, token.upos) <= conventions.other_pos_share
        assert_target_agrees(sentence.tokens, test, paradigms)


def assert_target_agrees(
    tokens: Sequence[Token], test: AgreementTest, paradigms: Paradigms
) -> None:
    target = tokens[test.target]
    assert test.words[test.target] == test.good != test.bad
    feats = flip_number_feature(target.feats)
    assert any(reading == (target.upos, feats) for reading in paradigms.readings[test.bad]), (
        "the other form differs in number alone"
    )
    if test.cue >= 0:
        assert f"Number={test.number.capitalize()}" in tokens[test.cue].feats.split("|")


@pytest.mark.parametrize("conventions", BOTH, ids=["paper", "published_code"])
def test_nonce_sentences_keep_all_but_the_content_words(conventions: Conventions):
    made_tests = of_sample(conventions)
    tests = [*made_tests.targets, *made_tests.fillers]
    assert_nonce_sentences_are_faithful(sample(), tests, conventions)


@pytest.mark.parametrize("conventions", [replace(PAPER, least_of_each_number=6), PUBLISHED_CODE])
def test_nonce_sentences_of_a_whole_treebank_do_too(
    web_treebank: list[Sentence], conventions: Conventions
):
    tests = made(web_treebank, conventions).targets
    assert_nonce_sentences_are_faithful(web_treebank, tests, conventions)


@needs_parts
@pytest.mark.parametrize("conventions", BOTH, ids=["paper", "published_code"])
def test_nonce_sentences_with_pronouns_merged_into_verbs_do_too(conventions: Conventions):
    sentences = list(read_treebank(small_parts("italian", "it")))
    tests = made(sentences, replace(conventions, least_of_each_number=4))
    assert_nonce_sentences_are_faithful(sentences, tests.targets, conventions)
    assert_nonce_sentences_are_faithful(sentences, tests.fillers, conventions)


def test_every_original_has_nine_nonce_sentences_and_a_filler():
    tests = of_sample(PAPER)
    assert len(tests.targets) == len(tests.fillers) == 80 * 10
    assert [test.version for test in tests.targets[:10]] == list(range(10))
    assert {test.condition for test in tests.targets} == {ORIGINAL, NONCE}


def test_the_same_seed_gives_the_same_sentences_and_another_seed_others():
    again, other = made(sample(), seed=1), made(sample(), seed=2)
    assert again == of_sample(PAPER)
    assert other.targets != again.targets


def test_an_original_does_not_depend_on_the_seed():
    ones = [test for test in made(sample(), seed=2).targets if not test.version]
    assert ones == [test for test in of_sample(PAPER).targets if not test.version]


def test_fillers_come_from_other_sentences_and_half_of_them_are_controls():
    tests = of_sample(PAPER)
    targets = {test.words for test in tests.targets if not test.version}
    fillers = [test for test in tests.fillers if not test.version]
    assert targets.isdisjoint(test.words for test in fillers)
    kinds = [test.kind for test in fillers]
    assert (kinds.count(Kind.CATCH), kinds.count(Kind.FILLER)) == (40, 40)


def test_a_control_has_a_determiner_that_shows_the_number():
    sentences = {tuple(token.form for token in s.tokens): s for s in sample()}
    for test in of_sample(PAPER).fillers:
        if test.kind is Kind.CATCH and not test.version:
            tokens = sentences[test.words].tokens
            number = f"Number={test.number.capitalize()}"
            assert any(
                t.upos == "DET" and t.head == test.target and number in t.feats
                for t in tokens[: test.target]
            )


def test_an_item_is_the_prefix_and_the_two_forms():
    test = of_sample(PAPER).targets[0]
    made_item = make_item(test)
    assert made_item.context.split() == list(test.words[: test.target])
    assert (made_item.good, made_item.bad) == (test.good, test.bad)
    assert made_item.item_id == "L__DET_ADJ_NOUN-0-0"
    assert made_item.template == "L__DET_ADJ_NOUN_original"
    assert "attractors=0" in made_item.features.split()
    assert make_item(test, pooled=True).template == "all_original"


def test_ids_and_frames_are_unique():
    tests = of_sample(PAPER)
    items = [make_item(test, pooled=True) for test in (*tests.targets, *tests.fillers)]
    assert len({i.item_id for i in items}) == len({i.frame for i in items}) == len(items)


def test_attractors_have_the_cues_tag_and_the_other_number(italian_sample: list[Sentence]):
    found = {
        " ".join(test.words): test.attractors
        for test in of_sample(PAPER).targets
        if not test.version and test.construction == "R__NOUN_NOUN_VERB"
    }
    assert found["Il direttore guarda il quadro dei pittori giovani dipinto in silenzio ."] == 1
    assert found["La signora compra la torta della nonna anziana preparata con calma ."] == 0


def test_as_published_code_an_ambiguous_word_attracts_by_any_frequent_reading():
    def token(form: str, feats: str) -> Token:
        return Token(form, form, "NOUN", "S", feats, -1, "dep")

    plural, singular = token("città", "Number=Plur"), token("città", "Number=Sing")
    cue, target = token("casa", "Number=Sing"), token("cane", "Number=Sing")
    tokens = (cue, singular, target)
    paradigms = Paradigms([Sentence((*tokens, plural), "x:1")])
    assert count_attractors(tokens, 0, 2, paradigms, PAPER) == 0
    assert count_attractors(tokens, 0, 2, paradigms, PUBLISHED_CODE) == 1


def test_words_outside_the_vocabulary_neither_stand_in_tests_nor_replace_others():
    sentences = sample()
    words = {token.form for sentence in sentences for token in sentence.tokens} - {"torta", "libri"}
    tests = build_test_set(sentences, words, PAPER, 1, with_fillers=False)
    assert len(tests.targets) < len(of_sample(PAPER).targets)
    assert all({*test.words[test.cue : test.target], test.bad} <= words for test in tests.targets)


def test_a_vocabulary_that_excludes_everything_is_refused_with_counts():
    with pytest.raises(MaterialsError, match=r"no sentence can be tested.*in the vocabulary: 0"):
        build_test_set(sample(), {"altro"}, PAPER, 1, with_fillers=False)


def test_a_vocabulary_is_the_first_word_of_each_line(tmp_path: Path):
    path = tmp_path / "vocab.txt"
    path.write_text("casa 12\ncittà\n\n", encoding="utf-8")
    assert read_vocabulary(path) == {"casa", "città"}
    path.write_text("\n")
    with pytest.raises(MaterialsError, match="empty"):
        read_vocabulary(path)
    with pytest.raises(MaterialsError, match="cannot be read"):
        read_vocabulary(tmp_path / "none.txt")


def test_without_a_vocabulary_every_word_is_known():
    assert "qualunque" in read_vocabulary(None)


@pytest.mark.parametrize(
    ("form", "capital", "vowel"),
    [("Èlite", True, True), ("isola", False, True), ("Casa", True, False), ("12", False, False)],
)
def test_a_beginning_is_capital_and_vowel(form: str, capital: bool, vowel: bool):
    assert describe_first_letter(form) == (capital, vowel)
