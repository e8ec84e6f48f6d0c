"""A plan as a text, for the forms of preregistrations."""

from collections.abc import Iterator, Mapping

from experiment.plan.plan import Plan
from experiment.studies.study import Study


def to_text(plan: Plan, study: Study) -> str:
    """Return the plan in Markdown."""
    return "\n".join(_lines(plan, study)) + "\n"


def _lines(plan: Plan, study: Study) -> Iterator[str]:
    values = plan.values
    yield from (f"# Plan of {study.study.title}", "")
    yield f"Frozen on {plan.frozen_on}. SHA-256 of the plan: `{plan.sha256}`."
    yield from ("", "## Design", "")
    yield f"- Study {values['study']}, version {values['study_version']}; {values['response']}."
    yield f"- {values['n_lists']} lists, built with the seed {values['seed']}."
    yield f"- Materials: SHA-256 `{values['materials_hash']}`."
    yield f"- Lists: SHA-256 `{values['lists_hash']}`."
    yield from ("", "## Sample size", "")
    yield f"- {values['n_participants']} participants: the run has so many places and no more."
    yield from ("", "## Who is left out", "")
    rules = values["exclusion"]
    yield from (f"- {_settings(rule)}" for rule in rules)
    if not rules:
        yield "- Nobody: the study has no exclusion rule."
    yield from (f"- Screening: {one['label']}" for one in values["screening"])
    yield from ("", "## Comparisons", "")
    yield from (f"- {name}: {value}" for name, value in values["comparisons"].items())
    if plan.amendments:
        yield from ("", "## Amendments", "")
        for one in plan.amendments:
            changed = ", ".join(one["changes"]) or "nothing"
            yield f"- {one['on']}: {one['reason']} Changed: {changed}."


def _settings(rule: Mapping[str, object]) -> str:
    others = ", ".join(f"{name} = {value}" for name, value in rule.items() if name != "rule")
    return f"{rule['rule']} ({others})" if others else str(rule["rule"])
