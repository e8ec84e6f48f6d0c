"""Every outcome of a random draw with its exact probability, and every step of a chain."""

import random
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from fractions import Fraction
from typing import Any


class Scripted(random.Random):
    """A source of randomness that follows a script, and then always takes the first choice."""

    def __init__(self, script: Sequence[int]) -> None:
        super().__init__(0)
        self._script = list(script)
        self.taken: list[int] = []
        self.weights: list[Sequence[int]] = []

    def choose(self, weights: Sequence[int]) -> int:
        """Take one of the choices that have a weight."""
        at = len(self.taken)
        possible = [index for index, weight in enumerate(weights) if weight]
        chosen = self._script[at] if at < len(self._script) else possible[0]
        self.taken.append(chosen)
        self.weights.append(weights)
        return chosen

    def randrange(self, start: int, stop: int | None = None, step: int = 1) -> int:
        first, end = (0, start) if stop is None else (start, stop)
        return first + self.choose([1] * (end - first))

    def sample(self, population: Any, k: int, **_: Any) -> list[Any]:
        left = list(population)
        return [left.pop(self.choose([1] * len(left))) for _ in range(k)]

    def shuffle(self, x: Any) -> None:
        x[:] = self.sample(x, len(x))

    def random(self) -> float:
        raise AssertionError("a counted draw takes whole numbers only")


def exact(draw: Callable[[random.Random], Hashable]) -> dict[Hashable, Fraction]:
    """Return each outcome of a draw with its probability."""
    found: dict[Hashable, Fraction] = defaultdict(Fraction)
    scripts: list[list[int]] = [[]]
    while scripts:
        script = scripts.pop()
        rng = Scripted(script)
        outcome = draw(rng)
        share = Fraction(1)
        for at, (chosen, weights) in enumerate(zip(rng.taken, rng.weights, strict=True)):
            share *= Fraction(weights[chosen], sum(weights))
            if at >= len(script):
                scripts += [
                    [*rng.taken[:at], other]
                    for other, weight in enumerate(weights)
                    if weight and other != chosen
                ]
        found[outcome] += share
    assert sum(found.values()) == 1
    return dict(found)


def weighted(weights: Sequence[int], rng: Scripted) -> int:
    """Stand for ``counting.draw_weighted``, which takes as many branches as the weights' sum."""
    return rng.choose(weights)


class Told(random.Random):
    """A source of randomness whose next numbers between 0 and 1 are told."""

    def __init__(self, numbers: Iterable[float]) -> None:
        super().__init__(0)
        self._numbers = iter(numbers)

    def random(self) -> float:
        return next(self._numbers)
