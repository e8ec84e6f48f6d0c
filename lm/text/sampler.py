"""Drawing sentences from a text grammar, none of which is among those never to be seen."""

import random
from collections.abc import Iterator, Mapping, Set
from itertools import accumulate

from lm.errors import LmError
from lm.text.grammar import Call, Listed, TextGrammar, Value, WordLists, Words

_MOST_FAILURES = 10_000
_DEEPEST = 60


class Sentences(Iterator[str]):
    """A text as it is drawn: lower-case tokens divided by single spaces, ending in ``" ."``.

    Sentences may repeat, as in any text. The same arguments give the same sentences.

    Attributes:
        grammar: The grammar drawn from.
        n: How many sentences there are to be.
        seed: What the draws depend on.
        never: The sentences that do not occur, in the form they would have here.
        rejected: How many draws so far were among ``never`` and were drawn again.
        tags: The supertags of the sentence given last, one per token: the rule that a word came
            from, and its form where it has one (``verb.plural``). They tell a *that* before
            a relative clause from one before a complement, and singular from plural.
    """

    def __init__(
        self, grammar: TextGrammar, word_lists: WordLists, n: int, seed: int, never: Set[str]
    ) -> None:
        self.grammar, self.n, self.seed, self.never = grammar, n, seed, never
        self.rejected = 0
        self.tags: tuple[str, ...] = ()
        self._left = n
        self._rng = random.Random(seed)
        self._words = {**grammar.words, **word_lists}
        self._cumulative = {
            name: tuple(accumulate(rule.weights)) for name, rule in grammar.rules.items()
        }
        _check_word_lists(grammar, self._words)

    def __next__(self) -> str:
        if not self._left:
            raise StopIteration
        for _ in range(_MOST_FAILURES):
            tagged = self._draw()
            sentence = " ".join(token for token, _ in tagged)
            if sentence and sentence not in self.never:
                self._left -= 1
                self.tags = tuple(tag for _, tag in tagged)
                return sentence
            self.rejected += bool(sentence)
        raise LmError(
            f'the grammar "{self.grammar.name}" gave {self.n - self._left:,} sentences; after '
            f"that, {_MOST_FAILURES:,} draws in a row were sentences never to be seen or did not "
            f"end. Ask for fewer than {self.n:,} sentences or give the grammar more words and "
            "rules that do not lead back to themselves so often."
        )

    def _draw(self) -> list[tuple[str, str]]:
        """Return a sentence's tokens and their tags; nothing if the rules led too deep."""
        drawn: list[tuple[str, str]] = []
        try:
            self._expand(self.grammar.start, (), drawn, 0)
        except RecursionError:
            return []
        return [(token, tag) for text, tag in drawn for token in text.lower().split()] + [
            (".", ".")
        ]

    def _expand(
        self, name: str, values: tuple[str, ...], drawn: list[tuple[str, str]], depth: int
    ) -> None:
        if depth > _DEEPEST:
            raise RecursionError
        rule = self.grammar.rules[name]
        bound = dict(zip(rule.parameters, values, strict=True))
        [expansion] = self._rng.choices(rule.expansions, cum_weights=self._cumulative[name])
        for feature in expansion.drawn:
            bound[feature] = self._rng.choice(self.grammar.features[feature])
        for symbol in expansion.symbols:
            match symbol:
                case Words(text):
                    drawn.append((text, name))
                case Listed(list_, None):
                    drawn.append((self._rng.choice(self._words[list_]), name))
                case Listed(list_, Value() as form):
                    value = self._value(form, bound)
                    word = self._rng.choice(self._words[f"{list_}.{value}"])
                    drawn.append((word, f"{name}.{value}"))
                case Call(rule_name, given):
                    taken = tuple(self._value(value, bound) for value in given)
                    self._expand(rule_name, taken, drawn, depth + 1)

    def _value(self, value: Value, bound: Mapping[str, str]) -> str:
        if not value.is_variable:
            return value.text
        right = bound[value.text]
        if value.may_err and self._rng.random() < self.grammar.agreement_error_rate:
            wrong = [other for other in self.grammar.features[value.text] if other != right]
            return self._rng.choice(wrong)
        return right


def sentences(
    grammar: TextGrammar, word_lists: WordLists, n: int, seed: int, never: Set[str]
) -> Sentences:
    """Return ``n`` sentences of a grammar, drawn as they are asked for.

    Args:
        grammar: What to draw from.
        word_lists: The words that ``<list.form>`` stands for, keyed ``"list.form"``, or ``"list"``
            where words have no forms; they come before the grammar's own of the same key.
        n: How many sentences.
        seed: The same seed gives the same sentences.
        never: Sentences that must not occur, as tokens in lower case ending in ``" ."``.

    Raises:
        LmError: A word list is missing; later, when asked for a sentence: the grammar cannot give
            enough sentences outside ``never``.
    """
    return Sentences(grammar, word_lists, n, seed, never)


def _check_word_lists(grammar: TextGrammar, words: WordLists) -> None:
    for name, rule in grammar.rules.items():
        for expansion in rule.expansions:
            for symbol in expansion.symbols:
                for key in _keys(grammar, symbol) if isinstance(symbol, Listed) else ():
                    if not words.get(key):
                        raise LmError(
                            f'the rule "{name}" of the text grammar "{grammar.name}" draws from '
                            f'the word list "{key}", which is missing or empty. '
                            f"There are: {', '.join(sorted(words)) or 'none'}."
                        )


def _keys(grammar: TextGrammar, symbol: Listed) -> list[str]:
    if symbol.form is None:
        return [symbol.list]
    form = symbol.form
    forms = grammar.features[form.text] if form.is_variable else (form.text,)
    return [f"{symbol.list}.{text}" for text in forms]
