"""Checks of the exclusion rules against the items, the lists and the questionnaire."""

from collections.abc import Iterator
from functools import cache

from experiment.authoring.examined import Examined
from experiment.design.counterbalancing import arrangements
from experiment.errors import ParallaxError, StudyError, StudyNote
from experiment.exclusion.base import ExclusionRule, PlannedStudy
from experiment.exclusion.rules import flaws, load_rule, needs, needs_everyone, reads_targets
from experiment.exclusion.selection import Selection
from experiment.records import Kind
from experiment.responses.base import Arrangement, ResponseType
from experiment.responses.registry import response_of
from experiment.studies.study import Rule


def rules(examined: Examined) -> Iterator[ParallaxError]:
    """Report rules about data that the study lacks, and thresholds that cannot be crossed."""
    planned = _planned(examined)
    for number in range(len(examined.study.exclusion)):
        yield from _of_rule(examined, planned, number)


def blind_channels(examined: Examined) -> Iterator[ParallaxError]:
    """Report how a blind run would reveal results through rules that count answers to targets."""
    study = examined.study
    ways = ["who is kept and who excluded"]
    if study.design.replace_excluded:
        ways.append("which places are filled again (replace_excluded)")
    if study.payment.bonus == "kept":
        ways.append('who gets a bonus (bonus = "kept")')
    for number, rule in enumerate(study.exclusion):
        loaded = _loaded(rule)
        if loaded is not None and _reads_targets(loaded, examined):
            yield StudyNote(
                f'the rule "{rule.rule}" depends on the answers to targets, so these tell of the'
                f" results while the run is blind: {'; '.join(ways)}",
                where=examined.at("exclusion", number, "rule"),
                expected='a rule of catch trials alone (kind = "catch"), of times, devices or the'
                " questionnaire; or that you accept it",
            )


def _reads_targets(rule: ExclusionRule, examined: Examined) -> bool:
    """Return whether a rule depends on answers to targets in the study's lists."""
    if not reads_targets(rule):
        return False
    if not isinstance(rule, Selection) or examined.built is None:
        return True
    entries = (entry for entries in examined.built.lists for entry in entries)
    return any(entry.kind == Kind.TARGET and rule.counts(entry) for entry in entries)


def sound_rules(examined: Examined) -> list[Rule]:
    """Return the rules without errors."""
    planned = _planned(examined)
    return [
        rule
        for number, rule in enumerate(examined.study.exclusion)
        if _loaded(rule)
        and all(isinstance(error, StudyNote) for error in _of_rule(examined, planned, number))
    ]


def _planned(examined: Examined) -> PlannedStudy:
    built = examined.built
    response = _response(examined)

    @cache
    def arranged(number: int) -> list[Arrangement]:
        assert built is not None
        return arrangements(built.lists[number], response, seed=built.seed, list_=number, place=0)

    lists = built.lists if built else ()
    return PlannedStudy(examined.study, examined.items, lists, response, arranged)


def _response(examined: Examined) -> ResponseType | None:
    try:
        return response_of(examined.study)
    except ParallaxError:
        # The check of the response type reports this error.
        return None


def _loaded(rule: Rule) -> ExclusionRule | None:
    try:
        return load_rule(rule)
    except ParallaxError:
        # The checks of the keys report this rule.
        return None


def _of_rule(examined: Examined, planned: PlannedStudy, number: int) -> Iterator[ParallaxError]:
    rule = _loaded(examined.study.exclusion[number])
    if rule is None:
        return

    def at(*keys: str) -> str:
        return examined.at("exclusion", number, *keys)

    if needs_everyone(rule) and examined.study.design.replace_excluded:
        yield StudyError(
            "the rule compares all participants, so it is applied after the run is closed, "
            "when no one can replace an excluded participant",
            where=at("rule"),
            expected="replace_excluded = false",
        )
    yield from _unfit(rule, planned.session_type, at("rule"))
    for error in flaws(rule, planned):
        yield type(error)(
            error.problem,
            where=at(*filter(None, [error.where])),
            expected=error.expected,
            remedy=error.remedy,
        )


def _unfit(
    rule: ExclusionRule, response: ResponseType | None, where: str
) -> Iterator[ParallaxError]:
    """Report that a rule, or a part of one, counts what the answers do not provide."""
    if response is None:
        return
    needed = filter(None, map(needs, (rule, *getattr(rule, "parts", ()))))
    for what in sorted({*needed} - response.gives):
        yield StudyError(
            f'the rule counts {what}, but the type of response "{response.name}" gives none',
            where=where,
            expected="a rule of times, sides or the questionnaire, or one that fits such answers",
        )
