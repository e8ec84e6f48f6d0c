"""A rule that excludes participants whose typed answers have too many words of no dictionary."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

import regex
from pydantic import Field, PositiveInt

from experiment.coding.dictionary import (
    INSTALL_WORDS,
    Dictionary,
    list_languages,
    load_dictionary,
    primary_language,
)
from experiment.coding.normalise import RULES as NORMALISATIONS
from experiment.errors import ParallaxError, StudyError
from experiment.exclusion.base import Assessment, PlannedStudy, PlannedTrial, never
from experiment.exclusion.selection import Counted, Selection
from experiment.records import Judgment
from experiment.responses.typed.fluency import Fluency
from experiment.responses.typed.text import GAP_SEPARATOR
from experiment.responses.typed.typed import Typed

# Shorter words nearly all differ by one letter from a word in the dictionary, gibberish too.
_SHORTEST_MISSPELT = 5
_SCRIPTS = {"ru": "Cyrillic", "ar": "Arabic", "fa": "Arabic"}
_BETWEEN_WORDS = regex.compile(r"[\s\p{P}--['\-]]+", flags=regex.VERSION1)


class UnknownWords(Selection):
    """Excludes participants who type too many answers with a word that is in no dictionary."""

    name: ClassVar[str] = "unknown_words"
    reason: ClassVar[str] = "typing too many unknown words"
    language: str = Field(min_length=2, description="the language of the answers, such as en")
    max_share: float = Field(
        ge=0, lt=1, description="the largest share of answers with an unknown word"
    )
    min_answers: PositiveInt = Field(
        default=5, description="with fewer typed answers than this, nobody is excluded"
    )

    def judge(self, judgments: Sequence[Judgment]) -> Assessment:
        """Return whether few enough answers have unknown words; the evidence quotes no answer.

        Each gap of a text and each entry of a list is an answer. Accepted answers have no unknown
        words.

        Raises:
            StudyError: No trial is selected, or the language has no dictionary here.
        """
        answers = [
            (text, judgment.chose_good)
            for judgment in self.selected(judgments, self.name)
            for text in judgment.typed.split(GAP_SEPARATOR)
            if text.strip()
        ]
        n = len(answers)
        if n < self.min_answers:
            return None, (
                f"{n} {'answer' if n == 1 else 'answers'} typed in the {self.trials}; at least "
                f"{self.min_answers} required"
            )
        fault = self._find_language_fault()
        if fault is not None:
            raise fault
        code = primary_language(self.language)
        dictionary = load_dictionary(code)
        n_unknown = sum(
            not is_accepted and _has_unknown_word(text, code, dictionary)
            for text, is_accepted in answers
        )
        return n_unknown / n <= self.max_share, (
            f"{n_unknown} of the {n} answers ({n_unknown / n:.1%}) typed in the {self.trials} have "
            f'a word in no dictionary of the language "{self.language}"; at most '
            f"{self.max_share:.1%} allowed"
        )

    def flaws(self, planned: PlannedStudy) -> Iterator[ParallaxError]:
        """Also report that the language has no dictionary here."""
        fault = self._find_language_fault()
        if fault is not None:
            yield fault
        yield from super().flaws(planned)

    def powerless_on(self, lists: Counted, planned: PlannedStudy) -> Iterator[ParallaxError]:
        """Report that too few answers are typed in any list."""
        n = max(sum(map(_count_most_answers, trials)) for trials in lists)
        if not n:
            yield never(f"no answer to the {self.trials} is typed")
        elif n < self.min_answers:
            yield never(
                f"it needs {self.min_answers} answers, and participants type at most {n}",
                "min_answers",
                f"at most {n}",
            )

    def _find_language_fault(self) -> StudyError | None:
        try:
            languages = list_languages()
        except ImportError as error:
            return StudyError(
                f'the exclusion rule "{self.name}" needs the package {error.name}',
                where="rule",
                remedy=f"Install it with `{INSTALL_WORDS}`, or delete the rule",
            )
        if primary_language(self.language) in languages:
            return None
        return StudyError(
            f'the exclusion rule "{self.name}" has no dictionary of the language "{self.language}"',
            where="language",
            expected=f"one of: {', '.join(languages)}",
            remedy="Delete the rule if participants answer in another language",
        )


def _count_most_answers(trial: PlannedTrial) -> int:
    """Return the number of answers that a participant can type in a trial at most."""
    response = trial.response
    if isinstance(response, Fluency):
        return response.most_entries
    return response.gaps if isinstance(response, Typed) else 0


def _has_unknown_word(text: str, language: str, dictionary: Dictionary) -> bool:
    for rule in ("Unicode", "invisible characters", "apostrophes"):
        text = NORMALISATIONS[rule](text)
    words = (word.strip("'-") for word in _BETWEEN_WORDS.split(text))
    return any(
        _counts(word, language) and not _is_known(word, dictionary) for word in words if word
    )


def _counts(word: str, language: str) -> bool:
    """Return whether a word can be unknown.

    Names, abbreviations, numbers, single letters and words of other scripts cannot.
    """
    script = _SCRIPTS.get(language, "Latin")
    letters = regex.fullmatch(rf"[\p{{Script={script}}}\p{{M}}\u200c'\-]{{2,}}", word)
    return letters is not None and word == word.lower()


def _is_known(word: str, dictionary: Dictionary) -> bool:
    """Return whether a word, or each of its parts, is in the dictionary or nearly so."""
    if word in dictionary or (len(word) >= _SHORTEST_MISSPELT and dictionary.has_neighbour(word)):
        return True
    # As in l'eau and ice-cream.
    parts = [part for part in regex.split("['-]", word) if len(part) > 1]
    return parts != [word] and all(_is_known(part, dictionary) for part in parts)
