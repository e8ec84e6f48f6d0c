"""Simulated people as the server would see them; every parameter but one is chosen.

Reading takes longer for longer texts (Just & Carpenter 1980, Psychological Review 87, 329-354),
times are log-normal (van der Linden 2006), go with the time before (Gilden, Thornton & Mallon 1995,
Science 267, 1837-1839) and shrink with practice. How strongly, is drawn anew for each person. Items
differ in how hard they are and in how long they take (van der Linden 2007, Psychometrika 72,
287-308), and what is hard takes longer. How long a mouse rests before it presses, is as in the
published paths of 60 people (Kieslich & Henninger 2017, Behavior Research Methods 49, 1652-1667);
that some have it wait at an option and read on, is added: none of the 60 did.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import exp, log

from agent_bench.seen import SeenAnswer
from experiment.integrity.observed import ObservedSession
from experiment.records import Item

METHODS = ("mouse", "touch", "keyboard", "switch")
_INPUT = {"mouse": "pointer", "touch": "touch", "keyboard": "key", "switch": "key"}
_HOLD_MS = {"mouse": 95.0, "touch": 80.0, "keyboard": 90.0}
# Somebody who uses a switch waits until the scanning comes by the option.
_SCAN_MS = 1200.0
_CARELESS = 0.05
# Somebody who follows the text with the mouse never leaves it at rest.
_RESTLESS = 0.05
# Somebody whose mouse often goes ahead and waits.
_AHEAD = 0.1
# Medians of 60 people's times from the last movement to the press, and spreads of their logarithms.
_STOP_MS, _STOP_SD_BETWEEN, _STOP_SD_WITHIN = 60.0, 0.75, 1.0
# Somebody in whose laboratory a program starts the browsers.
_AUTOMATED = 0.002
# How far items of one kind differ in difficulty (logits) and in log time.
_DIFFICULTY_SD, _INTENSITY_SD = 0.5, 0.1
# By how much log time grows with each logit of difficulty.
_HESITATION = 0.06


@dataclass(frozen=True, slots=True)
class Shown:
    """An item as people find it.

    Attributes:
        item: Its name.
        kind: Its construction and condition.
        n_characters: How long its texts are.
        logit: How easy it is for the average person, in logits.
        intensity: By how much its log time lies above that of others as long.
    """

    item: str
    kind: str
    n_characters: int
    logit: float
    intensity: float


def shown(item: Item, accuracy_of: Callable[[str, str], float]) -> Shown:
    """Return an item with what is published of its kind and what is drawn of itself.

    Args:
        item: The item.
        accuracy_of: People's published accuracy, by construction and condition.
    """
    rng = random.Random(f"item {item.item_id}")
    published = min(0.99, accuracy_of(item.construction, item.condition))
    logit = log(published / (1 - published)) + rng.gauss(0, _DIFFICULTY_SD)
    return Shown(
        item.item_id,
        f"{item.construction}, {item.condition}",
        len(item.context) + len(item.good) + len(item.bad),
        logit,
        rng.gauss(0, _INTENSITY_SD) - _HESITATION * (logit - 2),
    )


class Person:
    """One person's habits.

    Args:
        method: mouse, touch, keyboard or switch.
        rng: What they are drawn from.
        lockout_ms: The study's.

    Attributes:
        method: How they answer.
        rests: How often their mouse stays where it is when the same option is chosen again.
    """

    def __init__(self, method: str, rng: random.Random, lockout_ms: float) -> None:
        self.method, self._rng, self._lockout_ms = method, rng, lockout_ms
        careless = rng.random() < _CARELESS
        self._median_ms = rng.lognormvariate(log(500 if careless else 2200), 0.35)
        self._slope = max(0.0, rng.gauss(0.15 if careless else 0.6, 0.25))
        self._noise = rng.uniform(0.25, 0.5)
        self._practice = rng.uniform(0.0, 0.15)
        self._innovation = rng.uniform(0.06, 0.15)
        self._hold_ms = rng.lognormvariate(log(_HOLD_MS.get(method, 1.0)), 0.25)
        self._hold_noise = rng.uniform(0.18, 0.35)
        self._ability = rng.gauss(0, 0.7)
        self._reads = 0.3 if careless else 1.0
        self._follows = self._reads * rng.uniform(0.4, 1.6)
        self._mood = 0.0
        self.rests = 0.0 if rng.random() < _RESTLESS else rng.uniform(0.1, 0.9)

    def chooses_good(self, trial: Shown) -> bool:
        """Return whether the expected option of the next trial is chosen."""
        if self._rng.random() > self._reads:
            return self._rng.random() < 0.5
        return self._rng.random() < 1 / (1 + exp(-trial.logit - self._ability))

    def rt_ms(self, position: int, trial: Shown) -> float:
        """Return the time of the next trial."""
        rng = self._rng
        self._mood = 0.85 * self._mood + rng.gauss(0, self._innovation)
        expected = self._slope * log(trial.n_characters / 70) - self._practice * log(position)
        expected += self._follows * trial.intensity
        rt_ms = self._median_ms * exp(expected + self._mood + rng.gauss(0, self._noise))
        if rng.random() < 0.03:
            rt_ms *= rng.uniform(2, 6)
        if self.method == "switch":
            rt_ms += rng.uniform(0, _SCAN_MS)
        return max(self._lockout_ms, rt_ms)

    def hold_ms(self) -> float:
        """Return how long the next press lasts."""
        if self.method == "switch":
            return self._rng.uniform(0, 1)
        return self._hold_ms * self._rng.lognormvariate(0, self._hold_noise)


def person(
    trials: Sequence[Shown], method: str, rng: random.Random, *, lockout_ms: float = 150.0
) -> ObservedSession:
    """Return the session of a person to whom these items are shown.

    One in ten is without a connection for a while, one in ten loads the page again.

    Args:
        trials: What is shown in each trial, in order.
        method: How they answer.
        rng: What everything is drawn from.
        lockout_ms: The study's.
    """
    who, network_ms = Person(method, rng, lockout_ms), rng.lognormvariate(log(80), 0.6)
    offline = _stretch(len(trials), rng) if rng.random() < 0.1 else range(0)
    reloaded = rng.randrange(len(trials)) if rng.random() < 0.1 else -1
    now, back, answers, side = rng.uniform(8_000, 60_000), 0.0, [], "first"
    for place, trial in enumerate(trials):
        rt_ms, hold_ms = who.rt_ms(place + 1, trial), who.hold_ms()
        seen_before = rng.uniform(300, 9_000) if place == reloaded else 0.0
        now += seen_before + rt_ms + hold_ms + rng.uniform(15, 40)
        crosses, side = side, rng.choice(("first", "second"))
        back = max(back, now + 60_000) if place in offline else back
        sent = max(now, back)
        moves, path = _way(who, crosses != side, rng)
        answers.append(
            SeenAnswer(
                position=place + 1,
                arrived_ms=sent + network_ms * rng.lognormvariate(0, 0.4),
                rt_ms=rt_ms,
                release_ms=rt_ms + hold_ms,
                waited_ms=sent - now,
                input_method=_INPUT[method],
                side=side,
                n_characters=trial.n_characters,
                item=trial.item,
                kind=trial.kind,
                chose_good=who.chooses_good(trial),
                has_onset=True,
                trusted=True,
                times_shown=2 if place == reloaded else 1,
                seen_before_ms=seen_before,
                pointer_moves=moves,
                pointer_path_px=path,
                was_hidden=rng.random() < 0.01,
                lost_focus=rng.random() < 0.02,
            )
        )
    answers = _with_stops(answers, rng)
    return ObservedSession(
        tuple(answers), lockout_ms=lockout_ms, automated=rng.random() < _AUTOMATED, n_copied=0
    )


def _stretch(n: int, rng: random.Random) -> range:
    begin = rng.randrange(n)
    return range(begin, min(n, begin + rng.randint(3, 15)))


def _with_stops(answers: Sequence[SeenAnswer], rng: random.Random) -> list[SeenAnswer]:
    """Return the answers with when the mouse last moved before each press."""
    median_ms = rng.lognormvariate(log(_STOP_MS), _STOP_SD_BETWEEN)
    ahead = rng.uniform(0.3, 0.8) if rng.random() < _AHEAD else rng.uniform(0.0, 0.3)
    stopped: list[SeenAnswer] = []
    for answer in answers:
        rt_ms, stop_ms = answer.rt_ms or 0.0, median_ms * rng.lognormvariate(0, _STOP_SD_WITHIN)
        moved_ms = rng.uniform(0, rt_ms) if rng.random() < ahead else max(0.0, rt_ms - stop_ms)
        stopped.append(
            replace(answer, pointer_stopped_ms=moved_ms if answer.pointer_moves else None)
        )
    return stopped


def _way(who: Person, crosses: bool, rng: random.Random) -> tuple[int, float]:
    if who.method != "mouse":
        return 0, 0.0
    if not crosses and rng.random() < who.rests:
        return rng.randint(0, 4), rng.uniform(0, 20)
    return rng.randint(5, 60), rng.uniform(90, 160) * rng.lognormvariate(0, 0.35)
