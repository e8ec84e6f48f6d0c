"""The basic records of an experiment: items, trials, judgments, verdicts."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """The kind of an item on a list."""

    TARGET = "target"
    FILLER = "filler"
    CATCH = "catch"


class Variant(StrEnum):
    """The versions of an item; ``GOOD`` is the expected choice."""

    GOOD = "good"
    BAD = "bad"
    DISTRACTOR = "distractor"


_VERSIONS = frozenset(map(str, Variant))


class Side(StrEnum):
    """The position of an option on the screen: first is above (or left), the others follow."""

    FIRST = "first"
    SECOND = "second"
    THIRD = "third"
    FOURTH = "fourth"
    FIFTH = "fifth"
    SIXTH = "sixth"
    SEVENTH = "seventh"
    EIGHTH = "eighth"
    NINTH = "ninth"


SIDES = tuple(Side)
# The sides of the two options of a forced choice.
PAIR = (Side.FIRST, Side.SECOND)


@dataclass(frozen=True, slots=True)
class Item:
    """A context and the options that continue it, as plain words.

    Attributes:
        item_id: Unique in the study, ``<template>-<running number>``.
        kind: Target, filler or catch; lists may re-label a target as a catch trial.
        construction: The row of the results table for this item.
        condition: The supplement's name of the condition within the construction.
        template: The template that generated the item.
        features: The condition's features as ``name=value`` pairs joined by spaces.
        frame: The lexical choices as ``SLOT=lemma`` pairs joined by spaces (spaces inside a lemma
            are written ``_``); items of one template that share it differ only in features.
        context: The words before the options; empty for whole sentences.
        good: The expected option.
        bad: The option that violates the construction's rule.
        distractor: A third version (the intrusive licensor of a negative polarity item), or empty.
        contrast: The version that is compared with ``good`` in the forced choice.
        extra: The researcher's own columns as (name, value), in order; this package does not
            interpret them, and every table of items keeps them.
    """

    item_id: str
    kind: Kind
    construction: str
    condition: str
    template: str
    features: str
    frame: str
    context: str
    good: str
    bad: str
    distractor: str = ""
    contrast: Variant = Variant.BAD
    extra: tuple[tuple[str, str], ...] = ()

    @property
    def alternative(self) -> str:
        """The text that is compared with ``good`` in the forced choice."""
        return self.distractor if self.contrast is Variant.DISTRACTOR else self.bad

    def after_context(self, text: str) -> str:
        """Return a text after the item's context, as people are shown it and models read it.

        One space comes between the two, unless either brings white space of its own, or their
        script has no spaces between words.
        """
        return join_context(self.context, text) if self.context else text

    def version(self, name: str) -> str:
        """Return the text of a version: good, bad, distractor, or one of the researcher's own."""
        if name in _VERSIONS:
            return str(getattr(self, name))
        return dict(self.extra).get(name, "")

    def versions(self, further: Sequence[str] = ()) -> dict[str, str]:
        """Return the text of each version that the item has, the good one first.

        Args:
            further: The researcher's own columns that hold further options.
        """
        texts = {"good": self.good, "bad": self.bad, "distractor": self.distractor}
        texts |= {name: self.version(name) for name in further}
        return {name: text for name, text in texts.items() if text}


# Scripts that do not separate words by spaces: Thai, Lao, Tibetan, Burmese, Khmer, Japanese and
# Chinese, with their punctuation.
SPACELESS = re.compile(
    "[\u0e00-\u109f\u1780-\u17ff\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef"
    "\U00020000-\U0003ffff]"
)


def join_context(context: str, text: str) -> str:
    """Return a text after its context, with one space where their script separates words.

    White space that either has already is kept as it is.
    """
    if not context or not text or context[-1].isspace() or text[0].isspace():
        return context + text
    if SPACELESS.match(context[-1]) and SPACELESS.match(text[0]):
        return context + text
    return f"{context} {text}"


def lemmas_of(frame: str) -> dict[str, str]:
    """Return the slots and lemmas of a frame written ``SLOT=lemma SLOT=lemma``."""
    pairs = (pair.rpartition("=") for pair in frame.split())
    return {slot: lemma for slot, _, lemma in pairs}


@dataclass(frozen=True, slots=True)
class ListEntry:
    """An item on a list, with its kind there: a target may serve as a catch trial."""

    item: Item
    kind: Kind


@dataclass(frozen=True, slots=True)
class Trial:
    """One item in one participant's session.

    Attributes:
        position: 1 for the participant's first trial.
        item_id: The item shown.
        kind: The item's kind in this list.
        good_side: The side of the expected option, None if it is not on the screen; never sent to
            the browser.
        options: The versions on the screen, in order; empty for the good version and the one
            compared with it.
        points: The number of points of the scale for rating the single version; None if an option
            is chosen.
    """

    position: int
    item_id: str
    kind: Kind
    good_side: Side | None
    options: tuple[str, ...] = ()
    points: int | None = None


# The largest number of words or regions of a sentence that is read step by step.
MOST_STEPS = 150


@dataclass(frozen=True, slots=True)
class Steps:
    """A browser's measurements of a trial that is read step by step, by word or by region.

    Each tuple has one entry per shown step, in order.

    Attributes:
        onset_ms: The time of the step's painting, in milliseconds since that of the first step.
        rt_ms: The time from painting to the beginning of the first press; None if it took a day.
        sources: The source of each painting time, as one letter: p for the browser's own
            presentation time, f for two animation frames.
        uncertainty_ms: The uncertainty of the painting time, in milliseconds.
        wrong: How often the wrong one of two words was chosen; empty if there is only one word.
        done_ms: The time from painting to the correct choice, if there are two words.
        question_ms: The time from painting the question after the last step to its answer; None if
            there was none.
        wait_ms: The time for which a context and then the masked sentence were shown, up to the
            press that showed the first step; None if nothing preceded that step, or the page did
            not report the time.
    """

    onset_ms: tuple[float, ...]
    rt_ms: tuple[float | None, ...]
    sources: str
    uncertainty_ms: tuple[float, ...]
    wrong: tuple[int, ...] = ()
    done_ms: tuple[float | None, ...] = ()
    question_ms: float | None = None
    wait_ms: float | None = None

    @property
    def is_whole(self) -> bool:
        """Whether all tuples have an entry for each step."""
        of_each = (self.rt_ms, self.sources, self.uncertainty_ms)
        of_pairs = (self.wrong, self.done_ms)
        n = len(self.onset_ms)
        return all(len(measures) == n for measures in of_each) and {
            len(measures) for measures in of_pairs
        } <= {0, n}

    @property
    def total_ms(self) -> float | None:
        """The time from first painting to last press, without the question; None if unknown."""
        last = (self.done_ms or self.rt_ms)[-1:]
        if not last or last[0] is None:
            return None
        return round(self.onset_ms[-1] + last[0], 1)


@dataclass(frozen=True, slots=True)
class Judgment:
    """One answered trial, as exclusion rules see it.

    Attributes:
        position: The trial's position.
        item_id: The item judged.
        kind: The item's kind in this list.
        construction: The item's construction.
        chose_good: Whether the expected option was chosen; None for a rating, which is neither
            right nor wrong.
        chosen_side: The side of the chosen option; None for a rating.
        rt_ms: The reaction time in milliseconds; None if the browser could not measure it.
        condition: The item's condition.
        extra: The researcher's own columns of the item, as (name, value).
        rating: The point of the (first) scale, from 1; None for a choice.
        ratings: The point of each scale, as (name, point), if a trial has several.
        version: The version that was shown alone; empty if options were shown.
        answer: The answer in words for an exclusion's evidence; empty if it is the side.
        typed: The text as it was typed, with " | " between the texts of several gaps or the entries
            of a list; empty if nothing was typed.
        steps: The measurements of each word or region of a step-by-step reading; None for other
            trials.
        is_late: Whether the answer came after the deadline; None if there is none.
    """

    position: int
    item_id: str
    kind: Kind
    construction: str
    chose_good: bool | None
    chosen_side: Side | None
    rt_ms: float | None
    condition: str = ""
    extra: tuple[tuple[str, str], ...] = ()
    rating: int | None = None
    version: str = ""
    answer: str = ""
    typed: str = ""
    steps: Steps | None = None
    is_late: bool | None = None
    ratings: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether one participant is kept in the analysis, and why.

    Attributes:
        kept: False if a rule excludes the participant.
        rule: The name of the rule that decided; empty if every rule kept the participant.
        evidence: The figures that the verdict is based on, in words.
    """

    kept: bool
    rule: str
    evidence: str
