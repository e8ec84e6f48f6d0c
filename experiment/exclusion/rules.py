"""The exclusion rules by name, their verdict on a participant, and whether it is a score's."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Protocol, cast

from pydantic import ValidationError

from experiment.errors import StudyError, wrong_keys
from experiment.exclusion.answered import Answered, Assessment
from experiment.plugins import Registry
from experiment.records import Judgment, Verdict
from experiment.responses.base import Gives
from experiment.studies.study import Rule, Study

RULES = Registry(
    "exclusion rule",
    {
        "max_errors": "experiment.exclusion.max_errors:MaxErrors",
        "max_error_rate": "experiment.exclusion.max_errors:MaxErrorRate",
        "too_fast": "experiment.exclusion.times:TooFast",
        "too_slow": "experiment.exclusion.times:TooSlow",
        "too_late": "experiment.exclusion.times:TooLate",
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


def verdict(rules: Sequence[Rule], judgments: Sequence[Judgment]) -> Verdict:
    """Return the verdict of the first rule that excludes, or that every rule keeps.

    Args:
        rules: The study's exclusion rules in their order.
        judgments: The judgments of a participant who finished, one for each trial; an
            ``Answered`` for rules that read more than judgments.

    Returns:
        The verdict; its evidence is the excluding rule's, or that of all rules.

    Raises:
        StudyError: A rule has wrong parameters or counts what no trial has.
        UnknownNameError: A rule has an unknown name.
    """
    evidence, session = [], Answered.of(judgments)
    for rule in rules:
        kept, figures = load_rule(rule).judge(session)
        # What cannot be told (None) excludes nobody.
        if kept is not None and not kept:
            return Verdict(kept=False, rule=rule.rule, evidence=figures)
        evidence.append(figures)
    return Verdict(kept=True, rule="", evidence="; ".join(evidence) or "no rule to apply")


def decided_by_score(study: Study) -> bool:
    """Return whether a rule of the study, or a part of one, excludes by the score by itself."""
    return any(map(_by_score, study.exclusion))


def _by_score(rule: Rule) -> bool:
    extra: Mapping[str, object] = rule.model_extra or {}
    if rule.rule == "agent_likelihood":
        return bool(extra.get("automatic"))
    parts = extra.get("rules", ())
    return isinstance(parts, Iterable) and any(_by_score(Rule.model_validate(p)) for p in parts)
