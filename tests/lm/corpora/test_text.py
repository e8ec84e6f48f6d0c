"""The training text of the founding study: what a model of word sequences learns from it."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import pytest

import experiment
from experiment.grammar.grammar import Grammar, generate, load_grammar
from experiment.materials.render import render
from experiment.records import Item
from lm.corpora.text import count_words, encode
from lm.corpora.vocab import vocabulary_by_frequency
from lm.ngram.counts import count_ngrams
from lm.ngram.estimate import estimate
from lm.ngram.model import NgramScorer
from lm.text.grammar_file import load_text_grammar
from lm.text.sampler import sample

STUDY = Path(experiment.__file__).parent / "studies" / "marvin_linzen_2018"
TEMPLATES = ("simple_agrmt", "sent_comp", "vp_coord", "long_vp_coord", "prep_anim", "subj_rel")


@pytest.fixture(scope="module")
def grammar() -> Grammar:
    whole = load_grammar(STUDY / "grammar.toml")
    return replace(whole, templates=tuple(t for t in whole.templates if t.name in TEMPLATES))


@pytest.fixture(scope="module")
def items(grammar: Grammar) -> list[Item]:
    return list(generate(grammar))


@pytest.fixture(scope="module")
def render_tokens() -> Callable[[str], str]:
    return render("lower_case_tokens")


@pytest.fixture(scope="module")
def text(
    grammar: Grammar, items: list[Item], render_tokens: Callable[[str], str]
) -> list[list[str]]:
    lists: dict[str, tuple[str, ...]] = {}
    for name, lexicon in grammar.lexicon.items():
        keys = [f"{name}.{form}" for form in lexicon.forms] or [name]
        lists.update(zip(keys, zip(*lexicon.entries, strict=True), strict=True))
    never = {render_tokens(version) for item in items for version in (item.good, item.bad)}
    text_grammar = load_text_grammar(STUDY / "training_text.toml")
    drawn = list(sample(text_grammar, lists, 20_000, 1, never))
    assert never.isdisjoint(drawn)
    return [sentence.split() for sentence in drawn]


def test_every_word_of_the_materials_occurs(text: list[list[str]], grammar: Grammar):
    words = {
        word
        for lexicon in grammar.lexicon.values()
        for entry in lexicon.entries
        for form in entry
        for word in form.split()
    }
    assert words <= {word for sentence in text for word in sentence}


def test_words_agree_in_the_model_where_they_meet_and_nowhere_else(
    text: list[list[str]], items: list[Item], render_tokens: Callable[[str], str]
):
    vocabulary = vocabulary_by_frequency(count_words(text))
    counted = list(count_ngrams(encode(text, vocabulary), vocabulary, 5))
    model = NgramScorer(estimate(counted, vocabulary).table, name="5-gram", trained_on="text")

    def logprobs(versions: Iterable[str]) -> list[float]:
        requests = [("", render_tokens(version)) for version in versions]
        return [scores.logprobs_nats.sum() for scores in model.score(requests)]

    good, bad = logprobs(i.good for i in items), logprobs(i.bad for i in items)
    right: dict[str, list[bool]] = defaultdict(list)
    for item, of_good, of_bad in zip(items, good, bad, strict=True):
        right[item.template].append(of_good > of_bad)
    accuracy = {template: sum(of) / len(of) for template, of in right.items()}
    for local in ("simple_agrmt", "sent_comp", "vp_coord"):
        assert accuracy[local] > 0.9
    for distant in ("long_vp_coord", "prep_anim", "subj_rel"):
        assert 0.45 < accuracy[distant] < 0.55
