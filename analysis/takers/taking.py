"""Ask a model every trial of its sessions, and parse its answers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import exp, inf
from typing import Protocol

from analysis.takers.plan import Plan
from analysis.takers.source import Answers
from experiment.responses.base import Given, Gives
from experiment.seeds import derive_seed, generator
from experiment.takers.prompt import Ask, Context, Way
from experiment.takers.readings.base import Earlier, Reading, Situation
from experiment.takers.session import TakerSession, TakerTrial
from lm.answering.answerer import Question, Reply


@dataclass(frozen=True, slots=True)
class Read:
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
    given: Given | None
    outcome: str
    weights: tuple[float, ...] = ()
    p_good: float | None = None


def shares_of(weights: Sequence[float]) -> list[float]:
    """Convert log-probabilities, up to a constant, to probabilities."""
    most = max(weights)
    if most == inf:
        certain = [float(weight == inf) for weight in weights]
        return [one / sum(certain) for one in certain]
    shares = [exp(weight - most) for weight in weights]
    return [share / sum(shares) for share in shares]


def why_not(replies: Sequence[Reply]) -> str:
    """Return the outcome of a trial whose replies contain no valid answer."""
    if any(reply.n_cut for reply in replies):
        return "cut"
    return "refused" if any(reply.n_refused for reply in replies) else "unreadable"


class Asking(Protocol):
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
    read: list[Read] = field(default_factory=list)

    @property
    def ref(self) -> str:
        """The reference that stands for a participant in the tables."""
        thinking = ["thinking"] if self.way.thinking else []
        cell = [self.way.context, self.way.labels, self.way.order, *thinking]
        cell = cell if self.reading.prompted else []
        return "-".join(map(str, [f"{self.session.number:04d}", *cell]))

    def earlier(self, index: int, yoked: Answers) -> Earlier:
        """Return the trials before the given one, with the answers shown in its prompt."""
        before = self.session.trials[:index]
        if self.way.context is Context.YOKED:
            return [
                (trial, yoked[trial.trial.position])
                for trial in before
                if trial.trial.position in yoked
            ]
        if self.way.context is Context.HISTORY:
            return [
                (answer.trial, answer.given)
                for answer in self.read[:index]
                if answer.given is not None
            ]
        return []


def sittings_of(plan: Plan, reading: Reading) -> list[Sitting]:
    """Return a reading's sessions before any question: every session in every way."""
    return [
        Sitting(session, reading, way)
        for session in plan.sessions
        for way in plan.factors.ways(reading)
    ]


def take(plan: Plan, reading: Reading, ask: Asking) -> list[Sitting]:
    """Return a reading's sessions with all trials answered.

    If prompts show the model's own answers, trials are asked in order, all sessions at one position
    together; otherwise all trials are asked at once.

    Args:
        plan: The plan.
        reading: One of its readings.
        ask: The answering model.
    """
    found = sittings_of(plan, reading)
    for round_ in _rounds(found):
        situations = [_situation(plan, sitting, index) for sitting, index in round_]
        asks = [
            reading.asks(sitting.session.trials[index], situation)
            for (sitting, index), situation in zip(round_, situations, strict=True)
        ]
        replies = iter(ask(list(_questions(plan, round_, asks))))
        for (sitting, index), situation, own in zip(round_, situations, asks, strict=True):
            said = tuple(next(replies) for _ in own)
            trial = sitting.session.trials[index]
            sitting.read.append(_read(plan, sitting, trial, situation, own, said))
    return found


def longest_questions(plan: Plan, reading: Reading) -> Iterator[tuple[Sitting, Question]]:
    """Yield each session with its longest questions: its last trial, after all other answers."""
    for sitting in sittings_of(plan, reading):
        *before, last = sitting.session.trials
        earlier: Earlier = []
        if sitting.way.context.has_session:
            earlier = [(trial, trial.answers[0]) for trial in before]
        situation = plan.situation(sitting.session.list_, sitting.way, earlier)
        for ask in reading.asks(last, situation):
            yield sitting, Question(ask.prompt, ask.answers, thinking=_thinking(plan, sitting))


def _rounds(sittings: Sequence[Sitting]) -> Iterator[list[tuple[Sitting, int]]]:
    at_once = [sitting for sitting in sittings if sitting.way.context is not Context.HISTORY]
    if at_once:
        yield [(each, index) for each in at_once for index in range(len(each.session.trials))]
    in_turn = [sitting for sitting in sittings if sitting.way.context is Context.HISTORY]
    for index in range(max((len(each.session.trials) for each in in_turn), default=0)):
        yield [(each, index) for each in in_turn if index < len(each.session.trials)]


def _situation(plan: Plan, sitting: Sitting, index: int) -> Situation:
    person = plan.person(sitting.session)
    earlier = sitting.earlier(index, person.answers if person else {})
    return plan.situation(sitting.session.list_, sitting.way, earlier)


def _questions(
    plan: Plan, round_: Sequence[tuple[Sitting, int]], asks: Sequence[tuple[Ask, ...]]
) -> Iterator[Question]:
    run_seed = plan.source.built.seed
    for (sitting, index), own in zip(round_, asks, strict=True):
        seed = derive_seed(run_seed, "taker", sitting.reading.name, sitting.ref, index)
        for one in own:
            yield Question(one.prompt, one.answers, seed, _thinking(plan, sitting))


def _thinking(plan: Plan, sitting: Sitting) -> int:
    return plan.factors.thought_tokens if sitting.way.thinking else 0


def _read(
    plan: Plan,
    sitting: Sitting,
    trial: TakerTrial,
    situation: Situation,
    asks: tuple[Ask, ...],
    replies: tuple[Reply, ...],
) -> Read:
    said = [
        [-inf if logprob is None else logprob for logprob in reply.logprobs_nats]
        for reply in replies
    ]
    if any(max(each) == -inf for each in said):
        return Read(trial, asks, replies, None, why_not(replies))
    reading = sitting.reading
    weights = reading.weights(trial, situation, said)
    rng = generator(
        plan.source.built.seed, "answer", reading.name, sitting.ref, trial.trial.position
    )
    best = [place for place, one in enumerate(weights) if one == max(weights)]
    shares = shares_of(weights) if reading.probabilistic else None
    if plan.sampled and shares:
        [chosen] = rng.choices(range(len(weights)), shares)
    else:
        chosen = best[0] if len(best) == 1 else rng.choice(best)
    outcome = "answered" if len(best) == 1 or plan.sampled else "tie"
    p_good = shares[good] if shares and (good := _good(plan, trial)) is not None else None
    return Read(trial, asks, replies, trial.answers[chosen], outcome, weights, p_good)


def _good(plan: Plan, trial: TakerTrial) -> int | None:
    response = plan.screens.response
    if Gives.RIGHT not in response.gives:
        return None
    right = response.faultless(trial.arrangement)
    # A sentence without an expected answer has no right answer.
    return trial.answers.index(right) if right in trial.answers else None
