"""Checks of the questions that participants answer, and of the study's exclusion rules."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from experiment.authoring.examined import Examined
from experiment.authoring.session_checks import report_missing_page
from experiment.design.counterbalancing import arrangements
from experiment.errors import ParallaxError, StudyError, StudyNote, find_repeated, prefix_location
from experiment.exclusion.base import ExclusionRule, PlannedStudy
from experiment.exclusion.rules import flaws, load_rule, needs, needs_everyone, reads_targets
from experiment.exclusion.selection import Selection
from experiment.plugins import unknown_name
from experiment.records import Kind
from experiment.responses.base import Arrangement, ResponseType
from experiment.studies.design import Design, holds
from experiment.studies.question import BETWEEN_CHOICES, Question
from experiment.studies.study import Rule


def check_questionnaire(examined: Examined) -> Iterator[ParallaxError]:
    """Report questions that cannot be answered, or whose answers could not be distinguished."""
    questions = examined.study.questionnaire
    for name in find_repeated([question.name for question in questions]):
        second = [n for n, question in enumerate(questions) if question.name == name][1]
        yield StudyError(
            f'two questions are called "{name}"',
            where=examined.at("questionnaire", second, "name"),
            expected="a different name for each question",
        )
    for number, question in enumerate(questions):
        location = examined.at("questionnaire", number, "options")
        yield from _check_condition(examined, number)
        several = question.type in ("choice", "choices")
        if several and not [text for text in question.options if text.strip()]:
            never = ", and no one could finish, because it is required" * question.required
            yield StudyError(
                f'the question "{question.name}" is a choice without options{never}',
                where=location,
                expected='the answers it offers, e.g. options = ["yes", "no"]',
                remedy='Give options, or make it type = "text"',
            )
        elif several:
            yield from _check_options(question, location)
        elif question.options:
            yield StudyError(
                f'the question "{question.name}" is of type {question.type} but has options',
                where=location,
                expected='options only for type = "choice" or "choices"',
                remedy='Write type = "choice", or remove the options',
            )


def _check_condition(examined: Examined, number: int) -> Iterator[ParallaxError]:
    """Report conditions on a question that does not come earlier, or on an impossible answer."""
    question = examined.study.questionnaire[number]
    earlier_questions = {earlier.name: earlier for earlier in examined.study.questionnaire[:number]}
    location = examined.at("questionnaire", number, "only_if")
    for name, answers in question.only_if.items():
        if (earlier_question := earlier_questions.get(name)) is None:
            yield prefix_location(
                unknown_name("earlier question", name, list(earlier_questions)), location
            )
        elif not (offered := earlier_question.offered):
            yield StudyError(
                f'the question "{question.name}" depends on "{name}", whose answers '
                "are not fixed options",
                where=location,
                expected="an earlier question of type choice, choices or scale",
            )
        elif unknown := [answer for answer in answers if answer not in offered]:
            yield prefix_location(
                unknown_name(f'answer to "{name}",', unknown[0], offered), location
            )


def _check_options(question: Question, location: str) -> Iterator[ParallaxError]:
    name, options = question.name, question.options
    if question.type == "choices" and (
        with_semicolon := [text for text in options if BETWEEN_CHOICES.strip() in text]
    ):
        yield StudyError(
            f'the question "{name}" offers "{with_semicolon[0]}", but a semicolon '
            "separates several answers of one participant",
            where=location,
            expected="options without a semicolon",
        )
    if twice := find_repeated(options):
        yield StudyError(
            f'the question "{name}" offers "{twice[0]}" more than once',
            where=location,
            expected="each answer only once",
        )
    if any(not option.strip() for option in options):
        yield StudyError(
            f'the question "{name}" offers an empty answer', where=location, expected="texts"
        )
    if spaced := [option for option in options if " ".join(option.split()) != option]:
        yield StudyError(
            f'the question "{name}" offers {spaced[0]!r}, with spaces that no browser sends back',
            where=location,
            expected="answers without spaces at their ends, and with single spaces inside",
        )
    if repeated_options := find_repeated(
        [option.casefold() for option in options if options.count(option) == 1]
    ):
        yield StudyNote(
            f'the question "{name}" offers "{repeated_options[0]}" twice, in upper and lower case',
            where=location,
        )
    if len(options) == 1:
        yield StudyNote(f'the question "{name}" offers only one answer', where=location)


_RESERVED_FIELDS = ("try",)


def check_admission(examined: Examined) -> Iterator[ParallaxError]:
    """Report admission questions with name clashes or invalid options, and ineffective checks."""
    study = examined.study
    asked_questions: list[tuple[tuple[str | int, ...], Question]] = [
        (("screening", number), question) for number, question in enumerate(study.screening)
    ]
    comprehension = study.comprehension.questions if study.comprehension else []
    asked_questions += [
        (("comprehension", "questions", number), question)
        for number, question in enumerate(comprehension)
    ]
    question_names = [question.name for question in study.questionnaire]
    for path, question in asked_questions:
        yield from _find_problems(question, question_names, examined.at(*path, "name"))
        question_names.append(question.name)
    offered = study.recruitment.devices if study.recruitment else []
    if refused := study.taking_part.refuses([*offered]):
        yield StudyNote(
            f"the platform admits people with a {refused[0]}, but the study refuses them",
            where=examined.at("recruitment", "devices"),
            expected="only devices that [taking_part] allows",
        )
    if study.attention and not any(square.catch_trials for square in study.design.squares):
        yield StudyNote(
            "errors on catch trials end a session, but no square of the design has catch trials",
            where=examined.at("attention", "max_catch_errors"),
            expected="catch_trials in one of design.squares, or given lists that have catch trials",
        )


def _find_problems(
    question: Question, question_names: Sequence[str], location: str
) -> Iterator[ParallaxError]:
    if question.name in question_names:
        yield StudyError(
            f'two questions are called "{question.name}"',
            where=location,
            expected="a different name for each question of the whole study",
        )
    if question.name in _RESERVED_FIELDS:
        yield StudyError(
            f'a question cannot be called "{question.name}": the form has a field of that name',
            where=location,
            expected="another name",
        )
    if spaced := [option for option in question.options if " ".join(option.split()) != option]:
        yield StudyError(
            f'the question "{question.name}" offers {spaced[0]!r}, with spaces that no browser '
            "sends back",
            where=location,
            expected="answers without spaces at their ends, and with single spaces inside",
        )
    if question.type == "choice" and len({*question.options}) < 2:
        yield StudyError(
            f'the question "{question.name}" is of type choice but has fewer than two options',
            where=location,
            expected='two options or more, e.g. options = ["yes", "no"]',
        )


# These pages come before a participant has a list.
_BEFORE = ("consent",)


def check_wording(examined: Examined) -> Iterator[ParallaxError]:
    """Report unknown levels, pages and questions in the wording, and factors without effect."""
    study = examined.study
    design, known_pages = study.design, {*study.texts, *study.design.order.pages.values()}
    for number, entry in enumerate(design.wording):
        location = examined.at("design", "wording", number)
        yield from _unknown_levels(design, entry.when, location)
        for page, text in entry.pages.items():
            if page in _BEFORE:
                yield StudyError(
                    f'the page "{page}" is shown before a participant has a list, so its '
                    "text must be the same for all",
                    where=location,
                    expected=f"one of: {', '.join(sorted(known_pages.difference(_BEFORE)))}",
                )
            elif page not in known_pages:
                yield prefix_location(
                    unknown_name("page", page, sorted(known_pages.difference(_BEFORE))), location
                )
            yield from report_missing_page(examined, text, location)
        if "instructions" in entry.pages and study.comprehension:
            yield StudyError(
                "the questions of [comprehension] come, with the instructions, before a "
                "participant has a list, but the instructions depend on it",
                where=location,
                expected="the same instructions for all, or no [comprehension]",
                remedy="Give what differs in a page of its own, with design.order.pages",
            )
    for number, question in enumerate(study.questionnaire):
        location = examined.at("questionnaire", number, "when")
        yield from _unknown_levels(design, question.when, location)
    yield from _find_contradictions(examined)
    yield from _find_factors_without_effect(examined)


def _unknown_levels(
    design: Design, condition: Mapping[str, str], location: str
) -> Iterator[ParallaxError]:
    for factor, level in condition.items():
        if factor not in design.factors:
            yield prefix_location(unknown_name("factor", factor, list(design.factors)), location)
        elif level not in design.factors[factor]:
            known_levels = design.factors[factor]
            yield prefix_location(
                unknown_name(f'level of "{factor}"', level, known_levels), location
            )


def _find_contradictions(examined: Examined) -> Iterator[ParallaxError]:
    """Report entries that contradict each other for the same participants."""
    design = examined.study.design
    for levels in design.combinations:
        numbers: dict[str, int] = {}
        for number, entry in enumerate(design.wording):
            if not holds(entry.when, levels):
                continue
            for page in (*(("title",) if entry.title else ()), *entry.pages):
                if page in numbers:
                    condition = ", ".join(f"{factor} = {level}" for factor, level in levels.items())
                    yield StudyError(
                        f'"{page}" is worded twice for participants with {condition}',
                        where=examined.at("design", "wording", number),
                        expected=f"one text; the other is in entry {numbers[page] + 1}",
                    )
                    return
                numbers[page] = number


def _find_factors_without_effect(examined: Examined) -> Iterator[ParallaxError]:
    """Report factors whose levels make no difference for participants."""
    study, design = examined.study, examined.study.design
    whens = [source.when for source in design.sources]
    whens += [entry.when for entry in design.wording]
    whens += [question.when for question in study.questionnaire]
    varied_factors = {factor for condition in whens for factor in condition}
    for factor in design.factors:
        if factor not in varied_factors:
            yield StudyNote(
                f'the factor "{factor}" changes nothing that participants see',
                where=examined.at("design", "factors"),
                expected="items, pages or questions that differ between its levels",
                remedy=(
                    f"Add [[design.wording]] with when = {{ {factor} = "
                    f'"{design.factors[factor][0]}" }}, or write "when" for items or questions'
                ),
            )


def check_rules(examined: Examined) -> Iterator[ParallaxError]:
    """Report rules about data that the study lacks, and thresholds that cannot be crossed."""
    planned = build_planned_study(examined)
    for number in range(len(examined.study.exclusion)):
        yield from _check_rule(examined, planned, number)


def check_blind_runs(examined: Examined) -> Iterator[ParallaxError]:
    """Report rules through which a blind run would reveal results, as they count targets."""
    study = examined.study
    ways = ["who is kept and who excluded, and how many"]
    if study.design.replace_excluded:
        ways.append("which places are filled again, and so when the run is full (replace_excluded)")
    if study.payment.bonus == "kept":
        ways.append('who gets a bonus (bonus = "kept")')
    for number, rule in enumerate(study.exclusion):
        loaded = _load_rule_if_valid(rule)
        if loaded is not None and _reads_targets(loaded, examined):
            yield StudyNote(
                f'the rule "{rule.rule}" depends on the answers to targets, so these reveal '
                f"results while the run is blind: {'; '.join(ways)}",
                where=examined.at("exclusion", number, "rule"),
                expected='rules that use only catch trials (kind = "catch"), times, devices or the'
                " questionnaire; if you accept this, change nothing",
            )


def _reads_targets(rule: ExclusionRule, examined: Examined) -> bool:
    """Return whether a rule depends on answers to targets in the study's lists."""
    if not reads_targets(rule):
        return False
    if not isinstance(rule, Selection) or examined.built is None:
        return True
    entries = (entry for entries in examined.built.lists for entry in entries)
    return any(entry.kind == Kind.TARGET and rule.counts(entry) for entry in entries)


def load_sound_rules(examined: Examined) -> list[Rule]:
    """Return the rules without errors."""
    planned = build_planned_study(examined)
    return [
        rule
        for number, rule in enumerate(examined.study.exclusion)
        if _load_rule_if_valid(rule)
        and all(isinstance(error, StudyNote) for error in _check_rule(examined, planned, number))
    ]


def build_planned_study(examined: Examined) -> PlannedStudy:
    """Return a study as exclusion rules see it before anybody has taken part."""
    built = examined.built
    response = examined.response

    @cache
    def arranged(number: int) -> list[Arrangement]:
        assert built is not None
        return arrangements(built.lists[number], response, seed=built.seed, list_=number, place=0)

    lists = built.lists if built else ()
    return PlannedStudy(examined.study, examined.items, lists, response, arranged)


def _load_rule_if_valid(rule: Rule) -> ExclusionRule | None:
    try:
        return load_rule(rule)
    except ParallaxError:
        # The checks of the keys report this rule.
        return None


def _check_rule(examined: Examined, planned: PlannedStudy, number: int) -> Iterator[ParallaxError]:
    rule = _load_rule_if_valid(examined.study.exclusion[number])
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
    yield from _report_unfit_rule(rule, planned.session_type, at("rule"))
    for error in flaws(rule, planned):
        yield type(error)(
            error.problem,
            where=at(*filter(None, [error.where])),
            expected=error.expected,
            remedy=error.remedy,
        )


def _report_unfit_rule(
    rule: ExclusionRule, response: ResponseType | None, location: str
) -> Iterator[ParallaxError]:
    """Report that a rule, or a part of one, counts what the answers do not provide."""
    if response is None:
        return
    needed = filter(None, map(needs, (rule, *getattr(rule, "parts", ()))))
    for missing in sorted({*needed} - response.gives):
        yield StudyError(
            f'the rule counts {missing}, but the type of response "{response.name}" gives none',
            where=location,
            expected="a rule of times, sides or the questionnaire, or one that fits such answers",
        )
