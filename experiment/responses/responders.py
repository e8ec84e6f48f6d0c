"""Simulated participants: how they are drawn, how accurately and how fast they answer."""

import math
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol, cast, runtime_checkable

from experiment.errors import StudyError
from experiment.plugins import Registry
from experiment.records import PAIR, Kind, Side
from experiment.seeds import generator
from experiment.studies.published import Published

# The standard deviation of ratings as a share of the scale; chosen, not estimated.
_RATING_SPREAD = 0.15

RESPONDERS = Registry(
    "responder",
    {
        "accurate": "experiment.responses.responders:Accurate",
        "guessing": "experiment.responses.responders:Guessing",
        "always_first": "experiment.responses.responders:AlwaysFirst",
        "careless": "experiment.responses.responders:Careless",
        "gibberish": "experiment.responses.responders:Gibberish",
    },
    group="parallax.responders",
    requires=("choose",),
)


class Responder(Protocol):
    """A simulated participant's way to answer one trial.

    Studies whose items are sentence pairs never pass ``sides``, the versions left and right. A
    responder that rates also has ``rate``: see ``Rater``; for typed answers see ``Typist``.
    """

    def choose(
        self,
        kind: Kind,
        good_side: Side,
        accuracy: float,
        rng: random.Random,
        sides: Sequence[Side] = PAIR,
    ) -> Side:
        """Return the chosen side.

        Args:
            kind: The item's kind in the participant's list.
            good_side: The side of the good option.
            accuracy: The probability that attentive participants choose it, 0 to 1.
            rng: The random generator.
            sides: The sides that have an option.
        """


@runtime_checkable
class Rater(Protocol):
    """A simulated participant's way to rate one trial."""

    def rate(
        self, kind: Kind, points: int, is_good: bool, accuracy: float, rng: random.Random
    ) -> int:
        """Return a point of a scale, from 1.

        Args:
            kind: The item's kind in the participant's list.
            points: How many points the scale has.
            is_good: Whether the good version is rated.
            accuracy: How far apart attentive participants rate the versions: at 1, at the scale's
                two ends; at one half, alike.
            rng: The random generator.
        """


@runtime_checkable
class Typist(Protocol):
    """A simulated participant's way to type a word, if it is not as others type it."""

    def type_word(self, word: str, rng: random.Random) -> str:
        """Return what is typed for a word, in as many characters."""


def load_responder(name: str) -> Responder:
    """Return a responder by name.

    Args:
        name: A registered name, or ``"module:Class"`` for the user's own responder.

    Raises:
        UnknownNameError: No responder has this name.
        PluginError: The class cannot be imported, or is not a responder.
    """
    return cast(type[Responder], RESPONDERS.load(name))()


class Accurate:
    """Chooses the good option with the given accuracy, and rates good versions higher."""

    def choose(
        self,
        kind: Kind,
        good_side: Side,
        accuracy: float,
        rng: random.Random,
        sides: Sequence[Side] = PAIR,
    ) -> Side:
        """Return the good side with probability ``accuracy``, otherwise one of the other sides."""
        if rng.random() < accuracy:
            return good_side
        wrong_sides = [side for side in sides if side is not good_side]
        return wrong_sides[0] if len(wrong_sides) == 1 else rng.choice(wrong_sides)

    def rate(
        self, kind: Kind, points: int, is_good: bool, accuracy: float, rng: random.Random
    ) -> int:
        """Return a normally distributed point, higher for good versions than for others."""
        centre = 1 + (points - 1) * (accuracy if is_good else 1 - accuracy)
        return min(points, max(1, round(rng.gauss(centre, points * _RATING_SPREAD))))


class Guessing:
    """Answers every trial by chance."""

    def choose(
        self,
        kind: Kind,
        good_side: Side,
        accuracy: float,
        rng: random.Random,
        sides: Sequence[Side] = PAIR,
    ) -> Side:
        """Return one of the sides with equal probability."""
        return rng.choice(sides)

    def rate(
        self, kind: Kind, points: int, is_good: bool, accuracy: float, rng: random.Random
    ) -> int:
        """Return one of the points with equal probability."""
        return rng.randint(1, points)


class AlwaysFirst:
    """Gives the first answer in every trial."""

    def choose(
        self,
        kind: Kind,
        good_side: Side,
        accuracy: float,
        rng: random.Random,
        sides: Sequence[Side] = PAIR,
    ) -> Side:
        """Return the first side."""
        return Side.FIRST

    def rate(
        self, kind: Kind, points: int, is_good: bool, accuracy: float, rng: random.Random
    ) -> int:
        """Return the first point."""
        return 1


class Careless:
    """Answers catch trials by chance, and all other trials accurately.

    So a careless participant makes errors where an exclusion rule counts them, while the rest of
    the session looks attentive.
    """

    def choose(
        self,
        kind: Kind,
        good_side: Side,
        accuracy: float,
        rng: random.Random,
        sides: Sequence[Side] = PAIR,
    ) -> Side:
        """Return a random side in a catch trial, otherwise the side that ``Accurate`` chooses."""
        return _choose_careless_responder(kind).choose(kind, good_side, accuracy, rng, sides)

    def rate(
        self, kind: Kind, points: int, is_good: bool, accuracy: float, rng: random.Random
    ) -> int:
        """Return a random point in a catch trial, otherwise the point that ``Accurate`` chooses."""
        return _choose_careless_responder(kind).rate(kind, points, is_good, accuracy, rng)


class Gibberish(Guessing):
    """Types consonants at random, and answers trials without typing by chance."""

    def type_word(self, word: str, rng: random.Random) -> str:
        """Return as many random consonants as the word has characters."""
        return "".join(rng.choices("bcdfghjklmnpqrstvwxz", k=len(word)))


def _choose_careless_responder(kind: Kind) -> Accurate | Guessing:
    return Guessing() if kind is Kind.CATCH else Accurate()


RT_SPREAD = 0.5


def assign_responders(
    mix: Mapping[str, float], number_of_participants: int, seed: int
) -> list[str]:
    """Return the responder of each participant: the mix's exact shares, in random order.

    Fractional numbers of participants are rounded by the largest-remainder method.

    Raises:
        StudyError: The shares are negative or do not sum to 1.
        UnknownNameError: The mix names an unknown responder.
    """
    _check_mix(mix)
    exact = {name: share * number_of_participants for name, share in mix.items()}
    numbers = {name: math.floor(share) for name, share in exact.items()}
    by_remainder = sorted(exact, key=lambda name: numbers[name] - exact[name])
    for name in by_remainder[: number_of_participants - sum(numbers.values())]:
        numbers[name] += 1
    roles = [name for name, number in numbers.items() for _ in range(number)]
    generator(seed, "cast").shuffle(roles)
    return roles


def _check_mix(mix: Mapping[str, float]) -> None:
    for name in mix:
        RESPONDERS.load(name)
    if any(not share >= 0 for share in mix.values()) or not math.isclose(sum(mix.values()), 1):
        shares = ", ".join(f"{name} = {share}" for name, share in mix.items())
        raise StudyError(
            f"the shares of the simulated participants are {shares}",
            where="simulation.mix",
            expected="shares of 0 or more that sum to 1",
        )


def reaction_time_ms(rng: random.Random, median_ms: float) -> float:
    """Return a reaction time in milliseconds from a log-normal distribution.

    ``ln rt ~ Normal(ln median_ms, RT_SPREAD)``: right-skewed and positive, as response times
    are (van der Linden 2006, "A lognormal model for response times on test items", Journal of
    Educational and Behavioral Statistics 31, 181-204). The spread is chosen, not estimated.
    """
    return rng.lognormvariate(math.log(median_ms), RT_SPREAD)


def accuracy_of(published: Iterable[Published]) -> Callable[[str, str], float]:
    """Return a function from (construction, condition) to the published accuracy of people.

    If no accuracy is published for the condition, the construction's is used. The function raises a
    StudyError for a construction without published results.

    Args:
        published: The study's published results. Rows of other judges are ignored; the first of
            several rows for one cell counts.
    """
    accuracies: dict[tuple[str, str], float] = {}
    for row in published:
        if row.judge == "people":
            accuracies.setdefault((row.construction, row.condition), row.accuracy)

    def look_up(construction: str, condition: str) -> float:
        for cell in ((construction, condition), (construction, "")):
            if cell in accuracies:
                return accuracies[cell]
        raise StudyError(
            f'no accuracy of people is published for the construction "{construction}"',
            where="published.csv",
            expected='a row with the judge "people" for each construction',
            remedy="Add one; simulated participants answer with that accuracy",
        )

    return look_up
