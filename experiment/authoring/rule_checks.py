"""Checks of the exclusion rules against the items, the lists and the questionnaire."""

from collections.abc import Callable, Iterator, Mapping

from experiment.authoring.findings import Examined, StudyNote, placed
from experiment.authoring.powerless_rules import powerless
from experiment.errors import ParallaxError, StudyError
from experiment.exclusion.integrity import AgentLikelihood
from experiment.exclusion.rating_gap import OfScale
from experiment.exclusion.rules import ExclusionRule, load_rule, needs, needs_everyone
from experiment.exclusion.selection import Selection
from experiment.integrity.rates import METHODS, SCORE, is_safe
from experiment.plugins import unknown_name
from experiment.records import Item
from experiment.responses.rating.scales import Scales
from experiment.responses.registry import response_of
from experiment.studies.study import Rule

# Names a key of the rule that is asked about.
_At = Callable[..., str]


def rules(examined: Examined) -> Iterator[ParallaxError]:
    """Yield rules about what the study does not have, and thresholds that nobody can cross."""
    for number in range(len(examined.study.exclusion)):
        yield from _of_rule(examined, number)


def sound_rules(examined: Examined) -> list[Rule]:
    """Return the rules that nothing is wrong with."""
    return [
        rule
        for number, rule in enumerate(examined.study.exclusion)
        if _loaded(rule)
        and all(isinstance(found, StudyNote) for found in _of_rule(examined, number))
    ]


def _loaded(rule: Rule) -> ExclusionRule | None:
    try:
        return load_rule(rule)
    except ParallaxError:
        # The checks of the keys name it.
        return None


def _of_rule(examined: Examined, number: int) -> Iterator[ParallaxError]:
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
    yield from _unfit(examined, rule, at)
    yield from _simple(examined, rule, at)


def _unfit(examined: Examined, rule: ExclusionRule, at: _At) -> Iterator[ParallaxError]:
    """Yield that a rule, or a part of it, counts what the answers do not tell."""
    try:
        response = response_of(examined.study)
    except ParallaxError:
        # It is named with its own key.
        return
    needed = filter(None, map(needs, (rule, *getattr(rule, "parts", ()))))
    for what in sorted({*needed} - response.gives):
        yield StudyError(
            f'the rule counts {what}, but the type of response "{response.name}" gives none',
            where=at("rule"),
            expected="a rule of times, sides or the questionnaire, or one that fits such answers",
        )


def _simple(examined: Examined, rule: ExclusionRule, at: _At) -> Iterator[ParallaxError]:
    for part in getattr(rule, "parts", ()):
        yield from _simple(examined, part, lambda *_: at("rules"))
    if isinstance(rule, Selection):
        unknown = list(_names(examined, rule, at))
        if isinstance(rule, OfScale):
            unknown += _scale(examined, rule, at)
        if wrong := unknown or list(_numbers(examined, rule, at)):
            yield from wrong
            return
    if isinstance(read := getattr(rule, "right_answers", None), Mapping):
        yield from _questions(examined, read, at)
    for never in powerless(examined, rule):
        yield StudyError(
            f"the rule can never exclude anyone: {never.reason}",
            where=at(never.key),
            expected=never.expected,
        )
    if isinstance(rule, AgentLikelihood):
        longest = max(map(len, examined.built.lists), default=0) if examined.built else 0
        yield from _of_score(rule, longest, at)


def _names(examined: Examined, rule: Selection, at: _At) -> Iterator[ParallaxError]:
    """Yield constructions, conditions and columns that do not exist."""
    known = [one.name for one in examined.study.constructions]
    for name in rule.construction:
        if name not in known:
            yield placed(unknown_name("construction", name, known), at("construction"))
    if not examined.items:
        return
    of_these = [
        item for item in examined.items if item.construction in (rule.construction or known)
    ]
    conditions = {item.condition for item in of_these}
    for name in rule.condition:
        if of_these and name not in conditions:
            yield placed(unknown_name("condition", name, conditions), at("condition"))
    for column, values in rule.where.items():
        yield from _column(examined.items, column, values, at("where"))


def _column(
    items: list[Item], column: str, values: tuple[str, ...], where: str
) -> Iterator[ParallaxError]:
    known = dict.fromkeys(name for item in items for name, _ in item.extra)
    if column not in known:
        yield placed(unknown_name("column of your own", column, known), where)
        return
    present = dict.fromkeys(dict(item.extra).get(column, "") for item in items)
    for value in values:
        if value not in present:
            yield placed(unknown_name(f'value in the column "{column}",', value, present), where)


def _numbers(examined: Examined, rule: Selection, at: _At) -> Iterator[ParallaxError]:
    """Yield lists of which a rule counts nothing."""
    numbers = [
        sum(
            rule.selects(
                entry.item.construction, entry.item.condition, entry.kind, entry.item.extra
            )
            for entry in entries
        )
        for entries in (examined.built.lists if examined.built else ())
    ]
    if not numbers:
        return
    key = "construction" if rule.construction else "rule"
    if 0 in numbers:
        yield StudyError(
            f"the rule counts the {rule.trials}, but list {numbers.index(0)} has none",
            where=at(key),
            expected="trials that every list shows",
        )


def _questions(
    examined: Examined, read: Mapping[str, tuple[str, ...]], at: _At
) -> Iterator[ParallaxError]:
    """Yield questions that the questionnaire does not have, and answers it does not offer."""
    asked = {question.name: question for question in examined.study.questionnaire}
    for name, accepted in read.items():
        if name not in asked:
            yield placed(unknown_name("question", name, asked), at())
            continue
        offered = asked[name].offered
        for answer in accepted if offered and asked[name].type != "choices" else ():
            if answer.strip().casefold() not in {one.strip().casefold() for one in offered}:
                yield placed(unknown_name(f'answer to "{name}",', answer, offered), at())


def _scale(examined: Examined, rule: OfScale, at: _At) -> Iterator[ParallaxError]:
    """Yield that trials do not have the scale that a rule names."""
    try:
        response = response_of(examined.study)
    except ParallaxError:
        return
    types = response.types.values() or (response,)
    known = [name for one in types if isinstance(one, Scales) for name in one.scales]
    if rule.scale is None or rule.scale in known:
        return
    if known:
        yield placed(unknown_name("scale", rule.scale, known), at("scale"))
    else:
        yield StudyError(
            "the rule names a scale, but the study's trials do not have several",
            where=at("scale"),
            expected='no "scale"',
        )


def _of_score(rule: AgentLikelihood, longest: int, at: _At) -> Iterator[ParallaxError]:
    """Yield that the score only proposes, or whom it may not exclude by itself."""
    tried = AgentLikelihood.model_fields["max_likelihood"].default
    if rule.max_likelihood < tried:
        yield StudyNote(
            f"the bound {rule.max_likelihood:g} is below {tried:g}, which at most one in a"
            " hundred simulated people exceeds: more people than that may be excluded",
            where=at("max_likelihood"),
            expected=f"{tried:g} or more",
        )
    if not rule.automatic:
        yield StudyNote(
            "the rule can never exclude anyone by itself: it proposes, and a person decides",
            where=at("rule"),
            expected="automatic = true, where it shall exclude without a person's decision",
        )
        return
    unsafe = [seen for seen in METHODS if not is_safe(SCORE, {seen}, longest)]
    if longest and unsafe:
        found = StudyError if unsafe == list(METHODS) else StudyNote
        yield found(
            f"the score may not exclude people by itself who answer by {', '.join(unsafe)}: it is"
            f" unknown for sessions of {longest} trials, or not known to be rare, how often it"
            " flags them wrongly",
            where=at("automatic"),
            expected="a study of at least 8 trials, or automatic = false",
        )
