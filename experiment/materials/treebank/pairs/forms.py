"""The known forms of words, from a treebank and from lexicons, and which of them look alike."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from experiment.errors import MaterialsError
from experiment.grammar.lexicon import Paradigms, read_paradigms
from experiment.materials.treebank.conllu import Sentence, Token
from experiment.materials.treebank.pairs.features import (
    are_compatible,
    features_of_unimorph,
    keep_agreement,
    parse_features,
)

# A rarer reading of a form in the treebank counts as an error of annotation.
_LEAST_SHARE_OF_READING = 0.02
# From this share on, two cells of a paradigm count as alike for words with a gap in one of them.
_ALIKE, _FEWEST_LEMMAS = 0.05, 3
_VERBS, _NOUNS = ("VERB", "AUX"), ("NOUN", "PROPN")
_INHERENT = ("Gender", "Animacy", "NounClass")


class Word(NamedTuple):
    """A lemma with its tag and the parts merged into it, in lower case."""

    lemma: str
    upos: str
    attached: str


class Disagreement(NamedTuple):
    """Two sources with different forms for the same features of a word."""

    word: Word
    feats: str
    forms: tuple[str, str]
    sources: tuple[str, str]

    def __str__(self) -> str:
        first, second = (
            f'"{form}" ({source})' for form, source in zip(self.forms, self.sources, strict=True)
        )
        return f'"{self.word.lemma}", {self.feats}: {first} and {second}'


def word_of(token: Token) -> Word:
    """Return the word that a token is a form of."""
    return Word(token.lemma.lower(), token.upos, token.attached)


class Forms:
    """The forms of each word by their features.

    Args:
        sentences: The treebank, iterated once.
    """

    def __init__(self, sentences: Iterable[Sentence]) -> None:
        self.cells: defaultdict[Word, dict[str, Counter[str]]] = defaultdict(dict)
        self.disagreements: list[Disagreement] = []
        self._readings: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        self._by_cell: defaultdict[tuple[str, str], dict[Word, Counter[str]]] = defaultdict(dict)
        self._lexicons: list[tuple[Path, defaultdict[Word, dict[str, Counter[str]]]]] = []
        self._cells_of: defaultdict[str, set[str]] = defaultdict(set)
        self._lemmas: set[str] = set()
        self._tags: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._followers: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.share_alike = cache(self._share_alike)
        self.cells_like = cache(self._cells_like)
        for sentence in sentences:
            for token in sentence.tokens:
                self._add(word_of(token), token.feats, token.form.lower())
                self._lemmas.add(token.lemma.lower())
                is_part = token.deprel.startswith("compound")
                self._tags[token.form.lower()]["" if is_part else token.upos] += 1
            for token, following in zip(sentence.tokens, sentence.tokens[1:], strict=False):
                self._followers[token.form.lower()][following.form[:1].lower()] += 1

    def _add(self, word: Word, feats: str, form: str) -> None:
        forms = self.cells[word].setdefault(feats, Counter())
        forms[form] += 1
        self._by_cell[word.upos, feats][word] = forms
        self._readings[form, word.upos][feats] += 1
        self._cells_of[word.upos].add(feats)

    def add_lexicon(self, path: Path) -> int:
        """Add the forms of a UniMorph file, and return how many lemmas the treebank has of it.

        Raises:
            MaterialsError: The file cannot be read, or has no lemma or no form of the treebank.
        """
        lexicon: defaultdict[Word, dict[str, Counter[str]]] = defaultdict(dict)
        for word, feats, form in _lexicon_forms(read_paradigms(path)):
            lexicon[word].setdefault(feats, Counter())[form] += 1
        shared = {word.lemma for word in lexicon} & self._lemmas
        if not any((form, word.upos) in self._readings
                   for word in lexicon if word.lemma in shared
                   for forms in lexicon[word].values() for form in forms):  # fmt: skip
            raise MaterialsError(
                "the lexicon and the treebank have no word in common",
                where=str(path),
                expected="lemmas, forms and features (such as V;PRS;3;SG) of the treebank's "
                "language, in its script",
                remedy="Choose the UniMorph file of this language",
            )
        self.disagreements += self._compare_lexicons(path, lexicon)
        self._lexicons.append((path, lexicon))
        for word, cells in lexicon.items():
            for feats, forms in cells.items():
                for form in forms:
                    self._add(word, feats, form)
        return len(shared)

    def _compare_lexicons(
        self, path: Path, lexicon: dict[Word, dict[str, Counter[str]]]
    ) -> Iterator[Disagreement]:
        for other_path, other in self._lexicons:
            for word in lexicon.keys() & other.keys():
                for feats in lexicon[word].keys() & other[word].keys():
                    forms, other_forms = lexicon[word][feats], other[word][feats]
                    if forms.keys().isdisjoint(other_forms):
                        names = (str(other_path), str(path))
                        yield Disagreement(word, feats, (min(other_forms), min(forms)), names)

    def find_disagreement(self, token: Token) -> Disagreement | None:
        """Return a source that has another form for a token's features, or None."""
        word, form = word_of(token), token.form.lower()
        wanted = keep_agreement(token.feats)
        for path, lexicon in self._lexicons:
            fitting = [
                forms
                for feats, forms in lexicon.get(word, {}).items()
                if parse_features(wanted).keys() <= parse_features(feats).keys()
                and are_compatible(wanted, feats)
            ]
            if fitting and not any(form in forms for forms in lexicon[word].values()):
                forms = (form, min(fitting[0]))
                return Disagreement(word, wanted, forms, ("the treebank", str(path)))
        return next((d for d in self.disagreements if d.word == word), None)

    def readings(self, form: str, upos: str) -> Iterator[str]:
        """Yield the features that a form is known with, rare ones left out."""
        readings = self._readings.get((form, upos), Counter())
        least = _LEAST_SHARE_OF_READING * readings.total()
        return (feats for feats, n in readings.items() if n >= least)

    def share_of_other_tags(self, form: str, upos: str) -> float:
        """Return the share of a form's uses with another tag, or as a part of a verb."""
        tags = self._tags[form]
        return 1 - tags[upos] / tags.total()

    def followed_alike(self, form: str, letter: str) -> int:
        """Return how often a form comes before a word that begins with this letter."""
        return self._followers.get(form, Counter())[letter]

    def _share_alike(self, upos: str, feats: str, other_feats: str) -> float:
        """Return the share of words with the same form in two cells, of those known in both."""
        first, second = self._by_cell[upos, feats], self._by_cell[upos, other_feats]
        if len(first) > len(second):
            first, second = second, first
        both = [word for word in first if word in second]
        if len(both) < _FEWEST_LEMMAS:
            return 0.0
        return sum(not first[word].keys().isdisjoint(second[word]) for word in both) / len(both)

    def _cells_like(self, upos: str, feats: str) -> Sequence[str]:
        """Return the cells that usually have the form of a cell.

        A noun's other gender or class is no cell of its paradigm: that few nouns have two says
        nothing about the others.
        """
        fixed = _INHERENT if upos in _NOUNS else ()
        own = parse_features(feats)
        return [
            other
            for other in self._cells_of[upos]
            if other != feats
            and all(own.get(name) == parse_features(other).get(name) for name in fixed)
            and self.share_alike(upos, feats, other) >= _ALIKE
        ]

    def possible_readings(self, word: Word, form: str, feats: str) -> Iterator[str]:
        """Yield the features that a form has or may have.

        It has those with which it is known. It may have those of a cell that usually looks like
        its own, unless the word is known with another form there.
        """
        tags = _VERBS if word.upos in _VERBS else (word.upos,)
        for upos in tags:
            yield from self.readings(form, upos)
        of_word = self.cells.get(word, {})
        for other in self.cells_like(word.upos, feats):
            if other not in of_word:
                yield other


def _lexicon_forms(paradigms: Paradigms) -> Iterator[tuple[Word, str, str]]:
    for lemma, cells in paradigms.cells.items():
        for cell in cells:
            upos, feats = features_of_unimorph(cell.features)
            # Forms of several words belong to no token.
            if upos and " " not in cell.form:
                tags = _VERBS if upos == "VERB" else (upos,)
                for tag in tags:
                    yield Word(lemma.lower(), tag, ""), feats, cell.form.lower()
