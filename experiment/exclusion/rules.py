"""The registry of exclusion rules, verdicts on participants, and descriptions of rules in words."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TypeVar, cast

from pydantic import ValidationError

from experiment.errors import ParallaxError, StudyError, wrong_keys
from experiment.exclusion.base import Answered, ExclusionRule, PlannedStudy
from experiment.plugins import Registry
from experiment.records import Judgment, Verdict
from experiment.responses.base import Gives
from experiment.studies.study import Rule, Study

_Attribute = TypeVar("_Attribute")

RULES = Registry(
    "exclusion rule",
    {
        "max_errors": "experiment.exclusion.max_errors:MaxErrors",
        "max_error_rate": "experiment.exclusion.max_errors:MaxErrorRate",
        "min_score": "experiment.exclusion.min_score:MinScore",
        "too_fast": "experiment.exclusion.times:TooFast",
        "too_slow": "experiment.exclusion.times:TooSlow",
        "too_late": "experiment.exclusion.times:TooLate",
        "same_side": "experiment.exclusion.sides:SameSide",
        "unknown_words": "experiment.exclusion.unknown_words:UnknownWords",
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


def load_rule(rule: Rule, *, own_code: bool = True) -> ExclusionRule:
    """Return a study's rule with validated parameters.

    Args:
        rule: The rule's name, or ``"module:Class"`` for the user's own rule, and its parameters.
        own_code: Whether the user's own code may be imported.

    Raises:
        UnknownNameError: There is no rule of that name.
        PluginError: The class cannot or must not be imported, or is not a rule.
        StudyError: A parameter is missing, unknown or invalid.
    """
    make_rule = cast(Callable[..., ExclusionRule], RULES.load(rule.rule, own_code=own_code))
    if not own_code:
        for part in parts_of(rule):
            load_rule(part, own_code=False)
    try:
        return make_rule(**(rule.model_extra or {}))
    except ValidationError as error:
        raise StudyError(
            f'the exclusion rule "{rule.rule}" has wrong parameters: {wrong_keys(error)}',
            where="study.toml, exclusion",
            remedy="docs/studies.md lists the rules and their parameters",
        ) from error


def needs(rule: object) -> Gives | None:
    """Return what the answers must provide for a rule; None if any answers will do."""
    needed: Gives | None = getattr(rule, "needs", None)
    return needed


def needs_everyone(rule: ExclusionRule) -> bool:
    """Return whether a rule compares all participants, and so waits until all have finished."""
    return bool(getattr(rule, "needs_everyone", False))


def needs_certificate(rule: ExclusionRule) -> bool:
    """Return whether a rule reads the session's certificate."""
    return bool(getattr(rule, "needs_certificate", False))


def reads_targets(rule: ExclusionRule) -> bool:
    """Return whether a rule depends on answers to targets; by default, it does."""
    return bool(getattr(rule, "reads_targets", True))


def flaws(rule: ExclusionRule, planned: PlannedStudy) -> Iterator[ParallaxError]:
    """Yield a rule's faults in a study, each located at one of the rule's keys."""
    find = getattr(rule, "flaws", None)
    yield from find(planned) if find is not None else ()


def parts_of(rule: Rule) -> Iterator[Rule]:
    """Yield the rules that a rule combines, skipping anything that is not a valid rule table."""
    parts = (rule.model_extra or {}).get("rules")
    for part in parts if isinstance(parts, list | tuple) else ():
        if isinstance(part, Rule):
            yield part
        elif isinstance(part, Mapping) and isinstance(part.get("rule"), str):
            yield Rule.model_validate(part)


def verdict(rules: Sequence[Rule], judgments: Sequence[Judgment]) -> Verdict:
    """Return the verdict on a participant: excluded by the first rule that does so, or kept.

    Args:
        rules: The study's exclusion rules in their order.
        judgments: The judgments of a participant who finished, one for each trial; an ``Answered``
            for rules that read more than judgments.

    Returns:
        The verdict; its evidence is the excluding rule's, or that of all rules.

    Raises:
        StudyError: A rule has invalid parameters or needs data that the trials lack.
        UnknownNameError: A rule has an unknown name.
    """
    evidence, session = [], Answered.of(judgments)
    for rule in rules:
        is_kept, figures = load_rule(rule).judge(session)
        # An undecided rule (None) excludes nobody.
        if is_kept is not None and not is_kept:
            return Verdict(kept=False, rule=rule.rule, evidence=figures)
        evidence.append(figures)
    return Verdict(kept=True, rule="", evidence="; ".join(evidence) or "no rule to apply")


def count_targets(rules: Sequence[Rule]) -> bool:
    """Return whether any of a study's rules depends on answers to targets, or on their times."""
    return any(reads_targets(load_rule(rule)) for rule in rules)


def blind_verdict(rules: Sequence[Rule], decided: Verdict) -> Verdict:
    """Return what a blind run may show of a verdict.

    If any rule counts targets, this is only whether the participant is kept: even which rule
    excluded a participant would reveal that the rules before it did not.

    Args:
        rules: The study's exclusion rules.
        decided: The verdict.
    """
    if not rules or count_targets(rules):
        return Verdict(kept=decided.kept, rule="", evidence="")
    return decided


def assess_without_targets(rules: Sequence[Rule], session: Answered) -> str:
    """Return the evidence of the rules that read no target, whatever the verdict is.

    Rules that compare participants, or read the certificate, are left out.

    Args:
        rules: The study's exclusion rules.
        session: The participant's session.
    """
    evidence = []
    for rule in map(load_rule, rules):
        if not (reads_targets(rule) or needs_everyone(rule) or needs_certificate(rule)):
            # A rule that cannot judge this session says nothing of it.
            with suppress(StudyError):
                evidence.append(rule.judge(session)[1])
    return "; ".join(evidence)


def reason(name: str) -> str:
    """Return a rule's reason, in words that follow "excluded for": "too many errors".

    If the rule gives no reason or is not installed, the text is the rule's name.
    """
    return _class_attribute(name, "reason", name.rpartition(":")[2].replace("_", " "))


def rule_in_words(rule: Mapping[str, object], titles: Mapping[str, str] | None = None) -> str:
    """Return an exclusion rule in words, with its settings and the rules that it combines.

    Args:
        rule: The rule as study.toml has it; ``any``, ``all`` and ``not`` hold others in ``rules``.
        titles: The constructions' titles by their names.

    Returns:
        For instance "too many errors (errors allowed: 1)".
    """
    name = str(rule["rule"])
    inner_rules = cast(Sequence[Mapping[str, object]], rule.get("rules", ()))
    if inner_rules:
        parts = _class_attribute(name, "between_parts", "; ").join(
            rule_in_words(part, titles) for part in inner_rules
        )
        return f"{reason(name)} ({parts})"
    settings = {key: value for key, value in rule.items() if key != "rule"}
    if titles and settings.get("construction") in titles:
        settings["construction"] = titles[str(settings["construction"])]
    words = "; ".join(setting_in_words(name, key, value) for key, value in settings.items())
    return f"{reason(name)} ({words})" if words else reason(name)


def setting_in_words(rule: str, key: str, value: object) -> str:
    """Return a rule's setting in words: "errors allowed: 1" for ``max_errors = 1``.

    Args:
        rule: The rule's name.
        key: The parameter's name.
        value: Its value.
    """
    words = _class_attribute(rule, "setting_words", dict[str, str]()).get(key)
    unit = " ms" if key.endswith("_ms") else ""
    return f"{words or key.removesuffix('_ms').replace('_', ' ')}: {_value_in_words(value)}{unit}"


def decided_by_score(study: Study) -> bool:
    """Return whether a rule of the study, or a part of one, excludes automatically by the score."""
    return any(map(_is_decided_by_score, study.exclusion))


def _is_decided_by_score(rule: Rule) -> bool:
    extra: Mapping[str, object] = rule.model_extra or {}
    if rule.rule == "agent_likelihood":
        return bool(extra.get("automatic"))
    parts = extra.get("rules", ())
    return isinstance(parts, Iterable) and any(
        _is_decided_by_score(Rule.model_validate(p)) for p in parts
    )


def _class_attribute(rule: str, name: str, default: _Attribute) -> _Attribute:
    try:
        loaded = RULES.load(rule, own_code=False)
    except ParallaxError:
        return default
    return cast(_Attribute, getattr(loaded, name, default))


def _value_in_words(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_value_in_words(inner)}" for name, inner in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) else str(value)
