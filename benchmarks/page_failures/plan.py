"""What goes wrong in a session and when, drawn from a seed."""

import random
from dataclasses import dataclass

PHASES = ("consent", "instructions", "practice", "trials", "questionnaire", "thanks")
REQUESTS = ("no connection", "lost reply", "server in trouble", "login page", "slow reply")
EVENTS = ("reload", "browser closed", "offline", "second device", "way out and back")
KINDS = (*REQUESTS, *EVENTS)
# Somewhere among the eight trials; other phases have a beginning and a moment after it.
_STEPS = {"trials": 8, "practice": 2}
_MOST_FAULTS = 4
# Two devices before anybody agreed are two visitors; a way out needs something to leave.
_WHERE = {"second device": PHASES[1:], "way out and back": PHASES[1:-1]}


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that goes wrong.

    Attributes:
        phase: One of ``PHASES``.
        step: After how many of the person's actions in that phase.
        kind: One of ``KINDS``.
        times: How many requests it hits, of a kind that hits requests.
        seconds: How long it lasts, of a kind that lasts.
        returns: Whether somebody at a second device comes back to the first one.
    """

    phase: str
    step: int
    kind: str
    times: int
    seconds: float
    returns: bool


def drawn(rng: random.Random) -> list[Fault]:
    """Return one to four faults, in any order."""
    return [_fault(rng) for _ in range(rng.randint(1, _MOST_FAULTS))]


def _fault(rng: random.Random) -> Fault:
    kind = rng.choice(KINDS)
    phase = rng.choice(_WHERE.get(kind, PHASES))
    # One slow reply in ten takes longer than the page's patience of 20 s.
    slow = kind == "slow reply" and rng.random() < 0.1
    return Fault(
        phase=phase,
        step=rng.randrange(_STEPS.get(phase, 2)),
        kind=kind,
        times=rng.randint(1, 3),
        seconds=22 if slow else rng.uniform(0.2, 3),
        returns=rng.random() < 0.5,
    )
