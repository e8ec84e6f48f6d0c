"""As which answer a typed text counts: the rules of all studies, a table, and a study's own steps.

A row of the researcher's table decides alone; other texts go through the steps that the study names
under ``same_answers``, in their order.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache

from analysis.errors import AnalysisError
from analysis.findings.finding import FindingInputs
from analysis.typed.variants import VARIANTS_TABLE, Variants
from experiment.coding.dictionary import (
    INSTALL_WORDS,
    list_languages,
    load_dictionary,
    primary_language,
)
from experiment.coding.normalise import normalise
from experiment.studies.study import Study

Step = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class SameAnswers:
    """As which answers typed texts count.

    Attributes:
        table: The researcher's table: by item (empty: any item) and text, the answer.
        steps: The name of each step, and what it makes of one word.
    """

    table: Variants = field(default_factory=dict)
    steps: Mapping[str, Step] = field(default_factory=dict)

    def answer(self, item_id: str, typed: str) -> str:
        """Return the answer as which a typed text counts."""
        changes = self._changes(item_id, typed)
        return [*changes.values()][-1] if changes else normalise(typed)

    def list_changes(self, item_id: str, typed: str) -> list[str]:
        """Return the names of the steps that change a text after the rules of all studies."""
        return list(self._changes(item_id, typed))

    def _changes(self, item_id: str, typed: str) -> dict[str, str]:
        text = normalise(typed)
        listed = self.table.get((item_id, text), self.table.get(("", text)))
        if listed is not None:
            return {VARIANTS_TABLE: listed} if listed != text else {}
        changes: dict[str, str] = {}
        for name, step in self.steps.items():
            changed = normalise(" ".join(map(step, text.split())))
            if changed != text:
                changes[name] = text = changed
        return changes


def same_answers_of(inputs: FindingInputs) -> SameAnswers:
    """Return as which answers the texts of a comparison count.

    Raises:
        AnalysisError: The library of a step is not installed, or does not know the language.
    """
    return load_same_answers(inputs.run.study, inputs.options.variants)


def load_same_answers(study: Study, variants: Variants) -> SameAnswers:
    """Return as which answers the texts of a study count, by a table and the study's own steps.

    Raises:
        AnalysisError: The library of a step is not installed, or does not know the language.
    """
    names = study.analysis.same_answers
    return SameAnswers(variants, {name: load_step(name, study.study.language) for name in names})


def load_step(name: str, language: str) -> Step:
    """Return a step for the words of a language.

    Raises:
        AnalysisError: Its library is not installed, or does not know the language.
    """
    try:
        return cache(_STEPS[name](primary_language(language)))
    except ImportError as error:
        raise AnalysisError(
            f'the step "{name}" of same_answers needs the package {error.name}',
            where="study.toml, [analysis]",
            remedy=f"Install it with `{INSTALL_WORDS}`, or delete the step",
        ) from error


def _load_lemmas(language: str) -> Step:
    """Return the step that replaces a word by its form in a dictionary, such as keys by key."""
    import simplemma
    from simplemma.strategies.dictionaries.dictionary_factory import SUPPORTED_LANGUAGES

    _check_language("lemma", language, SUPPORTED_LANGUAGES)
    return lambda word: str(simplemma.lemmatize(word, lang=language))


def _load_spelling(language: str) -> Step:
    """Return the step that replaces a word of no dictionary by its commonest neighbour.

    Neighbours differ by one insertion, deletion, substitution or exchange of letters.
    """
    _check_language("spelling", language, list_languages())
    return load_dictionary(language).correct


_STEPS: Mapping[str, Callable[[str], Step]] = {"spelling": _load_spelling, "lemma": _load_lemmas}


def _check_language(step: str, language: str, known: Iterable[str]) -> None:
    languages = sorted(known)
    if language not in languages:
        raise AnalysisError(
            f'the step "{step}" of same_answers does not know the language "{language}"',
            where="study.toml, [analysis]",
            expected=f"one of: {', '.join(languages)}",
            remedy="Delete the step, and name the forms in a table: `parallax compare --variants`",
        )
