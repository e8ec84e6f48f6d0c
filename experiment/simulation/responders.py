"""Simulated participants: how each kind of responder chooses."""

import random
from typing import Protocol, cast

from experiment.plugins import Registry
from experiment.records import Kind, Side

RESPONDERS = Registry(
    "responder",
    {
        "accurate": "experiment.simulation.responders:Accurate",
        "guessing": "experiment.simulation.responders:Guessing",
        "always_first": "experiment.simulation.responders:AlwaysFirst",
        "careless": "experiment.simulation.responders:Careless",
    },
)


class Responder(Protocol):
    """Chooses a side in one trial."""

    def choose(self, kind: Kind, good_side: Side, accuracy: float, rng: random.Random) -> Side:
        """Return the side chosen.

        Args:
            kind: The item's kind in the participant's list.
            good_side: Where the good option stands.
            accuracy: The probability with which attentive people choose it, 0 to 1.
            rng: The source of randomness.
        """


def load_responder(name: str) -> Responder:
    """Return the responder of that name.

    Raises:
        UnknownNameError: There is no such responder.
    """
    return cast(type[Responder], RESPONDERS.load(name))()


class Accurate:
    """Chooses the good option with the given accuracy."""

    def choose(self, kind: Kind, good_side: Side, accuracy: float, rng: random.Random) -> Side:
        """Return the good side with probability ``accuracy``, else the other."""
        return good_side if rng.random() < accuracy else _opposite(good_side)


class Guessing:
    """Tosses a coin in every trial."""

    def choose(self, kind: Kind, good_side: Side, accuracy: float, rng: random.Random) -> Side:
        """Return either side with probability one half."""
        return rng.choice(tuple(Side))


class AlwaysFirst:
    """Chooses the first option in every trial."""

    def choose(self, kind: Kind, good_side: Side, accuracy: float, rng: random.Random) -> Side:
        """Return the first side."""
        return Side.FIRST


class Careless:
    """Answers catch trials by tossing a coin, and all others accurately.

    So a careless participant's errors show where an exclusion rule looks for them, while the
    rest of the session looks attentive.
    """

    def choose(self, kind: Kind, good_side: Side, accuracy: float, rng: random.Random) -> Side:
        """Return either side in a catch trial, else the good one with probability ``accuracy``."""
        responder = Guessing() if kind is Kind.CATCH else Accurate()
        return responder.choose(kind, good_side, accuracy, rng)


def _opposite(side: Side) -> Side:
    return Side.SECOND if side is Side.FIRST else Side.FIRST
