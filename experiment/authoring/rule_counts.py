"""How many simulated participants each exclusion rule of a study would exclude."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache

from experiment.authoring.examined import Examined
from experiment.authoring.question_checks import build_planned_study
from experiment.design.frames import index_materials
from experiment.design.lists import BuiltLists, build_lists
from experiment.design.session import compose, session_number
from experiment.errors import StudyError, StudyNote
from experiment.exclusion.base import Answered, Everyone, ExclusionRule, PlannedStudy
from experiment.exclusion.rules import flaws, load_rule, needs_certificate, rule_in_words
from experiment.materials.read import collect_items
from experiment.materials.render import render
from experiment.records import Judgment
from experiment.responses.base import Arrangement, Known, ResponseType
from experiment.responses.registry import response_of
from experiment.responses.responders import RESPONDERS, assign_responders
from experiment.responses.simulated import (
    draw_reply,
    find_expected_accuracy,
    list_accepted_answers,
    simulate_answer,
)
from experiment.responses.typed.text import TYPED_COLUMN
from experiment.seeds import generator
from experiment.studies.question import asked_questions, is_asked
from experiment.studies.study import Study
from experiment.tables.files import text_table

# Of trials in which nothing is typed, these are no way of their own.
_ONLY_TYPING = frozenset({"gibberish"})

ATTENTIVE = "accurate"
N_SIMULATED = 100
ALL_RULES = "all rules together"
_NO_RECORDS = "reads records of real sessions, which simulated participants lack"


@dataclass(frozen=True, slots=True)
class RuleCount:
    """How many simulated participants a rule would exclude.

    Attributes:
        rule: The rule in words.
        excluded: The number of excluded participants, by the name of their way of answering.
        note: Why the numbers say little, or why the rule can never exclude anybody; else empty.
    """

    rule: str
    excluded: Mapping[str, int]
    note: str = ""


@dataclass(frozen=True, slots=True)
class RuleCounts:
    """How many simulated participants the rules of a study would exclude.

    Attributes:
        people: The number of simulated participants of each way of answering.
        rules: One for each rule, and then one for all rules together.
    """

    people: int
    rules: tuple[RuleCount, ...]

    def to_values(self) -> dict[str, object]:
        """Return the counts as values for JSON."""
        return asdict(self)

    def to_table(self) -> str:
        """Return the counts as a text table, with the notes under it."""
        ways = list(self.rules[-1].excluded)
        rows = [
            (count.rule, *(count.excluded.get(way, "-") for way in ways)) for count in self.rules
        ]
        notes = [f"{count.rule}: {count.note}." for count in self.rules if count.note]
        return "\n".join((text_table(("excluded by", *ways), rows), *notes))


def count_excluded(study: Study, seed: int, people: int = N_SIMULATED) -> RuleCounts:
    """Return how many simulated participants the rules would exclude, by way of answering.

    The attentive ones give the answers to questions that the rules accept; the others any answer.
    A rule that compares participants compares them with as many of each kind as the study's
    [simulation] mixes.

    Args:
        study: The study, with its rules.
        seed: The seed for building the lists, and of the participants' answers.
        people: The number of participants of each way of answering.

    Raises:
        ParallaxError: The items or lists cannot be built, or a rule has wrong parameters.
    """
    rules = [load_rule(rule) for rule in study.exclusion]
    items = collect_items(study)
    built = build_lists(study, index_materials(items), seed)
    sessions = _simulate_everybody(study, built, list_accepted_answers(rules), people)
    planned = build_planned_study(Examined(study, seed, items, built))
    titles = {entry.name: entry.title for entry in study.constructions}
    counts, excluded = list[RuleCount](), {way: set[int]() for way in sessions}
    for declared, rule in zip(study.exclusion, rules, strict=True):
        excluded_by_rule, note = _try_rule(rule, sessions, planned)
        for way, numbers in excluded_by_rule.items():
            excluded[way] |= numbers
        words = rule_in_words(declared.model_dump(), titles)
        counts.append(RuleCount(words, _format_count(excluded_by_rule), note))
    return RuleCounts(people, (*counts, RuleCount(ALL_RULES, _format_count(excluded))))


def _format_count(numbers: Mapping[str, set[int]]) -> dict[str, int]:
    return {way: len(excluded) for way, excluded in numbers.items()}


def _try_rule(
    rule: ExclusionRule, sessions: Mapping[str, Sequence[Answered]], planned: PlannedStudy
) -> tuple[dict[str, set[int]], str]:
    """Return whom a rule excludes, by way of answering, and a note on it."""
    notes = [error.problem for error in flaws(rule, planned) if not isinstance(error, StudyNote)]
    if needs_certificate(rule):
        notes.append(_NO_RECORDS)
    excluded: dict[str, set[int]] = {}
    try:
        for way, of_way in sessions.items():
            excluded[way] = {
                number for number, session in enumerate(of_way) if rule.judge(session)[0] is False
            }
    except StudyError as error:
        notes.append(error.problem)
        excluded = {}
    return excluded, "; ".join(dict.fromkeys(notes))


def _simulate_everybody(
    study: Study, built: BuiltLists, accepted: Mapping[str, Sequence[str]], people: int
) -> dict[str, list[Answered]]:
    """Return simulated sessions by way of answering, each among the mix of the study."""
    crowd = _Simulator(study, built, accepted)
    sessions = {way: crowd.simulate(way, people) for way in crowd.list_responders()}
    mix = {way: share for way, share in study.simulation.mix.items() if way in sessions}
    total = sum(mix.values())
    shares = {way: share / total for way, share in mix.items()} if total else {ATTENTIVE: 1.0}
    numbers = Counter(assign_responders(shares, people, built.seed))
    everyone = Everyone([session for way, n in numbers.items() for session in sessions[way][:n]])
    return {
        way: [session.among(everyone) for session in of_way] for way, of_way in sessions.items()
    }


@dataclass(frozen=True, slots=True)
class _SimulatedTrial:
    """A trial: its position, what is known of its item, its arrangement and the texts shown."""

    position: int
    known: Known
    arranged: Arrangement
    options: Sequence[str]


class _Simulator:
    """Simulates sessions of a study.

    Args:
        study: The study.
        built: Its lists.
        accepted: The answers to questions for which the rules keep a participant.
    """

    def __init__(
        self, study: Study, built: BuiltLists, accepted: Mapping[str, Sequence[str]]
    ) -> None:
        self._study, self._built, self._accepted = study, built, accepted
        self._response = response_of(study)
        self._render = render(study.materials.shown_to_people)
        self._find_accuracy = find_expected_accuracy(study)

    def list_responders(self) -> list[str]:
        """Return the registered ways of answering that suit the study's trials, attentive first."""
        types = list(self._response.types.values()) or [self._response]
        return [
            way
            for way in RESPONDERS
            if all(hasattr(RESPONDERS.load(way), type_.responder_method) for type_ in types)
            and (way not in _ONLY_TYPING or any(map(_is_typed, types)))
        ]

    def simulate(self, way: str, people: int) -> list[Answered]:
        """Return the sessions of participants of one way of answering."""
        return [self._simulate_session(way, number) for number in range(people)]

    def _simulate_session(self, way: str, number: int) -> Answered:
        place, list_ = divmod(number, len(self._built.lists))
        rng = generator(self._built.seed, "rule counts", way, number)
        judgments = tuple(
            self._simulate_trial(way, trial, rng) for trial in self._compose(list_, place)
        )
        asked_of = self._study.of_list(list_).questionnaire
        answers: dict[str, str] = {}
        for question in asked_of:
            if is_asked(question, answers):
                accepted = self._accepted.get(question.name, ()) if way == ATTENTIVE else ()
                answers[question.name] = draw_reply(question, accepted, rng)
        unanswered = dict.fromkeys(asked_questions(asked_of, answers), "")
        return Answered(judgments, unanswered | answers, len(judgments))

    @cache  # noqa: B019 - a crowd lives as long as one count
    def _compose(self, list_: int, place: int) -> list[_SimulatedTrial]:
        """Return the trials of a place, which one participant of each way of answering gets."""
        study, response, entries = self._study, self._response, self._built.lists[list_]
        by_id = {entry.item.item_id: entry.item for entry in entries}
        trials = compose(
            entries,
            seed=self._built.seed,
            list_=list_,
            place=place,
            number=session_number(study.design, list_, place),
            design=study.design,
            response=response,
        )
        screens = []
        for trial in trials:
            item = replace(by_id[trial.item_id], kind=trial.kind)
            arranged = Arrangement(trial.good_side, trial.options, trial.points)
            known = Known(
                item,
                response.screens(item, self._render)[0].first,
                self._find_accuracy(item.construction, item.condition),
            )
            options = response.show_arranged(item, arranged, self._render).options
            screens.append(_SimulatedTrial(trial.position, known, arranged, options))
        return screens

    def _simulate_trial(self, way: str, screen: _SimulatedTrial, rng: random.Random) -> Judgment:
        response, item = self._response, screen.known.item
        answer, rt_ms = simulate_answer(
            self._study, response, way, screen.known, screen.options, rng
        )
        scored = response.score_answer(screen.arranged, answer)
        return Judgment(
            position=screen.position,
            item_id=item.item_id,
            kind=item.kind,
            construction=item.construction,
            rt_ms=rt_ms,
            condition=item.condition,
            extra=item.extra,
            is_late=response.is_late(screen.arranged, rt_ms, scored.steps),
            **scored.fields(),
        )


def _is_typed(type_: ResponseType) -> bool:
    return any(column.name == TYPED_COLUMN for column in type_.columns)
