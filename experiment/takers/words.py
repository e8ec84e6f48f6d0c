"""What a prompt says besides the study's own texts: words in its language, and labels."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from experiment.errors import StudyError
from experiment.plugins import unknown_name
from experiment.records import SIDES

_FILE = Path(__file__).with_name("words.toml")
# As many as a trial can have answers.
LABEL_SETS: dict[str, tuple[str, ...]] = {
    "numbers": tuple("123456789"),
    "letters": tuple("ABCDEFGHI"),
    "late_letters": tuple("RSTUVWXYZ"),
}


assert all(len(labels) == len(SIDES) for labels in LABEL_SETS.values())


@dataclass(frozen=True, slots=True)
class Words:
    """The sentences of a prompt.

    Attributes:
        choose: The question about several texts; ``{labels}`` are those to answer with.
        accept: The question whether one text is acceptable.
        rate: The question for a point of a scale; it also names its ends.
        or_: Stands before the last of several labels.
        answer: Stands where the answer follows.
        yes: Says that a text is acceptable.
        no: Says that it is not.
        right: What is said after a practice trial that has no words of its own.
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
        """Return labels as a sentence names them: "A, B or C"."""
        *others, last = labels
        return f"{', '.join(others)} {self.or_} {last}" if others else last


@cache
def _languages() -> dict[str, Words]:
    tables = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return {language: Words(or_=table.pop("or"), **table) for language, table in tables.items()}


def words_of(language: str) -> Words:
    """Return the words of a language.

    Raises:
        StudyError: Prompts have no words in it.
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
        UnknownNameError: There is no such set.
    """
    if name not in LABEL_SETS:
        raise unknown_name("set of labels", name, LABEL_SETS)
    return LABEL_SETS[name][:n]
