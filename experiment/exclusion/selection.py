"""The selection of the trials, and of the scales, that a rule counts."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Annotated

from pydantic import BeforeValidator, Field

from experiment.errors import ParallaxError, StudyError, prefix_location
from experiment.exclusion.base import (
    Assessment,
    BaseRule,
    ListedItem,
    PlannedStudy,
    PlannedTrial,
    never,
)
from experiment.plugins import unknown_name
from experiment.records import Item, Judgment, Kind


def _wrap_in_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


_Name = Annotated[str, Field(min_length=1)]
# One name, or a list of names of which any matches.
Names = Annotated[tuple[_Name, ...], BeforeValidator(_wrap_in_list)]
# For each list, the trials that a rule counts.
Counted = Sequence[Sequence[PlannedTrial]]


class Selection(BaseRule):
    """A rule that counts selected trials: all, or those that match every given key."""

    construction: Names = Field(
        default=(),
        description="constructions whose trials count",
        json_schema_extra={"offers": "constructions"},
    )
    condition: Names = Field(default=(), description="conditions whose trials count")
    kind: Annotated[tuple[Kind, ...], BeforeValidator(_wrap_in_list)] = Field(
        default=(), description="kinds that count: target, filler, catch"
    )
    where: dict[str, Names] = Field(
        default={}, description="the study's own columns, and the values that count"
    )

    def selects(
        self,
        construction: str,
        condition: str,
        kind: Kind,
        extra_columns: Sequence[tuple[str, str]],
    ) -> bool:
        """Return whether a trial counts."""
        columns = dict(extra_columns)
        return (
            construction in (self.construction or (construction,))
            and condition in (self.condition or (condition,))
            and kind in (self.kind or (kind,))
            and all(columns.get(name) in values for name, values in self.where.items())
        )

    def selected(self, judgments: Sequence[Judgment], rule: str) -> list[Judgment]:
        """Return the judgments that count.

        Args:
            judgments: All judgments of a participant.
            rule: The rule's name, for the message.

        Raises:
            StudyError: No judgment counts.
        """
        counted_judgments = [
            judgment
            for judgment in judgments
            if self.selects(
                judgment.construction, judgment.condition, judgment.kind, judgment.extra
            )
        ]
        if not counted_judgments:
            constructions = sorted({judgment.construction for judgment in judgments})
            counted_trials = (
                f'counts errors on "{self.construction[0]}"'
                if len(self.construction) == 1 and self._only_constructions
                else f"counts the {self.trials}"
            )
            raise StudyError(
                f'the exclusion rule "{rule}" {counted_trials}, but the participant judged '
                "none of them",
                where="study.toml, exclusion",
                expected=f"one of: {', '.join(constructions)}" if self._only_constructions else "",
            )
        return counted_judgments

    def right(self, judgments: Sequence[Judgment], rule: str) -> list[bool]:
        """Return whether each counted judgment was right.

        Trials without an expected answer are left out.

        Raises:
            StudyError: No judgment counts, or none is right or wrong.
        """
        answers = (judgment.chose_good for judgment in self.selected(judgments, rule))
        counted_answers = [good for good in answers if good is not None]
        if not counted_answers:
            raise StudyError(
                f'the exclusion rule "{rule}" counts correct answers, but none of these answers is '
                "right or wrong",
                where="study.toml, exclusion",
                expected='the rule "rating_gap", or one of times, sides or the questionnaire',
            )
        return counted_answers

    @property
    def reads_targets(self) -> bool:  # type: ignore[override]
        """Whether answers to targets count: True unless the rule counts only catch trials."""
        return set(self.kind) != {Kind.CATCH}

    @property
    def _only_constructions(self) -> bool:
        return not (self.condition or self.kind or self.where)

    @property
    def trials(self) -> str:
        """A description of the selection, such as "catch trials of simple_agreement"."""
        words = [f"{' or '.join(self.kind)} trials" if self.kind else "trials"]
        if self.construction:
            words.append(f"of {' or '.join(self.construction)}")
        if self.condition:
            words.append(f"in the condition {' or '.join(self.condition)}")
        words += [f"with {name} = {' or '.join(values)}" for name, values in self.where.items()]
        return " ".join(words)

    def unknown_names(self, planned: PlannedStudy) -> Iterator[ParallaxError]:
        """Yield unknown constructions, conditions and columns, and report an empty selection."""
        unknown = list(self._unknown_names(planned))
        yield from unknown
        numbers = [sum(map(self.counts, entries)) for entries in planned.lists]
        if 0 in numbers and not unknown:
            yield StudyError(
                f"the rule counts the {self.trials}, but list {numbers.index(0)} has none",
                where="construction" if self.construction else "rule",
                expected="trials that every list shows",
            )

    def _unknown_names(self, planned: PlannedStudy) -> Iterator[ParallaxError]:
        known_names = [construction.name for construction in planned.study.constructions]
        for name in self.construction:
            if name not in known_names:
                yield prefix_location(
                    unknown_name("construction", name, known_names), "construction"
                )
        items = [
            item
            for item in planned.items
            if item.construction in (self.construction or known_names)
        ]
        conditions = {item.condition for item in items}
        for name in self.condition:
            if items and name not in conditions:
                yield prefix_location(unknown_name("condition", name, conditions), "condition")
        if planned.items:
            for column, values in self.where.items():
                yield from _unknown_values(planned.items, column, values)

    def counts(self, entry: ListedItem) -> bool:
        """Return whether the trial of a list's item counts."""
        item = entry.item
        return self.selects(item.construction, item.condition, entry.kind, item.extra)

    def powerless(self, planned: PlannedStudy) -> Iterator[ParallaxError]:
        """Report why no answers to the counted trials can exceed the rule's bound."""
        try:
            lists = planned.trials(self.counts)
        except ParallaxError:
            # The checks of the items report items that cannot be shown.
            return
        response = planned.session_type
        if response is None or not any(lists) or self.needs not in {None, *response.gives}:
            return
        yield from self.powerless_on(lists, planned)

    def powerless_on(self, lists: Counted, planned: PlannedStudy) -> Iterator[ParallaxError]:
        """Report why no answers to these trials can exceed the rule's bound.

        Args:
            lists: The trials of each list that the rule counts.
            planned: The study.
        """
        yield from ()


def count_most_trials(lists: Counted, counts: Callable[[PlannedTrial], object]) -> int:
    """Return the number of counted trials in the list that has the most of them."""
    return max(sum(bool(counts(trial)) for trial in trials) for trials in lists)


def _unknown_values(
    items: Sequence[Item], column: str, values: tuple[str, ...]
) -> Iterator[ParallaxError]:
    columns = dict.fromkeys(name for item in items for name, _ in item.extra)
    if column not in columns:
        yield prefix_location(unknown_name("column of your own", column, columns), "where")
        return
    present = dict.fromkeys(dict(item.extra).get(column, "") for item in items)
    for value in values:
        if value not in present:
            yield prefix_location(
                unknown_name(f'value in the column "{column}",', value, present), "where"
            )


class ScaleRule(Selection):
    """A rule that reads ratings on the scale that it names, or else on each scale separately.

    A participant may fail on one scale in spite of careful answers: every sentence of a study may
    be plausible, for example. So a rule that names no scale excludes only those who fail on all.
    """

    scale: str | None = Field(
        default=None, min_length=1, description="the scale that counts, where trials have several"
    )

    def on_scales(
        self, judgments: Sequence[Judgment], assess: Callable[[Sequence[Judgment]], Assessment]
    ) -> Assessment:
        """Return a rule's assessment on the scale that counts, or on all scales together.

        Args:
            judgments: The judgments that are selected.
            assess: Assesses the judgments of one scale.
        """
        names = dict.fromkeys(name for judgment in judgments for name, _ in judgment.ratings)
        # A named scale on which there are no judgments decides nothing.
        scales = list(names) if self.scale is None else [self.scale]
        if not scales:
            return assess(judgments)
        assessments = [assess(self._select_scale(judgments, scale)) for scale in scales]
        kept = [kept for kept, _ in assessments]
        evidence = (
            f"{scale}: {text}" for scale, (_, text) in zip(scales, assessments, strict=True)
        )
        decided = True if True in kept else None if None in kept else False
        return decided, "; ".join(evidence)

    def _select_scale(self, judgments: Sequence[Judgment], scale: str) -> list[Judgment]:
        """Return judgments with one scale's point; if none is named, also those without scales."""
        on_scale = []
        for judgment in judgments:
            point = dict(judgment.ratings).get(scale)
            if point is not None:
                answer = f"point {point} of the scale"
                on_scale.append(replace(judgment, rating=point, answer=answer))
            elif self.scale is None and not judgment.ratings:
                on_scale.append(judgment)
        return on_scale

    def unknown_names(self, planned: PlannedStudy) -> Iterator[ParallaxError]:
        """Also report that no trial has the scale that the rule names."""
        yield from super().unknown_names(planned)
        response = planned.session_type
        if response is None or self.scale is None:
            return
        types = response.types.values() or (response,)
        scale_names = [name for type_ in types for name in type_.named_scales]
        if scale_names and self.scale not in scale_names:
            yield prefix_location(unknown_name("scale", self.scale, scale_names), "scale")
        elif not scale_names:
            yield StudyError(
                "the rule names a scale, but the study's trials do not have several",
                where="scale",
                expected='no "scale"',
            )

    def powerless_on(self, lists: Counted, planned: PlannedStudy) -> Iterator[ParallaxError]:
        """Report why no ratings on the counted scale can exceed the rule's bound."""
        if self.scale is not None:
            lists = [
                [trial for trial in trials if self.scale in dict(trial.judged.ratings)]
                for trials in lists
            ]
        if any(lists):
            yield from self.powerless_on_scale(lists)
        else:
            yield never(
                f'none of the {self.trials} has the scale "{self.scale}"',
                "scale",
                "the scale of a task that it counts",
            )

    def powerless_on_scale(self, lists: Counted) -> Iterator[ParallaxError]:
        """Report why no answers to trials with the scale can exceed the rule's bound."""
        yield from ()
