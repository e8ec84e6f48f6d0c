"""Drawing sentences from a text grammar, none of which is excluded."""

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field
from itertools import accumulate, product

from lm.errors import LmError
from lm.text.grammar import Call, Listed, TextGrammar, Value, WordLists, Words
from lm.text.shares import held_out_pairs

_MOST_FAILURES = 10_000
_DEEPEST = 60


@dataclass(slots=True)
class _Drawn:
    """One sentence as its rules give it: texts and their tags, and what is counted in it."""

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
    """A text as it is drawn: lower-case tokens divided by single spaces, ending in ``" ."``.

    Sentences may repeat, as in any text. The same arguments give the same sentences.

    Attributes:
        grammar: The grammar drawn from.
        n: The number of sentences.
        seed: What the draws depend on.
        excluded: The sentences that must not occur, in the form they would have here.
        held_out: The pairs of words that do not occur in one sentence.
        words: All word lists, those of the grammar among them.
        rejected: How many draws so far were among ``excluded`` and were drawn again.
        held_out_rejected: How many had a pair that is held out.
        marked: How many of the sentences given so far have each of the grammar's marks.
        attractor_sites: How many places they have where an attractor can stand.
        attractors: How many of these hold one: a value that differs from the one attracted.
        tags: The supertags of the sentence given last, one per token: the rule that a word came
            from, and its form where it has one (``verb.plural``). They tell a *that* before
            a relative clause from one before a complement, and singular from plural.
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
                # Long sentences have more pairs; another of its kind keeps the kind's share.
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
            f"that, {_MOST_FAILURES:,} draws in a row were excluded sentences, held a pair of "
            f"words that is held out, or did not end. Ask for fewer than {self.n:,} sentences, "
            "hold out fewer pairs, or give the grammar more words and less recursion."
        )

    def _draw(self) -> "_Drawn | None":
        """Return a sentence; nothing if the rules led too deep."""
        drawn = _Drawn()
        try:
            self._expand(self.grammar.start, (), drawn, 0)
        except RecursionError:
            return None
        return drawn

    def _has_held_out(self, drawn: "_Drawn") -> bool:
        if not self.held_out:
            return False
        return any(pair in self.held_out for pair in product(drawn.entries, drawn.entries))

    def _expand(self, name: str, values: tuple[str, ...], drawn: "_Drawn", depth: int) -> None:
        if depth > _DEEPEST:
            raise RecursionError
        rule = self.grammar.rules[name]
        bound = dict(zip(rule.parameters, values, strict=True))
        [expansion] = self._rng.choices(rule.expansions, cum_weights=self._cumulative[name])
        drawn.marks.update(expansion.marks)
        for feature in expansion.drawn:
            bound[feature] = self._drawn_value(feature, bound, drawn)
        for symbol in expansion.symbols:
            match symbol:
                case Words(text):
                    drawn.texts.append((text, name))
                case Listed(list_, None):
                    self._take(list_, list_, name, drawn)
                case Listed(list_, Value() as form):
                    value = self._value(form, bound)
                    self._take(list_, f"{list_}.{value}", f"{name}.{value}", drawn)
                case Call(rule_name, given):
                    taken = tuple(self._value(value, bound) for value in given)
                    self._expand(rule_name, taken, drawn, depth + 1)

    def _take(self, list_: str, key: str, tag: str, drawn: "_Drawn") -> None:
        words = self.words[key]
        place = self._rng.choice(range(len(words)))
        drawn.texts.append((words[place], tag))
        drawn.entries.append((list_, place))

    def _drawn_value(self, feature: str, bound: Mapping[str, str], drawn: "_Drawn") -> str:
        values = self.grammar.features[feature]
        attracted = bound.get(self.grammar.attractor_of.get(feature, ""))
        share = self.grammar.attractor_share
        if attracted is None or share is None:
            value = self._rng.choice(values)
        elif self._rng.random() < share:
            value = self._rng.choice([other for other in values if other != attracted])
        else:
            value = attracted
        drawn.attractor_sites += attracted is not None
        drawn.attractors += attracted is not None and value != attracted
        return value

    def _value(self, value: Value, bound: Mapping[str, str]) -> str:
        if not value.is_variable:
            return value.text
        right = bound[value.text]
        if value.may_err and self._rng.random() < self.grammar.agreement_error_rate:
            wrong = [other for other in self.grammar.features[value.text] if other != right]
            return self._rng.choice(wrong)
        return right


def sentences(
    grammar: TextGrammar,
    word_lists: WordLists,
    n: int,
    seed: int,
    excluded: Set[str],
    held_out_share: float = 0.0,
) -> Sentences:
    """Return ``n`` sentences of a grammar, drawn as they are asked for.

    Args:
        grammar: What to draw from.
        word_lists: The words that ``<list.form>`` stands for, keyed ``"list.form"``, or ``"list"``
            where words have no forms; they come before the grammar's own of the same key.
        n: How many sentences.
        seed: The same seed gives the same sentences.
        excluded: Sentences that must not occur, as tokens in lower case ending in ``" ."``.
        held_out_share: The share of pairs of a noun and a verb that never stand in one sentence.

    Raises:
        LmError: A word list is missing; later, when asked for a sentence: the grammar cannot give
            enough sentences that are not excluded.
    """
    return Sentences(grammar, word_lists, n, seed, excluded, held_out_share)


def _check_word_lists(grammar: TextGrammar, words: WordLists) -> None:
    for name, rule in grammar.rules.items():
        for expansion in rule.expansions:
            for symbol in expansion.symbols:
                for key in _keys(grammar, symbol) if isinstance(symbol, Listed) else ():
                    if not words.get(key):
                        raise LmError(
                            f'the rule "{name}" of the text grammar "{grammar.name}" draws from '
                            f'the word list "{key}", which is missing or empty. '
                            f"The word lists are: {', '.join(sorted(words)) or 'none'}."
                        )


def _keys(grammar: TextGrammar, symbol: Listed) -> list[str]:
    if symbol.form is None:
        return [symbol.list]
    form = symbol.form
    forms = grammar.features[form.text] if form.is_variable else (form.text,)
    return [f"{symbol.list}.{text}" for text in forms]
