"""Catch trials of a treebank's own sentences: all words in reversed order."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from experiment.materials.treebank.conllu import Sentence, Token
from experiment.materials.treebank.pairs.forms import Forms
from experiment.materials.treebank.pairs.order import Orders, find_orders
from experiment.materials.treebank.pairs.pairs import Wishes, is_suitable
from experiment.seeds import generator

REVERSED_ORDER = "reversed_order"
# Words that are certainly on the wrong side of their nouns, where all words are reversed.
_LEAST_MISPLACED = 2


def choose_catch_sentences(
    sentences: Sequence[Sentence],
    used: Iterable[Sentence],
    forms: Forms,
    wishes: Wishes,
    number: int,
    seed: int,
) -> list[Sentence]:
    """Return sentences that are certainly wrong in reversed order, reproducible by the seed.

    Each has two or more articles or adpositions that the treebank has on one side of their nouns.

    Args:
        sentences: The treebank.
        used: The sentences of the pairs, which are not chosen.
        forms: The forms of the treebank.
        wishes: How long a sentence may be.
        number: How many are chosen, if there are enough.
        seed: The seed.
    """
    orders = Orders(chain.from_iterable(map(find_orders, sentences)), forms)
    taken = {_words(sentence) for sentence in used}
    suitable = {
        _words(sentence): sentence
        for sentence in sentences
        if is_suitable(sentence, wishes) and _is_plain(sentence)
        if sum(_is_misplaced(sentence, orders)) >= _LEAST_MISPLACED
    }
    left = [sentence for words, sentence in suitable.items() if words not in taken]
    generator(seed, "pairs", REVERSED_ORDER).shuffle(left)
    return left[:number]


def _words(sentence: Sentence) -> tuple[str, ...]:
    return tuple(token.form for token in sentence.tokens)


def _is_plain(sentence: Sentence) -> bool:
    """Return whether the only punctuation is one sign at the end."""
    *tokens, end = sentence.tokens
    return end.upos == "PUNCT" and all(token.upos != "PUNCT" for token in tokens)


def _is_misplaced(sentence: Sentence, orders: Orders) -> Iterator[bool]:
    """Yield of each article and adposition whether it is certainly wrong in reversed order."""
    for instance in find_orders(sentence):
        first, last = sorted((instance.cue, instance.target))
        is_apart = any(token.space_after for token in sentence.tokens[first:last])
        yield is_apart and orders.are_usual(instance)


def reverse(sentence: Sentence) -> str:
    """Return a sentence with its written words in reversed order, and its last sign at the end."""
    *tokens, end = sentence.tokens
    words = list(_written_words(tokens))
    if tokens[0].lemma[:1].islower():
        words[0] = words[0][:1].lower() + words[0][1:]
    first, *others = reversed(words)
    space = " " if tokens[-1].space_after else ""
    return " ".join([first[:1].upper() + first[1:], *others]) + space + end.form


def _written_words(tokens: Iterable[Token]) -> Iterator[str]:
    word = ""
    for token in tokens:
        word += token.form
        if token.space_after:
            yield word
            word = ""
    if word:
        yield word
