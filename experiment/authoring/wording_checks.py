"""Checks of what participants of a level read and are asked in place of the others."""

from collections.abc import Iterator, Mapping

from experiment.authoring.findings import Examined
from experiment.authoring.session_checks import missing_page
from experiment.errors import ParallaxError, StudyError, StudyNote, placed
from experiment.plugins import unknown_name
from experiment.studies.design import Design, holds

# These come before a participant has a list.
_BEFORE = ("consent",)


def wording(examined: Examined) -> Iterator[ParallaxError]:
    """Yield levels, pages and questions that are none, and factors that change nothing."""
    study = examined.study
    design, known = study.design, {*study.texts, *study.design.order.pages.values()}
    for number, each in enumerate(design.wording):
        where = examined.at("design", "wording", number)
        yield from _unknown_levels(design, each.when, where)
        for page, text in each.pages.items():
            if page in _BEFORE:
                yield StudyError(
                    f'the page "{page}" comes before a participant has a list, so it is the same '
                    "for all",
                    where=where,
                    expected=f"one of: {', '.join(sorted(known.difference(_BEFORE)))}",
                )
            elif page not in known:
                yield placed(unknown_name("page", page, sorted(known.difference(_BEFORE))), where)
            yield from missing_page(examined, text, where)
        if "instructions" in each.pages and study.comprehension:
            yield StudyError(
                "the questions of [comprehension] come, with the instructions, before a "
                "participant has a list, but the instructions depend on it",
                where=where,
                expected="the same instructions for all, or no [comprehension]",
                remedy="Give what differs in a page of its own, with design.order.pages",
            )
    for number, question in enumerate(study.questionnaire):
        where = examined.at("questionnaire", number, "when")
        yield from _unknown_levels(design, question.when, where)
    yield from _contradictions(examined)
    yield from _rules(examined)
    yield from _without_effect(examined)


def _unknown_levels(design: Design, when: Mapping[str, str], where: str) -> Iterator[ParallaxError]:
    for factor, level in when.items():
        if factor not in design.factors:
            yield placed(unknown_name("factor", factor, list(design.factors)), where)
        elif level not in design.factors[factor]:
            known = design.factors[factor]
            yield placed(unknown_name(f'level of "{factor}"', level, known), where)


def _contradictions(examined: Examined) -> Iterator[ParallaxError]:
    """Yield what two entries say differently of the same participants."""
    design = examined.study.design
    for levels in design.combinations:
        said: dict[str, int] = {}
        for number, each in enumerate(design.wording):
            if not holds(each.when, levels):
                continue
            for what in (*(("title",) if each.title else ()), *each.pages):
                if what in said:
                    named = ", ".join(f"{factor} = {level}" for factor, level in levels.items())
                    yield StudyError(
                        f'"{what}" is worded twice for participants with {named}',
                        where=examined.at("design", "wording", number),
                        expected=f"one text; the other is in entry {said[what] + 1}",
                    )
                    return
                said[what] = number


def _rules(examined: Examined) -> Iterator[ParallaxError]:
    """Yield rules that read an answer for which not everybody is asked."""
    some = {question.name for question in examined.study.questionnaire if question.when}
    for number, rule in enumerate(examined.study.exclusion):
        given = rule.model_extra or {}
        answers = given.get("right_answers")
        read = {*answers} if isinstance(answers, Mapping) else set()
        read.update([given["question"]] if isinstance(given.get("question"), str) else [])
        for name in sorted(some & read):
            yield StudyError(
                f'the rule reads the answer to "{name}", which only participants of one level are '
                "asked",
                where=examined.at("exclusion", number),
                expected="a question that everybody is asked",
            )


def _without_effect(examined: Examined) -> Iterator[ParallaxError]:
    """Yield factors whose levels differ in nothing that a participant meets."""
    study, design = examined.study, examined.study.design
    whens = [source.when for source in design.sources]
    whens += [each.when for each in design.wording]
    whens += [question.when for question in study.questionnaire]
    named = {factor for when in whens for factor in when}
    for factor in design.factors:
        if factor not in named:
            yield StudyNote(
                f'the factor "{factor}" changes nothing that a participant meets',
                where=examined.at("design", "factors"),
                expected="items, pages or questions of its levels",
                remedy=(
                    f"Add [[design.wording]] with when = {{ {factor} = "
                    f'"{design.factors[factor][0]}" }}, or give items or questions that "when"'
                ),
            )
