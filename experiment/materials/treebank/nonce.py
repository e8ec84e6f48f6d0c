"""Nonce sentences: other content words of the same morphology, everything else as it was."""

import random
from collections.abc import Container, Iterator
from dataclasses import replace

from experiment.materials.treebank.agreement_test import AgreementTest
from experiment.materials.treebank.conllu import Token
from experiment.materials.treebank.constructions import Conventions
from experiment.materials.treebank.originals import (
    Beginning,
    Entry,
    Original,
    Paradigms,
    beginning,
    entry_of,
)
from experiment.seeds import generator

CONTENT = frozenset({"NOUN", "VERB", "ADJ", "PROPN", "NUM", "ADV"})
_LEAST_USES = 2

Place = tuple[Entry, Beginning]
Pair = tuple[str, str, str]


class NonceWords:
    """The words of a treebank that may replace others.

    A form qualifies when it is used more than once with its tag and features, rarely with
    another tag, and is in the vocabulary.

    Args:
        paradigms: The treebank's words.
        vocabulary: The words a model knows; others replace nothing.
        conventions: Which words may replace which.
    """

    def __init__(
        self, paradigms: Paradigms, vocabulary: Container[str], conventions: Conventions
    ) -> None:
        self._conventions = conventions
        self._words: dict[Place, list[str]] = {}
        for entry, forms in paradigms.by_entry.items():
            if entry.upos not in CONTENT:
                continue
            for form in sorted(forms):
                share = paradigms.other_pos_share(form, entry.upos)
                enough = forms[form] >= _LEAST_USES and share <= conventions.other_pos_share
                if enough and form in vocabulary:
                    self._words.setdefault((entry, beginning(form)), []).append(form)
        self._pairs = self._all_pairs(paradigms)

    def _all_pairs(self, paradigms: Paradigms) -> dict[Place, list[Pair]]:
        """Return the pairs of forms that both qualify and begin alike: (form, other, lemma)."""
        usable = {(entry, form) for (entry, _), forms in self._words.items() for form in forms}
        pairs: dict[Place, list[Pair]] = {}
        for (lemma, entry), forms in paradigms.by_lemma.items():
            for form in (form for form in forms if (entry, form) in usable):
                for other in paradigms.opposite_forms(form, lemma, entry):
                    alike = beginning(other) == beginning(form)
                    if alike and (entry.turned, other) in usable:
                        pairs.setdefault((entry, beginning(form)), []).append((form, other, lemma))
                        break
        return {place: sorted(of_place) for place, of_place in pairs.items()}

    def word(self, token: Token, rng: random.Random) -> str:
        """Return a word in a word's place; the word itself where no other qualifies."""
        words = self._words.get(self._place(token), [])
        others = self._others(words, token.form)
        return rng.choice(others) if others else token.form

    def pair(self, token: Token, bad: str, rng: random.Random) -> Pair:
        """Return a target in a target's place: (form, form of the other number, lemma).

        Where no pair qualifies it is the target itself, with ``bad``.
        """
        pairs = self._pairs.get(self._place(token), [])
        if self._conventions.replaced_by_another:
            pairs = [pair for pair in pairs if pair[0] != token.form] or pairs
        return rng.choice(pairs) if pairs else (token.form, bad, token.lemma)

    def _place(self, token: Token) -> Place:
        entry = entry_of(token)
        if not self._conventions.attached_alike:
            entry = entry._replace(attached="")
        return entry, beginning(token.form)

    def _others(self, words: list[str], form: str) -> list[str]:
        if not self._conventions.replaced_by_another:
            return words
        return [word for word in words if word != form]


def nonce_tests(
    original: Original, words: NonceWords, versions: int, seed: int
) -> Iterator[AgreementTest]:
    """Yield nonce versions of a test sentence, numbered from 1; the same seed gives the same.

    Every content word of the sentence is replaced where a word qualifies; function words and
    punctuation stay. Cue and target keep their number, so the agreement stays.
    """
    test = original.test
    for version in range(1, versions + 1):
        rng = generator(seed, "nonce", test.construction, test.instance, version)
        forms = [
            words.word(token, rng) if token.upos in CONTENT else token.form
            for token in original.sentence.tokens
        ]
        target = original.sentence.tokens[test.target]
        good, bad, lemma = words.pair(target, test.bad, rng)
        forms[test.target] = good
        yield replace(test, version=version, words=tuple(forms), good=good, bad=bad, lemma=lemma)
