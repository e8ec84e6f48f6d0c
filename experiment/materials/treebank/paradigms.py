"""The forms in a treebank by lemma and features, and the other analyses of each form."""

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from experiment.materials.treebank.conllu import Sentence, Token
from experiment.materials.treebank.features import turned


class Entry(NamedTuple):
    """The class of words that may replace each other: tag, features, parts merged into them."""

    upos: str
    feats: str
    attached: str

    @property
    def turned(self) -> "Entry":
        """The class that differs in number alone."""
        return self._replace(feats=turned(self.feats))


def entry_of(token: Token) -> Entry:
    """Return the class of a word."""
    return Entry(token.upos, token.feats, token.attached)


class Beginning(NamedTuple):
    """What a word's first letter decides: capitals, and the article or elision before it."""

    capital: bool
    vowel: bool


@cache
def beginning(form: str) -> Beginning:
    """Return how a form begins; accents do not matter."""
    first = unicodedata.normalize("NFD", form)[:1]
    return Beginning(first.isupper(), first.lower() in "aeiou" and first != "")


class Paradigms:
    """The words of a treebank, counted; only forms of letters alone count as forms of a lemma.

    Args:
        sentences: The treebank, consumed once.
    """

    def __init__(self, sentences: Iterable[Sentence]) -> None:
        self.by_lemma: defaultdict[tuple[str, Entry], Counter[str]] = defaultdict(Counter)
        self.by_entry: defaultdict[Entry, Counter[str]] = defaultdict(Counter)
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
                entry = Entry(upos, feats, attached)
                self.by_entry[entry][form] += n
                self.by_lemma[lemma, entry][form] += n

    def opposite_forms(self, form: str, lemma: str, entry: Entry) -> list[str]:
        """Return the forms that differ from a form in number alone, the commonest first."""
        forms = self.by_lemma.get((lemma, entry.turned), Counter())
        return sorted((other for other in forms if other != form), key=lambda f: (-forms[f], f))

    def other_pos_share(self, form: str, upos: str) -> float:
        """Return the share of a form's uses, 0 to 1, in which it is another part of speech."""
        tags = self.tags[form]
        return 1 - tags[upos] / tags.total()
