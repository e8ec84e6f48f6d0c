"""Ask a model every trial of its sessions, and parse its answers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import exp, inf
from typing import Protocol

from analysis.takers.plan import Plan
from analysis.takers.source import Answers
from experiment.responses.base import GivenAnswer, Gives
from experiment.seeds import derive_seed, generator
from experiment.takers.prompt import Ask, Context, Way
from experiment.takers.readings.base import Earlier, Reading, Situation
from experiment.takers.session import Form, TakerSession, TakerTrial
from lm.answering.answerer import Question, Reply


@dataclass(frozen=True, slots=True)
class ReadTrial:
    """The parsed result of one trial.

    Attributes:
        trial: The trial.
        asks: The questions to the model.
        replies: The model's replies, one per question.
        given: The answer; None if no answer could be parsed.
        outcome: The outcome, as in the table of readings.
        weights: The weight of each answer; empty if no answer could be parsed.
        p_good: The probability of the right answer among those offered, if there is one.
    """

    trial: TakerTrial
    asks: tuple[Ask, ...]
    replies: tuple[Reply, ...]
    given: GivenAnswer | None
    outcome: str
    weights: tuple[float, ...] = ()
    p_good: float | None = None


def to_probabilities(weights: Sequence[float]) -> list[float]:
    """Convert log-probabilities, up to a constant, to probabilities."""
    greatest = max(weights)
    if greatest == inf:
        certain = [float(weight == inf) for weight in weights]
        return [indicator / sum(certain) for indicator in certain]
    shares = [exp(weight - greatest) for weight in weights]
    return [share / sum(shares) for share in shares]


def classify_unreadable(replies: Sequence[Reply]) -> str:
    """Return the outcome of a trial whose replies contain no valid answer."""
    reasons = {reason for reply in replies for reason in reply.read_by}
    return next((reason for reason in ("cut", "refused") if reason in reasons), "unreadable")


class AskModel(Protocol):
    """The interface of an answering model that stores its replies."""

    def __call__(self, questions: Sequence[Question]) -> list[Reply]:
        """Return one reply per question."""
        ...


@dataclass(slots=True)
class Sitting:
    """One session of a model participant, in one reading and one factor combination.

    Attributes:
        session: The session.
        reading: The way of asking.
        way: The cell of the crossed factors.
        read: The results of its trials so far, in order.
    """

    session: TakerSession
    reading: Reading
    way: Way
    read: list[ReadTrial] = field(default_factory=list)

    @property
    def ref(self) -> str:
        """The participant's reference in the tables."""
        thinking = ["thinking"] if self.way.thinking else []
        cell = [self.way.context, self.way.labels, self.way.order, *thinking]
        cell = cell if self.reading.prompted else []
        return "-".join(map(str, [f"{self.session.number:04d}", *cell]))

    def earlier(self, index: int, yoked: Answers) -> Earlier:
        """Return the trials before the given one, with the answers shown in its prompt."""
        earlier_trials = self.session.trials[:index]
        if self.way.context is Context.YOKED:
            return [
                (trial, yoked[trial.trial.position])
                for trial in earlier_trials
                if trial.trial.position in yoked
            ]
        if self.way.context is Context.HISTORY:
            return [
                (answer.trial, answer.given)
                for answer in self.read[:index]
                if answer.given is not None
            ]
        return []


def make_sessions(plan: Plan, reading: Reading) -> list[Sitting]:
    """Return a reading's sessions before any question: every session in every way."""
    return [
        Sitting(session, reading, way)
        for session in plan.sessions
        for way in plan.factors.ways(reading)
    ]


def take_sessions(plan: Plan, reading: Reading, ask: AskModel) -> list[Sitting]:
    """Return a reading's sessions with all trials answered.

    If prompts show the model's own answers, trials are asked in order, all sessions at one position
    together; otherwise all trials are asked at once.

    Args:
        plan: The plan.
        reading: One of its readings.
        ask: The answering model.
    """
    sessions = make_sessions(plan, reading)
    for round_ in _plan_rounds(sessions):
        situations = [_make_situation(plan, sitting, index) for sitting, index in round_]
        asks = [
            reading.asks(sitting.session.trials[index], situation)
            for (sitting, index), situation in zip(round_, situations, strict=True)
        ]
        replies = iter(ask(list(_make_questions(plan, round_, asks))))
        for (sitting, index), situation, trial_asks in zip(round_, situations, asks, strict=True):
            trial_replies = tuple(next(replies) for _ in trial_asks)
            trial = sitting.session.trials[index]
            sitting.read.append(
                _parse_answer(plan, sitting, trial, situation, trial_asks, trial_replies)
            )
    return sessions


def find_longest_questions(plan: Plan, reading: Reading) -> Iterator[tuple[Sitting, Question]]:
    """Yield each session with its longest questions: its last trial, after all other answers."""
    for sitting in make_sessions(plan, reading):
        *earlier_trials, last = sitting.session.trials
        earlier: Earlier = []
        if sitting.way.context.has_session:
            earlier = [(trial, trial.answers[0]) for trial in earlier_trials]
        situation = plan.situation(sitting.session.list_, sitting.way, earlier)
        for ask in reading.asks(last, situation):
            yield (
                sitting,
                Question(
                    ask.prompt,
                    ask.answers,
                    thinking=_thought_tokens(plan, sitting),
                    after=ask.after,
                ),
            )


def _plan_rounds(sittings: Sequence[Sitting]) -> Iterator[list[tuple[Sitting, int]]]:
    at_once = [sitting for sitting in sittings if sitting.way.context is not Context.HISTORY]
    if at_once:
        yield [
            (sitting_, index)
            for sitting_ in at_once
            for index in range(len(sitting_.session.trials))
        ]
    in_turn = [sitting for sitting in sittings if sitting.way.context is Context.HISTORY]
    for index in range(max((len(sitting_.session.trials) for sitting_ in in_turn), default=0)):
        yield [(sitting_, index) for sitting_ in in_turn if index < len(sitting_.session.trials)]


def _make_situation(plan: Plan, sitting: Sitting, index: int) -> Situation:
    person = plan.person(sitting.session)
    earlier = sitting.earlier(index, person.answers if person else {})
    return plan.situation(sitting.session.list_, sitting.way, earlier)


def _make_questions(
    plan: Plan, round_: Sequence[tuple[Sitting, int]], asks: Sequence[tuple[Ask, ...]]
) -> Iterator[Question]:
    run_seed = plan.source.built.seed
    for (sitting, index), trial_asks in zip(round_, asks, strict=True):
        seed = derive_seed(run_seed, "taker", sitting.reading.name, sitting.ref, index)
        for ask in trial_asks:
            yield Question(ask.prompt, ask.answers, seed, _thought_tokens(plan, sitting), ask.after)


def _thought_tokens(plan: Plan, sitting: Sitting) -> int:
    return plan.factors.thought_tokens if sitting.way.thinking else 0


def _parse_answer(
    plan: Plan,
    sitting: Sitting,
    trial: TakerTrial,
    situation: Situation,
    asks: tuple[Ask, ...],
    replies: tuple[Reply, ...],
) -> ReadTrial:
    logprobs = [
        [-inf if logprob is None else logprob for logprob in reply.logprobs_nats]
        for reply in replies
    ]
    if any(max(answer_logprobs, default=-inf) == -inf for answer_logprobs in logprobs):
        return ReadTrial(trial, asks, replies, None, classify_unreadable(replies))
    reading = sitting.reading
    weights = reading.weights(trial, situation, logprobs)
    rng = generator(
        plan.source.built.seed, "answer", reading.name, sitting.ref, trial.trial.position
    )
    best = [index for index, weight in enumerate(weights) if weight == max(weights)]
    shares = to_probabilities(weights) if reading.probabilistic else None
    if plan.sampled and shares:
        [chosen] = rng.choices(range(len(weights)), shares)
    else:
        chosen = best[0] if len(best) == 1 else rng.choice(best)
    outcome = "answered" if len(best) == 1 or plan.sampled else "tie"
    p_good = _sum_expected(plan, trial, shares) if shares else None
    return ReadTrial(trial, asks, replies, trial.answers[chosen], outcome, weights, p_good)


def _sum_expected(plan: Plan, trial: TakerTrial, shares: Sequence[float]) -> float | None:
    """Return the probability of the right answers; None if none is expected."""
    response = plan.screens.response
    if Gives.RIGHT not in response.gives:
        return None
    if trial.form is Form.TYPE:
        scored = [response.score_answer(trial.arrangement, answer) for answer in trial.answers]
        if scored[0].chose_good is None:
            return None
        return sum(share for share, one in zip(shares, scored, strict=True) if one.chose_good)
    right = response.correct_answer(trial.arrangement)
    # A sentence without an expected answer has no right answer.
    return shares[trial.answers.index(right)] if right in trial.answers else None
