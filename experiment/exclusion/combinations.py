"""Rules that combine other rules with ``any``, ``all`` and ``not``.

The combinations follow Kleene's three-valued logic: a rule that cannot decide returns None, and so
does its negation. A participant about whom a combination is undecided is not excluded.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import ClassVar

from pydantic import Field

from experiment.errors import ParallaxError
from experiment.exclusion.base import Assessment, BaseRule, ExclusionRule, PlannedStudy
from experiment.exclusion.rules import (
    flaws,
    load_rule,
    needs_certificate,
    needs_everyone,
    reads_targets,
)
from experiment.records import Judgment
from experiment.studies.study import Rule


class _Combination(BaseRule):
    rules: tuple[Rule, ...] = Field(min_length=2, description="the rules, with their parameters")

    def model_post_init(self, _: object, /) -> None:
        """Load the parts at once, so that an invalid rule is reported before any judging."""
        assert self.parts

    @cached_property
    def parts(self) -> tuple[ExclusionRule, ...]:
        """The rules that this rule combines."""
        return tuple(load_rule(rule) for rule in self.rules)

    @property
    def needs_everyone(self) -> bool:  # type: ignore[override]
        """Whether a combined rule compares all participants."""
        return any(map(needs_everyone, self.parts))

    @property
    def needs_certificate(self) -> bool:  # type: ignore[override]
        """Whether a combined rule reads the session's certificate."""
        return any(map(needs_certificate, self.parts))

    @property
    def reads_targets(self) -> bool:  # type: ignore[override]
        """Whether the evidence of a combined rule depends on the answers to targets."""
        return any(map(reads_targets, self.parts))

    def flaws(self, planned: PlannedStudy) -> Iterator[ParallaxError]:
        """Yield the faults of the combined rules."""
        for part in self.parts:
            for error in flaws(part, planned):
                yield type(error)(
                    error.problem, where="rules", expected=error.expected, remedy=error.remedy
                )

    def _assess_parts(
        self, judgments: Sequence[Judgment], word: str
    ) -> tuple[list[bool | None], str]:
        results = [part.judge(judgments) for part in self.parts]
        evidence = (
            f"{rule.rule} ({_DECISION_WORDS[is_kept]}): {text}"
            for rule, (is_kept, text) in zip(self.rules, results, strict=True)
        )
        return [is_kept for is_kept, _ in results], f", {word} ".join(evidence)


class AnyOf(_Combination):
    """Excludes participants whom at least one of its rules excludes."""

    name: ClassVar[str] = "any"
    reason: ClassVar[str] = "one of several reasons"
    between_parts: ClassVar[str] = "; or "

    def judge(self, judgments: Sequence[Judgment]) -> Assessment:
        """Return True if every rule keeps the participant, False if any does not, else None."""
        keeps, evidence = self._assess_parts(judgments, "or")
        return False if False in keeps else None if None in keeps else True, evidence


class AllOf(_Combination):
    """Excludes participants whom every one of its rules excludes."""

    name: ClassVar[str] = "all"
    reason: ClassVar[str] = "several reasons together"
    between_parts: ClassVar[str] = "; and "

    def judge(self, judgments: Sequence[Judgment]) -> Assessment:
        """Return True if any rule keeps the participant, False if all exclude them, else None."""
        keeps, evidence = self._assess_parts(judgments, "and")
        return True if True in keeps else None if None in keeps else False, evidence


class Not(_Combination):
    """Excludes participants whom its one rule keeps."""

    name: ClassVar[str] = "not"
    reason: ClassVar[str] = "the absence of what was required"
    rules: tuple[Rule, ...] = Field(
        min_length=1, max_length=1, description="the rule, with its parameters"
    )

    def judge(self, judgments: Sequence[Judgment]) -> Assessment:
        """Return whether the combined rule excludes the participant; None if it cannot decide."""
        [is_kept], evidence = self._assess_parts(judgments, "")
        return None if is_kept is None else not is_kept, f"not {evidence}"


_DECISION_WORDS = {True: "within bounds", False: "beyond bounds", None: "cannot be decided"}
