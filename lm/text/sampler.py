"""Sampling of sentences from a text grammar, without excluded sentences."""

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field
from itertools import accumulate, product

from lm.errors import LmError
from lm.text.grammar import (
    Call,
    FeatureValue,
    ListedWord,
    LiteralWords,
    TextGrammar,
    WordLists,
    held_out_pairs,
)

_MOST_FAILURES = 10_000
_MOST_DEPTH = 60


@dataclass(slots=True)
class _Sentence:
    """One expanded sentence: its texts and their tags, and its counts."""

    texts: list[tuple[str, str]] = field(default_factory=list)
    entries: list[tuple[str, int]] = field(default_factory=list)
    marks: set[str] = field(default_factory=set)
    attractor_sites: int = 0
    attractors: int = 0

    def tokens(self) -> tuple[list[str], tuple[str, ...]]:
        """Return the sentence's tokens and their tags."""
        pairs = [(token, tag) for text, tag in self.texts for token in text.lower().split()]
        tokens, tags = zip(*pairs, (".", "."), strict=True)
        return list(tokens), tags


class Sentences(Iterator[str]):
    """The sentences of a text: lower-case tokens separated by single spaces, ending in ``" ."``.

    Sentences may repeat, as in any text. Equal arguments give equal sentences.

    Attributes:
        grammar: The grammar.
        n: The number of sentences.
        seed: The random seed.
        excluded: The sentences that must not occur, in the form of this text.
        held_out: The pairs of words that never occur in the same sentence.
        words: All word lists, including the grammar's.
        rejected: The number of draws rejected so far because they were in ``excluded``.
        held_out_rejected: The number of draws rejected because of a held-out pair.
        marked: The number of sentences so far with each of the grammar's marks.
        attractor_sites: The number of positions in them where an attractor is possible.
        attractors: The number of these with an attractor: a value that differs from the one
            attracted.
        tags: The supertags of the last sentence, one per token: the rule that produced the word,
            and its form if it has one (``verb.plural``). They distinguish a *that* before a
            relative clause from one before a complement, and singular from plural.
    """

    def __init__(
        self,
        grammar: TextGrammar,
        word_lists: WordLists,
        n: int,
        seed: int,
        excluded: Set[str],
        held_out_share: float = 0.0,
    ) -> None:
        self.grammar, self.n, self.seed, self.excluded = grammar, n, seed, excluded
        self.words = {**grammar.words, **word_lists}
        self.held_out = held_out_pairs(grammar, self.words, held_out_share, seed)
        self.held_out_share = held_out_share
        self.rejected = self.held_out_rejected = self.attractor_sites = self.attractors = 0
        self.marked: Counter[str] = Counter()
        self.tags: tuple[str, ...] = ()
        self._left = n
        self._rng = random.Random(seed)
        self._cumulative = {
            name: tuple(accumulate(rule.weights)) for name, rule in grammar.rules.items()
        }
        _check_word_lists(grammar, self.words)

    def __next__(self) -> str:
        if not self._left:
            raise StopIteration
        marks: set[str] | None = None
        for _ in range(_MOST_FAILURES):
            drawn = self._draw()
            if drawn is None or marks not in (None, drawn.marks):
                continue
            tokens, tags = drawn.tokens()
            sentence = " ".join(tokens)
            is_excluded, has_pair = sentence in self.excluded, self._has_held_out(drawn)
            self.rejected += is_excluded
            self.held_out_rejected += has_pair and not is_excluded
            if has_pair:
                # Long sentences have more pairs; redrawing the same kind keeps its share.
                marks = drawn.marks
            if not is_excluded and not has_pair:
                self._left -= 1
                self.tags = tags
                self.marked.update(drawn.marks)
                self.attractor_sites += drawn.attractor_sites
                self.attractors += drawn.attractors
                return sentence
        raise LmError(
            f'the grammar "{self.grammar.name}" gave {self.n - self._left:,} sentences; after '
            f"that, {_MOST_FAILURES:,} draws in a row were excluded sentences, contained a "
            "pair of words that is held out, or did not end. Ask for fewer than "
            f"{self.n:,} sentences, hold out fewer pairs, or give the grammar more words and "
            "less recursion."
        )

    def _draw(self) -> "_Sentence | None":
        """Return a sentence; None if the rules nested too deep."""
        drawn = _Sentence()
        try:
            self._expand(self.grammar.start, (), drawn, 0)
        except RecursionError:
            return None
        return drawn

    def _has_held_out(self, drawn: "_Sentence") -> bool:
        if not self.held_out:
            return False
        return any(pair in self.held_out for pair in product(drawn.entries, drawn.entries))

    def _expand(self, name: str, values: tuple[str, ...], drawn: "_Sentence", depth: int) -> None:
        if depth > _MOST_DEPTH:
            raise RecursionError
        rule = self.grammar.rules[name]
        bound = dict(zip(rule.parameters, values, strict=True))
        [expansion] = self._rng.choices(rule.expansions, cum_weights=self._cumulative[name])
        drawn.marks.update(expansion.marks)
        for feature in expansion.drawn:
            bound[feature] = self._drawn_value(feature, bound, drawn)
        for symbol in expansion.symbols:
            match symbol:
                case LiteralWords(text):
                    drawn.texts.append((text, name))
                case ListedWord(list_, None):
                    self._take(list_, list_, name, drawn)
                case ListedWord(list_, FeatureValue() as form):
                    value = self._value(form, bound)
                    self._take(list_, f"{list_}.{value}", f"{name}.{value}", drawn)
                case Call(rule_name, given):
                    taken = tuple(self._value(value, bound) for value in given)
                    self._expand(rule_name, taken, drawn, depth + 1)

    def _take(self, list_: str, key: str, tag: str, drawn: "_Sentence") -> None:
        words = self.words[key]
        index = self._rng.choice(range(len(words)))
        drawn.texts.append((words[index], tag))
        drawn.entries.append((list_, index))

    def _drawn_value(self, feature: str, bound: Mapping[str, str], drawn: "_Sentence") -> str:
        values = self.grammar.features[feature]
        attracted = bound.get(self.grammar.attractor_of.get(feature, ""))
        share = self.grammar.attractor_share
        if attracted is None or share is None:
            value = self._rng.choice(values)
        elif self._rng.random() < share:
            value = self._rng.choice([candidate for candidate in values if candidate != attracted])
        else:
            value = attracted
        drawn.attractor_sites += attracted is not None
        drawn.attractors += attracted is not None and value != attracted
        return value

    def _value(self, value: FeatureValue, bound: Mapping[str, str]) -> str:
        if not value.is_variable:
            return value.text
        right = bound[value.text]
        if value.may_err and self._rng.random() < self.grammar.agreement_error_rate:
            wrong = [
                candidate for candidate in self.grammar.features[value.text] if candidate != right
            ]
            return self._rng.choice(wrong)
        return right


def sample(
    grammar: TextGrammar,
    word_lists: WordLists,
    n: int,
    seed: int,
    excluded: Set[str],
    held_out_share: float = 0.0,
) -> Sentences:
    """Return ``n`` sentences of a grammar, drawn during iteration.

    Args:
        grammar: The grammar.
        word_lists: The words for ``<list.form>``, keyed ``"list.form"``, or ``"list"`` for words
            without forms; they take precedence over the grammar's own lists.
        n: The number of sentences.
        seed: Equal seeds give equal sentences.
        excluded: Sentences that must not occur, as tokens in lower case ending in ``" ."``.
        held_out_share: The share of noun-verb pairs that never occur in the same sentence.

    Raises:
        LmError: A word list is missing; later, during iteration: the grammar cannot produce
            enough sentences that are not excluded.
    """
    return Sentences(grammar, word_lists, n, seed, excluded, held_out_share)


def _check_word_lists(grammar: TextGrammar, words: WordLists) -> None:
    for name, rule in grammar.rules.items():
        for expansion in rule.expansions:
            for symbol in expansion.symbols:
                for key in (
                    _list_feature_values(grammar, symbol) if isinstance(symbol, ListedWord) else ()
                ):
                    if not words.get(key):
                        raise LmError(
                            f'the rule "{name}" of the text grammar "{grammar.name}" draws from '
                            f'the word list "{key}", which is missing or empty. '
                            f"The word lists are: {', '.join(sorted(words)) or 'none'}."
                        )


def _list_feature_values(grammar: TextGrammar, symbol: ListedWord) -> list[str]:
    if symbol.form is None:
        return [symbol.list]
    form = symbol.form
    forms = grammar.features[form.text] if form.is_variable else (form.text,)
    return [f"{symbol.list}.{text}" for text in forms]
