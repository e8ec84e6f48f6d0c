"""The exclusion rules by name."""

from collections.abc import Sequence
from typing import Protocol, cast

from pydantic import ValidationError

from experiment.errors import StudyError
from experiment.plugins import Registry
from experiment.records import Judgment
from experiment.studies.study import Rule
from experiment.validation import wrong_keys

RULES = Registry(
    "exclusion rule",
    {
        "max_errors": "experiment.exclusion.max_errors:MaxErrors",
        "max_error_rate": "experiment.exclusion.max_error_rate:MaxErrorRate",
    },
)


class ExclusionRule(Protocol):
    """A pydantic model of its own parameters that judges one participant who finished."""

    def judge(self, judgments: Sequence[Judgment]) -> tuple[bool, str]:
        """Return whether the participant is kept, and the figures that say so in words.

        Args:
            judgments: The participant's judgments, one for each trial; a participant who
                finished has answered every trial, so none is missing.

        Raises:
            StudyError: The rule counts what these judgments do not have.
        """


def load_rule(rule: Rule) -> ExclusionRule:
    """Return a study's rule with its parameters checked.

    Raises:
        UnknownNameError: There is no rule of that name.
        StudyError: A parameter is missing, unknown or wrong.
    """
    make = cast(type[ExclusionRule], RULES.load(rule.rule))
    try:
        return make(**(rule.model_extra or {}))
    except ValidationError as error:
        raise StudyError(
            f'the exclusion rule "{rule.rule}" has wrong parameters: {wrong_keys(error)}',
            where="study.toml, exclusion",
            remedy="docs/studies.md lists the rules and their parameters",
        ) from error
