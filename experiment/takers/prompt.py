"""Prompts for model participants: the study's texts, the session so far, and their own words."""

import re
import tomllib
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path

from experiment.design.practice import Practice, read_practice
from experiment.errors import StudyError
from experiment.plugins import unknown_name
from experiment.records import SIDES, Kind, ListEntry, Trial
from experiment.responses.base import GivenAnswer, Gives
from experiment.studies.study import Study
from experiment.takers.session import Screens, TakerTrial

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
        choose: The question about several texts; ``{labels}`` is replaced by the labels.
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
        *head, last = labels
        return f"{', '.join(head)} {self.or_} {last}" if head else last


@cache
def _load_words() -> dict[str, Words]:
    tables = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return {language: Words(or_=table.pop("or"), **table) for language, table in tables.items()}


def words_of(language: str) -> Words:
    """Return the prompt words of a language.

    Raises:
        StudyError: The language has no prompt words.
    """
    languages = _load_words()
    if language not in languages:
        raise StudyError(
            f'prompts have no words in the language "{language}"',
            where="study.toml, study.language",
            expected=f"one of: {', '.join(languages)}",
            remedy="Take the session with readings of probabilities alone, which need no prompt",
        )
    return languages[language]


def labels_of(name: str, n: int) -> tuple[str, ...]:
    """Return the first ``n`` labels of a set.

    Raises:
        UnknownNameError: No set has this name.
    """
    if name not in LABEL_SETS:
        raise unknown_name("set of labels", name, LABEL_SETS)
    return LABEL_SETS[name][:n]


_HEADING = re.compile(r"^#+ *", re.MULTILINE)
_EMPHASIS = re.compile(r"(\*{1,3}|`)(\S.*?)\1", re.DOTALL)


class Context(StrEnum):
    """What precedes a trial in its prompt; each context contains all of the previous ones."""

    ZERO_SHOT = "zero_shot"  # the question alone
    INSTRUCTIONS = "instructions"  # the participants' instructions, word for word
    PRACTICE = "practice"  # the practice trials with their answers and feedback
    HISTORY = "history"  # the session so far with the model's own answers
    YOKED = "yoked"  # the session so far with one human participant's answers

    @property
    def has_instructions(self) -> bool:
        """Whether the prompt contains the instructions."""
        return self is not Context.ZERO_SHOT

    @property
    def has_practice(self) -> bool:
        """Whether the prompt contains the practice trials, and so example answers."""
        return self in (Context.PRACTICE, Context.HISTORY, Context.YOKED)

    @property
    def has_session(self) -> bool:
        """Whether the prompt contains earlier trials."""
        return self in (Context.HISTORY, Context.YOKED)


@dataclass(frozen=True, slots=True)
class Way:
    """One cell of the crossed factors that define how a reading asks.

    Attributes:
        context: What precedes the trial.
        labels: The set of labels for the answers; empty for readings without a prompt.
        swapped: Whether the answers are in reverse order.
        thinking: Whether the model may think before it answers.
    """

    context: Context = Context.ZERO_SHOT
    labels: str = ""
    swapped: bool = False
    thinking: bool = False

    @property
    def order(self) -> str:
        """The order of the answers as a word."""
        return "swapped" if self.swapped else "listed"


@dataclass(frozen=True, slots=True)
class Ask:
    """A question to a model: how probable each of several texts is after the prompt.

    Attributes:
        prompt: The preceding text; empty for a sentence by itself.
        answers: The possible continuations.
        after: If the answers are words for a gap: the text after it; else None.
    """

    prompt: str
    answers: tuple[str, ...]
    after: str | None = None


class Prompter:
    """Writes the prompts of a study.

    Args:
        study: The study.
        screens: Prepares the study's trials.
    """

    def __init__(self, study: Study, screens: Screens) -> None:
        self.words: Words = words_of(study.study.language)
        self.instructions = instructions_of(study)
        self._practice = [
            _prepare_practice(practice_trial, screens) for practice_trial in read_practice(study)
        ]
        self._told = Gives.RIGHT in screens.response.gives

    def with_instructions(self, instructions: str) -> "Prompter":
        """Return a prompter with other instructions, for instance those of a level."""
        if instructions == self.instructions:
            return self
        changed = copy(self)
        changed.instructions = instructions
        return changed

    def prompt(
        self,
        way: Way,
        question: str,
        trial: str,
        labels: Sequence[str],
        earlier: Sequence[tuple[str, str]] = (),
        practice: Sequence[tuple[str, str, str]] = (),
    ) -> str:
        """Return a whole prompt.

        Args:
            way: The way of asking.
            question: The question, with ``{labels}``.
            trial: The trial's own lines.
            labels: The labels of the possible answers, in the order shown.
            earlier: The lines and the answer of each earlier trial.
            practice: The lines, the answer (empty for none) and the feedback of practice trials.
        """
        question_text = question.format(
            labels=self.words.listed(tuple(labels)), lowest=labels[0], highest=labels[-1]
        )
        head = (
            f"{self.instructions}\n\n{question_text}"
            if way.context.has_instructions
            else question_text
        )
        blocks = [head]
        if way.context.has_practice:
            blocks += [self._block(*practice_block) for practice_block in practice]
        if way.context.has_session:
            blocks += [self._block(*practice_block) for practice_block in earlier]
        return "\n\n".join([*blocks, f"{trial}\n{self.words.answer}"])

    def practised(self, way: Way) -> list[tuple[TakerTrial, GivenAnswer | None, str]]:
        """Return the practice trials of a prompt: trial, right answer, feedback."""
        if not way.context.has_practice:
            return []
        return [
            (
                trial,
                GivenAnswer(side=practice_trial.good_side) if self._told else None,
                practice_trial.feedback,
            )
            for practice_trial, trial in self._practice
        ]

    def _block(self, lines: str, answer: str, feedback: str = "") -> str:
        answer_line = f"\n{self.words.answer} {answer}" if answer else ""
        feedback_line = f"\n{feedback}" if feedback else ""
        return f"{lines}{answer_line}{feedback_line}"


def instructions_of(study: Study) -> str:
    """Return the participants' instructions as plain text, without Markdown."""
    text = _HEADING.sub("", study.text("instructions").strip())
    return _EMPHASIS.sub(r"\2", text)


def option_lines(trial: TakerTrial, labels: Sequence[str], order: Sequence[int]) -> str:
    """Return a trial's options one per line, each after its label.

    Args:
        trial: The trial.
        labels: The labels in the order shown.
        order: The index of the option on each line.
    """
    lines = [
        f"{label}. {trial.shown.options[index]}" for label, index in zip(labels, order, strict=True)
    ]
    return "\n".join([*([trial.shown.prefix] if trial.shown.prefix else []), *lines])


def _prepare_practice(practice_trial: Practice, screens: Screens) -> tuple[Practice, TakerTrial]:
    trial = Trial(0, practice_trial.item.item_id, Kind.FILLER, practice_trial.good_side)
    return practice_trial, screens.trial(trial, ListEntry(practice_trial.item, Kind.FILLER))
