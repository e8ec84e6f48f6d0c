"""The basic records of an experiment: items, trials, judgments, verdicts."""

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What an item is for."""

    TARGET = "target"
    FILLER = "filler"
    CATCH = "catch"


class Variant(StrEnum):
    """The versions in which an item exists; ``GOOD`` is the expected choice."""

    GOOD = "good"
    BAD = "bad"
    DISTRACTOR = "distractor"


_VERSIONS = frozenset(map(str, Variant))


class Side(StrEnum):
    """Where an option stands on the screen: first is above (or left), the others follow below."""

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
# Where the two options of a forced choice stand.
PAIR = (Side.FIRST, Side.SECOND)


@dataclass(frozen=True, slots=True)
class Item:
    """A context and the options that continue it, stored once, as plain lower-case-safe words.

    Attributes:
        item_id: Unique in the study, ``<template>-<running number>``.
        kind: Target, filler or catch; lists may re-label a target as a catch trial.
        construction: The row of the results table this item counts towards.
        condition: The supplement's name of the condition within the construction.
        template: The template that generated it.
        features: The condition's features as ``name=value`` pairs joined by spaces.
        frame: The lexical choices as ``SLOT=lemma`` pairs joined by spaces (spaces inside a
            lemma are written ``_``); items of one template that share it differ only in features.
        context: The words before the options; empty for whole sentences.
        good: The expected option.
        bad: The option that violates the construction's rule.
        distractor: A third version (the intrusive licensor of a negative polarity item), or empty.
        contrast: Which version stands against ``good`` in the forced choice.
        extra: The researcher's own columns as (name, value), in their order; nothing reads them
            here, and every table of items keeps them.
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
        """The text that stands against ``good`` in the forced choice."""
        return self.distractor if self.contrast is Variant.DISTRACTOR else self.bad

    def version(self, name: str) -> str:
        """Return the text of a version: good, bad, distractor, or a column of the researcher's."""
        if name in _VERSIONS:
            return str(getattr(self, name))
        return dict(self.extra).get(name, "")


@dataclass(frozen=True, slots=True)
class Trial:
    """One item as one participant sees it.

    Attributes:
        position: 1 for the participant's first trial.
        item_id: The item shown.
        kind: The item's kind in this list.
        good_side: Where the expected option stands, None where it is not on the screen; never
            sent to the browser.
        options: The versions on the screen, in their order; empty where they are good and the one
            against it.
        points: How many points the scale has on which the one version shown is rated; None where
            an option is chosen.
    """

    position: int
    item_id: str
    kind: Kind
    good_side: Side | None
    options: tuple[str, ...] = ()
    points: int | None = None


@dataclass(frozen=True, slots=True)
class Steps:
    """What a browser measured of a trial that is read step by step: a word or region at a time.

    Each tuple has one entry per step that was shown, in their order.

    Attributes:
        onset_ms: When the step was painted, in milliseconds since the first one was.
        rt_ms: From its painting to the beginning of the first press; None where it took a day.
        sources: What its painting is known from, a letter each: p for the browser's own
            presentation time, f for two animation frames.
        uncertainty_ms: How exactly that is known.
        wrong: How often the wrong one of two words was pressed; empty where there is one.
        done_ms: From the painting to the press that led on, where there are two words.
        question_ms: From the painting of the question after the last step to its answer; None
            where there was none.
    """

    onset_ms: tuple[float, ...]
    rt_ms: tuple[float | None, ...]
    sources: str
    uncertainty_ms: tuple[float, ...]
    wrong: tuple[int, ...] = ()
    done_ms: tuple[float | None, ...] = ()
    question_ms: float | None = None

    @property
    def is_whole(self) -> bool:
        """Whether every list has an entry for each step."""
        of_each = (self.rt_ms, self.sources, self.uncertainty_ms)
        of_pairs = (self.wrong, self.done_ms)
        n = len(self.onset_ms)
        return all(len(measures) == n for measures in of_each) and {
            len(measures) for measures in of_pairs
        } <= {0, n}

    @property
    def total_ms(self) -> float | None:
        """From the first painting to the last press, without the question; None where unknown."""
        last = (self.done_ms or self.rt_ms)[-1:]
        if not last or last[0] is None:
            return None
        return round(self.onset_ms[-1] + last[0], 1)


@dataclass(frozen=True, slots=True)
class Judgment:
    """One answered trial, as the exclusion rules see it.

    Attributes:
        position: The trial's position.
        item_id: The item judged.
        kind: The item's kind in this list.
        construction: The item's construction.
        chose_good: Whether the expected option was chosen; None of a rating, which is neither
            right nor wrong.
        chosen_side: Where the chosen option stood; None of a rating.
        rt_ms: Reaction time in milliseconds; None when the browser could not measure it.
        condition: The item's condition.
        extra: The researcher's own columns of the item, as (name, value).
        rating: The point of the scale, from 1; None of a choice. Of several scales the first one's.
        ratings: The point of each scale, as (name, point), where a trial has several.
        version: The version that was on the screen alone; empty where options were.
        answer: What was answered, as an exclusion's evidence names it; empty where it is the
            side.
        steps: What was measured of each word or region of what was read step by step; None of
            other trials.
        is_late: Whether it came after the deadline; None where there is none.
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
    steps: Steps | None = None
    is_late: bool | None = None
    ratings: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether one participant's judgments enter the analysis, and why.

    Attributes:
        kept: False when the rule excludes the participant.
        rule: The name of the rule that decided; empty when every rule kept the participant.
        evidence: The figures the rule saw, in words.
    """

    kept: bool
    rule: str
    evidence: str
