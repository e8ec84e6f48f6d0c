"""The words of a language by a dictionary of the library pyspellchecker."""

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spellchecker import SpellChecker

INSTALL_WORDS = "pip install 'parallax-experiments[words]'"
_LIGATURES = str.maketrans({"œ": "oe", "æ": "ae"})


class Dictionary:
    """The words of a language, in lower case.

    Attributes:
        checker: The library's dictionary, whose neighbours differ by one letter.
    """

    def __init__(self, checker: "SpellChecker") -> None:
        self.checker = checker
        words = checker.word_frequency.keys()
        # Normalised answers have ss for ß.
        self._folded = {folded for word in words if (folded := word.casefold()) != word}

    def __contains__(self, word: str) -> bool:
        """Return whether a word is in the dictionary, as it is or case folded."""
        forms = (word, word.translate(_LIGATURES))
        return word in self._folded or any(form in self.checker for form in forms)

    def has_neighbour(self, word: str) -> bool:
        """Return whether a word differs by one letter from one in the dictionary.

        One letter is inserted, deleted, replaced or exchanged with its neighbour.
        """
        return bool(self.checker.known(self.checker.edit_distance_1(word)))

    def correct(self, word: str) -> str:
        """Return a word of no dictionary as its commonest neighbour, and any other unchanged."""
        if word in self:
            return word
        # Of equally common ones the first in the alphabet: sets have no order.
        neighbours = sorted(self.checker.candidates(word) or {word})
        return str(max(neighbours, key=self.checker.word_usage_frequency))


def list_languages() -> list[str]:
    """Return the languages that have a dictionary, as codes of two letters.

    Raises:
        ImportError: The library is not installed.
    """
    from spellchecker import SpellChecker

    return sorted(SpellChecker.languages())


def primary_language(language: str) -> str:
    """Return a language without its region: "en" for "en-GB"."""
    return language.split("-")[0].lower()


@cache
def load_dictionary(language: str) -> Dictionary:
    """Return the dictionary of a language, one of ``list_languages``.

    Raises:
        ImportError: The library is not installed.
    """
    from spellchecker import SpellChecker

    return Dictionary(SpellChecker(language=language, distance=1))
