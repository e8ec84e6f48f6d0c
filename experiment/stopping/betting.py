"""Tests of a bounded mean that stay valid however often somebody looks, by betting.

A bettor starts with a wealth of 1 and bets on each participant that the mean lies above a supposed
one. If it does not, the wealth is expected not to grow, so it ever reaches 1 / alpha with a
probability of at most alpha (Ville's inequality). The supposed means against which the wealth has
not reached it make a confidence sequence. Source: I. Waudby-Smith and A. Ramdas (2024), Estimating
means of bounded random variables by betting, Journal of the Royal Statistical Society B 86, 1-27.

Participants come in blocks, one of each list, and a bet is the same for a whole block. Lists may
then differ in their means: the wealth after a block is expected to grow by the product of
1 + bet * (mean of list - supposed mean), which is at most 1 if the mean of the lists' means is the
supposed one, because a geometric mean is at most the arithmetic one.

The arithmetic is that of floats, and of numpy arrays that hold many studies.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

Values = Sequence[float]
# The bets of the mixture, as shares of the largest one that cannot ruin.
_BET_SHARES = (0.04, 0.08, 0.16, 0.32, 0.6, 0.9)
# The share of the first wealth that bets on the planned effect, if there is one.
_PLANNED_WEIGHT = 0.75
_LARGEST_SHARE = 0.95
# Before anybody has come, values count as having this standard deviation, as a share of their
# range, with the weight of so many participants.
_FIRST_SD, _FIRST_WEIGHT = 1 / 8, 2
_N_BISECTIONS = 30


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds of a participant's value.

    Attributes:
        low: The lower bound.
        high: The upper bound.
    """

    low: float
    high: float

    def limit(self, value: float) -> float:
        """Return a value, or the bound that it exceeds."""
        return min(max(value, self.low), self.high)

    def mirrored(self) -> "Bounds":
        """Return the bounds of the values with the opposite sign."""
        return Bounds(-self.high, -self.low)


@dataclass(slots=True)
class Bettor:
    """Bets that a mean lies above a supposed one.

    Attributes:
        supposed: The supposed mean, above the lower bound.
        bounds: The bounds of the values.
        planned: By how much the mean is planned to lie above the supposed one; None if by an
            unknown amount.
    """

    supposed: float
    bounds: Bounds
    planned: float | None = None
    _mixed: list[float] = field(default_factory=lambda: [1.0] * len(_BET_SHARES))
    _on_plan: float = 1.0
    _n: int = 0
    _sum: float = 0.0
    _squares: float = 0.0

    def bet(self, block: Values) -> None:
        """Bet on the values of one participant of each list."""
        room = self.supposed - self.bounds.low
        shares = [value / room for value in (outcome - self.supposed for outcome in block)]
        for index, share in enumerate(_BET_SHARES):
            for gain in shares:
                self._mixed[index] = self._mixed[index] * (1 + share * gain)
        if self.planned is None:
            return
        share = self._planned_share(room)
        for gain in shares:
            self._on_plan = self._on_plan * (1 + share * gain)
        for value in block:
            self._n += 1
            self._sum = self._sum + value
            self._squares = self._squares + value * value

    def _planned_share(self, room: float) -> float:
        """Return the bet that lets the wealth grow fastest at the planned effect and variance."""
        assert self.planned is not None
        sd = _FIRST_SD * (self.bounds.high - self.bounds.low)
        total = _FIRST_WEIGHT * sd * sd
        if self._n:
            total = total + self._squares - self._sum * self._sum / self._n
        variance = total / (_FIRST_WEIGHT + self._n)
        share = room * self.planned / (variance + self.planned**2)
        return (share + _LARGEST_SHARE - abs(share - _LARGEST_SHARE)) / 2

    @property
    def wealth(self) -> float:
        """The wealth after all bets so far, which starts at 1."""
        mixed = sum(self._mixed) / len(_BET_SHARES)
        if self.planned is None:
            return mixed
        return _PLANNED_WEIGHT * self._on_plan + (1 - _PLANNED_WEIGHT) * mixed


def confidence_limit(
    blocks: Iterable[Values], bounds: Bounds, alpha: float, planned: float | None
) -> float:
    """Return the lower limit of the mean that holds at all looks at once.

    Args:
        blocks: The values so far.
        bounds: The bounds of the values.
        alpha: The probability that the limit ever lies above the mean.
        planned: By how much the mean is planned to lie above a supposed one; None if unknown.
    """
    blocks = [*blocks]
    low, high = bounds.low, bounds.high
    for _ in range(_N_BISECTIONS):
        middle = (low + high) / 2
        if _is_ever_rejected(blocks, Bettor(middle, bounds, planned), alpha):
            low = middle
        else:
            high = middle
    return low


def _is_ever_rejected(blocks: Iterable[Values], bettor: Bettor, alpha: float) -> bool:
    for block in blocks:
        bettor.bet(block)
        if bettor.wealth >= 1 / alpha:
            return True
    return False
