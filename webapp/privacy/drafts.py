"""Drafts for a data protection officer, from a study's own settings.

What no setting tells stands in brackets, for a person to complete.
"""

from collections.abc import Iterable, Mapping

from jinja2 import Environment, PackageLoader, StrictUndefined

from experiment.studies.study import Study

DRAFTS = ("consent_annex.md", "record_of_processing.md", "data_flow.md")


def privacy_drafts(study: Study, stored: Iterable[str]) -> Mapping[str, str]:
    """Return each draft's text by its file's name.

    Args:
        study: The study.
        stored: What the consent page says is stored of people.
    """
    pages = Environment(
        loader=PackageLoader("webapp", "templates/privacy"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    platform = platform_of(study)
    facts = {
        "study": study.study,
        "stored": list(stored),
        "questions": [*study.screening, *study.questionnaire],
        "identifying": list(study.privacy.identifying_questions),
        "days": study.privacy.keep_identifying_days,
        "platform": platform,
        "paid": study.recruitment is not None,
        "currency": study.currency,
        "places": study.design.n_places,
    }
    return {name: pages.get_template(name).render(facts) for name in DRAFTS}


def platform_of(study: Study) -> str:
    """Return who recruits, as far as the study says; empty for nobody."""
    if study.panel is not None:
        return study.panel.preset or "[recruiting platform]"
    return "[recruiting platform]" if study.recruitment is not None else ""
