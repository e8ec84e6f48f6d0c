"""Whether a study excludes people by a score, without a person's decision."""

from collections.abc import Iterable, Mapping

from experiment.studies.study import Rule, Study


def decided_by_score(study: Study) -> bool:
    """Return whether a rule of the study, or a part of one, excludes by the score by itself."""
    return any(map(_by_score, study.exclusion))


def _by_score(rule: Rule) -> bool:
    extra: Mapping[str, object] = rule.model_extra or {}
    if rule.rule == "agent_likelihood":
        return bool(extra.get("automatic"))
    parts = extra.get("rules", ())
    return isinstance(parts, Iterable) and any(_by_score(Rule.model_validate(p)) for p in parts)
