"""The treebank sentences that can be tested, and the other forms of their words."""

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from experiment.materials.treebank.agreement_test import AgreementTest
from experiment.materials.treebank.conllu import (
    Sentence,
    Token,
    flip_number,
    flip_number_feature,
    number_of,
)
from experiment.materials.treebank.constructions import Conventions, Extraction


class WordClass(NamedTuple):
    """A class of words that may replace each other: tag, features, merged parts."""

    upos: str
    feats: str
    attached: str

    @property
    def opposite_number(self) -> "WordClass":
        """The class that differs only in number."""
        return self._replace(feats=flip_number_feature(self.feats))


def class_of(token: Token) -> WordClass:
    """Return the class of a word."""
    return WordClass(token.upos, token.feats, token.attached)


class FirstLetter(NamedTuple):
    """The properties of a form's first letter: capital, and vowel (for articles and elision)."""

    capital: bool
    vowel: bool


@cache
def describe_first_letter(form: str) -> FirstLetter:
    """Return the properties of a form's first letter, ignoring accents."""
    first = unicodedata.normalize("NFD", form)[:1]
    return FirstLetter(first.isupper(), first.lower() in "aeiou" and first != "")


class Paradigms:
    """The word counts of a treebank; only purely alphabetic forms count as forms of a lemma.

    Args:
        sentences: The treebank, iterated once.
    """

    def __init__(self, sentences: Iterable[Sentence]) -> None:
        self.by_lemma: defaultdict[tuple[str, WordClass], Counter[str]] = defaultdict(Counter)
        self.by_entry: defaultdict[WordClass, Counter[str]] = defaultdict(Counter)
        self.tags: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.readings: defaultdict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
        uses = Counter(
            (token.form, token.lemma, token.upos, token.feats, token.attached)
            for sentence in sentences
            for token in sentence.tokens
        )
        for (form, lemma, upos, feats, attached), n in uses.items():
            self.tags[form][upos] += n
            self.readings[form][upos, feats] += n
            if form.isalpha():
                entry = WordClass(upos, feats, attached)
                self.by_entry[entry][form] += n
                self.by_lemma[lemma, entry][form] += n

    def opposite_forms(self, form: str, lemma: str, entry: WordClass) -> list[str]:
        """Return the forms that differ from a form only in number, the most frequent first."""
        forms = self.by_lemma.get((lemma, entry.opposite_number), Counter())
        return sorted(
            (other_form for other_form in forms if other_form != form), key=lambda f: (-forms[f], f)
        )

    def other_pos_share(self, form: str, upos: str) -> float:
        """Return the share of a form's uses, 0 to 1, as a different part of speech."""
        tags = self.tags[form]
        return 1 - tags[upos] / tags.total()


_LEAST_SHARE_OF_COMMONEST = 0.1


@dataclass(frozen=True, slots=True)
class Original:
    """A test sentence with its annotated sentence."""

    test: AgreementTest
    sentence: Sentence


@dataclass(frozen=True, slots=True)
class Originals:
    """The original test sentences, and the number of remaining instances after each filter."""

    sentences: list[Original]
    remaining: dict[str, int]


def originals(
    extraction: Extraction,
    paradigms: Paradigms,
    vocabulary: Container[str],
    conventions: Conventions,
) -> Originals:
    """Return the testable instances of the constructions.

    Every word from cue to target is in the vocabulary; the target's form of the other number, with
    all other features equal, is known in the treebank and in the vocabulary.
    """
    kept_originals, counts = list[Original](), Counter[str]()
    for pattern, candidate in extraction.constructions.items():
        number = 0
        for sentence, cue, target in candidate.agreeing:
            tokens = sentence.tokens
            if not all(token.form in vocabulary for token in tokens[cue : target + 1]):
                continue
            counts[_IN_VOCABULARY] += 1
            form, lemma, entry = tokens[target].form, tokens[target].lemma, class_of(tokens[target])
            if not (forms := paradigms.opposite_forms(form, lemma, entry)):
                continue
            counts[_OPPOSITE_KNOWN] += 1
            if not (bad := best_opposite(form, forms, vocabulary, conventions)):
                continue
            counts[_OPPOSITE_IN_VOCABULARY] += 1
            attractors = count_attractors(tokens, cue, target, paradigms, conventions)
            test = _test(pattern.name, number, tokens, cue, target, bad, attractors)
            kept_originals.append(Original(test, sentence))
            number += 1
    figures = (_IN_VOCABULARY, _OPPOSITE_KNOWN, _OPPOSITE_IN_VOCABULARY)
    return Originals(kept_originals, {name: counts[name] for name in figures})


_IN_VOCABULARY = "instances with every word from cue to target in the vocabulary"
_OPPOSITE_KNOWN = "instances whose target has a known form of the other number"
_OPPOSITE_IN_VOCABULARY = "instances whose other form is in the vocabulary"


def best_opposite(
    form: str, forms: Sequence[str], vocabulary: Container[str], conventions: Conventions
) -> str:
    """Return the other-number form to contrast with a form; empty if none is suitable.

    Args:
        form: The target.
        forms: The target's forms in the other number, the most frequent first.
        vocabulary: The words that a model knows.
        conventions: Whether both forms must begin alike; such forms are preferred in any case.
    """
    known_forms = [other_form for other_form in forms if other_form in vocabulary]
    similar_forms = [
        other_form
        for other_form in known_forms
        if describe_first_letter(other_form) == describe_first_letter(form)
    ]
    allowed = similar_forms if conventions.pair_alike else [*similar_forms, *known_forms]
    return allowed[0] if allowed else ""


def _test(
    construction: str,
    instance: int,
    tokens: Sequence[Token],
    cue: int,
    target: int,
    bad: str,
    attractors: int,
) -> AgreementTest:
    return AgreementTest(
        construction=construction,
        instance=instance,
        version=0,
        words=tuple(token.form for token in tokens),
        cue=cue,
        target=target,
        lemma=tokens[target].lemma,
        feats=tokens[target].feats,
        tags=tuple(token.upos for token in tokens[cue : target + 1]),
        good=tokens[target].form,
        bad=bad,
        number=number_of(tokens[target].feats).lower(),
        attractors=attractors,
    )


def count_attractors(
    tokens: Sequence[Token],
    cue: int,
    target: int,
    paradigms: Paradigms,
    conventions: Conventions,
) -> int:
    """Return how many intervening words have the cue's part of speech and the other number."""
    upos, opposite_number = tokens[cue].upos, flip_number(number_of(tokens[cue].feats))
    between = tokens[cue + 1 : target]
    if conventions.attractors_by_reading:
        return sum(_may_be(token.form, upos, opposite_number, paradigms) for token in between)
    return sum(
        token.upos == upos and number_of(token.feats) == opposite_number for token in between
    )


def _may_be(form: str, upos: str, number: str, paradigms: Paradigms) -> bool:
    """Return whether a reading with this tag and number is at least a tenth as frequent as any."""
    readings = paradigms.readings[form]
    least = _LEAST_SHARE_OF_COMMONEST * max(readings.values())
    return any(
        tag == upos and number_of(feats) == number and n >= least
        for (tag, feats), n in readings.items()
    )
