"""The texts and questions of each level, as participants of its lists would meet them."""

from collections.abc import Iterator

from experiment.design.audit.check import Check, check
from experiment.studies.design import holds
from experiment.studies.study import Study

_ALWAYS = {"instructions": "instructions", "debrief": "debrief"}


def wording_checks(study: Study) -> Iterator[Check]:
    """Yield whether the lists of each level have the pages and questions that the study names."""
    design = study.design
    if not design.factors or not (
        design.wording or any(question.when for question in study.questionnaire)
    ):
        return
    yield check("pages and questions of each level", "as worded", _breaches(study))


def _breaches(study: Study) -> Iterator[str]:
    for list_ in range(study.design.n_lists):
        levels, met = study.design.levels(list_), study.of_list(list_)
        pages, title = dict(_ALWAYS), study.study.title
        for each in study.design.wording:
            if holds(each.when, levels):
                pages |= each.pages
                title = each.title or title
        for page, text in pages.items():
            try:
                same = met.text(page) == study.read(f"texts/{study.study.language}/{text}.md")
            except FileNotFoundError:
                same = False
            if not same:
                yield f"list {list_}: {page} is not {text}.md"
        asked = [each.name for each in study.questionnaire if holds(each.when, levels)]
        if [each.name for each in met.questionnaire] != asked or met.study.title != title:
            yield f"list {list_}: other questions or another title"
