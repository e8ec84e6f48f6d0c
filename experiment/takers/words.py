"""The words of prompts beyond the study's own texts: sentences in each language, and labels."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from experiment.errors import StudyError
from experiment.plugins import unknown_name
from experiment.records import SIDES

_FILE = Path(__file__).with_name("words.toml")
# Each set has as many labels as a trial can have answers.
LABEL_SETS: dict[str, tuple[str, ...]] = {
    "numbers": tuple("123456789"),
    "letters": tuple("ABCDEFGHI"),
    "late_letters": tuple("RSTUVWXYZ"),
}


assert all(len(labels) == len(SIDES) for labels in LABEL_SETS.values())


@dataclass(frozen=True, slots=True)
class Words:
    """The sentences of a prompt in one language.

    Attributes:
        choose: The question about several texts; ``{labels}`` stands for the labels.
        accept: The question whether one text is acceptable.
        rate: The question for a point of a scale; it also names the scale's ends.
        or_: The word before the last of several labels.
        answer: The word after which the answer follows.
        yes: The answer that a text is acceptable.
        no: The answer that a text is not acceptable.
        right: The feedback after a practice trial that has none of its own.
    """

    choose: str
    accept: str
    rate: str
    or_: str
    answer: str
    yes: str
    no: str
    right: str

    def listed(self, labels: tuple[str, ...]) -> str:
        """Return labels listed as in a sentence: "A, B or C"."""
        *others, last = labels
        return f"{', '.join(others)} {self.or_} {last}" if others else last


@cache
def _languages() -> dict[str, Words]:
    tables = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return {language: Words(or_=table.pop("or"), **table) for language, table in tables.items()}


def words_of(language: str) -> Words:
    """Return the prompt words of a language.

    Raises:
        StudyError: The language has no prompt words.
    """
    known = _languages()
    if language not in known:
        raise StudyError(
            f'prompts have no words in the language "{language}"',
            where="study.toml, study.language",
            expected=f"one of: {', '.join(known)}",
            remedy="Take the session with readings of probabilities alone, which need no prompt",
        )
    return known[language]


def labels_of(name: str, n: int) -> tuple[str, ...]:
    """Return the first ``n`` labels of a set.

    Raises:
        UnknownNameError: No set has this name.
    """
    if name not in LABEL_SETS:
        raise unknown_name("set of labels", name, LABEL_SETS)
    return LABEL_SETS[name][:n]
