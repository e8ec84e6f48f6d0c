"""The three discounts of modified Kneser-Ney smoothing (Chen & Goodman 1998, equation 26)."""

from dataclasses import dataclass

import numpy as np

from lm.ngram.table import Floats, Ints, Numbers


@dataclass(frozen=True, slots=True)
class Discounts:
    """What one order's adjusted counts are lowered by.

    Attributes:
        d1: The discount of n-grams whose adjusted count is 1.
        d2: The discount of those with 2.
        d3plus: The discount of those with 3 and more.
        estimated: False when the counts could not say and the fallback stands here.
    """

    d1: float
    d2: float
    d3plus: float
    estimated: bool = True

    def of(self, counts: Ints | Numbers) -> Floats:
        """Return each count's discount, float64, shape as the counts'; 0 for a count of 0."""
        return np.array([0.0, self.d1, self.d2, self.d3plus])[np.minimum(counts, 3)]


FALLBACK = Discounts(0.5, 1.0, 1.5, estimated=False)


def estimate_discounts(counts: Ints | Numbers) -> Discounts:
    """Return the discounts that one order's adjusted counts call for.

    With n_j the number of n-grams whose count is j and Y = n_1 / (n_1 + 2 n_2), the discount of
    count j is D_j = j - (j + 1) Y n_{j+1} / n_j. Small and artificial texts can lack a count or
    bring a discount out of its range 0 .. j; the fallback is then lmplz's (0.5, 1, 1.5).
    """
    n = [float(np.count_nonzero(counts == j)) for j in range(5)]
    if not all(n[1:4]):
        return FALLBACK
    y = n[1] / (n[1] + 2 * n[2])
    d1, d2, d3plus = (j - (j + 1) * y * n[j + 1] / n[j] for j in (1, 2, 3))
    in_range = 0 <= d1 <= 1 and 0 <= d2 <= 2 and 0 <= d3plus <= 3
    return Discounts(d1, d2, d3plus) if in_range else FALLBACK
