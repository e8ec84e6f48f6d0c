"""The exclusion rules by name."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol, cast

from pydantic import ValidationError

from experiment.errors import StudyError, wrong_keys
from experiment.exclusion.answered import Assessment
from experiment.plugins import Registry
from experiment.records import Judgment
from experiment.responses.base import Gives
from experiment.studies.study import Rule

RULES = Registry(
    "exclusion rule",
    {
        "max_errors": "experiment.exclusion.max_errors:MaxErrors",
        "max_error_rate": "experiment.exclusion.max_errors:MaxErrorRate",
        "too_fast": "experiment.exclusion.times:TooFast",
        "too_slow": "experiment.exclusion.times:TooSlow",
        "too_late": "experiment.exclusion.late:TooLate",
        "same_side": "experiment.exclusion.sides:SameSide",
        "rating_gap": "experiment.exclusion.rating_gap:RatingGap",
        "incomplete": "experiment.exclusion.questionnaire:Incomplete",
        "not_native": "experiment.exclusion.questionnaire:NotNative",
        "failed_comprehension": "experiment.exclusion.questionnaire:FailedComprehension",
        "outlier": "experiment.exclusion.outlier:Outlier",
        "impossible_time": "experiment.exclusion.integrity:ImpossibleTime",
        "timing_mismatch": "experiment.exclusion.integrity:TimingMismatch",
        "device_change": "experiment.exclusion.integrity:DeviceChange",
        "agent_likelihood": "experiment.exclusion.integrity:AgentLikelihood",
        "any": "experiment.exclusion.combinations:AnyOf",
        "all": "experiment.exclusion.combinations:AllOf",
        "not": "experiment.exclusion.combinations:Not",
    },
    group="parallax.rules",
    requires=("judge",),
)


class ExclusionRule(Protocol):
    """A pydantic model of its own parameters that judges one participant who finished.

    A rule that counts what not every type of response gives says so in ``needs``. One that
    compares all participants sets ``needs_everyone = True``, one that reads the session's
    certificate ``needs_certificate = True``.
    """

    def judge(self, judgments: Sequence[Judgment]) -> Assessment:
        """Return whether the participant is kept, and the figures that say so in words.

        None in place of a truth value says that it cannot be told, which excludes nobody.

        Args:
            judgments: The participant's judgments, one for each trial; an ``Answered``, which
                has the questionnaire and the other participants as well.

        Raises:
            StudyError: The rule counts what these judgments do not have.
        """


def load_rule(rule: Rule, *, own_code: bool = True) -> ExclusionRule:
    """Return a study's rule with its parameters checked.

    Args:
        rule: The rule's name, or ``"module:Class"`` for one of the user's own, and parameters.
        own_code: Whether one of the user's own may be imported.

    Raises:
        UnknownNameError: There is no rule of that name.
        PluginError: It cannot be imported, is no rule, or must not be imported.
        StudyError: A parameter is missing, unknown or wrong.
    """
    make = cast(Callable[..., ExclusionRule], RULES.load(rule.rule, own_code=own_code))
    if not own_code:
        for part in parts_of(rule):
            load_rule(part, own_code=False)
    try:
        return make(**(rule.model_extra or {}))
    except ValidationError as error:
        raise StudyError(
            f'the exclusion rule "{rule.rule}" has wrong parameters: {wrong_keys(error)}',
            where="study.toml, exclusion",
            remedy="docs/studies.md lists the rules and their parameters",
        ) from error


def needs(rule: object) -> Gives | None:
    """Return what a rule needs answers to tell; None where any will do."""
    found: Gives | None = getattr(rule, "needs", None)
    return found


def needs_everyone(rule: ExclusionRule) -> bool:
    """Return whether a rule compares all participants, so that it waits for the last of them."""
    return bool(getattr(rule, "needs_everyone", False))


def needs_certificate(rule: ExclusionRule) -> bool:
    """Return whether a rule reads how plausible the session is."""
    return bool(getattr(rule, "needs_certificate", False))


def parts_of(rule: Rule) -> Iterator[Rule]:
    """Yield the rules that a rule is made of, as far as they are rules."""
    parts = (rule.model_extra or {}).get("rules")
    for part in parts if isinstance(parts, list | tuple) else ():
        if isinstance(part, Rule):
            yield part
        elif isinstance(part, Mapping) and isinstance(part.get("rule"), str):
            yield Rule.model_validate(part)
