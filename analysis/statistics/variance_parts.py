"""The variance that sums of squares by participant, by frame and by answer tell together.

It is that of single answers, and what participants and frames add to it where they add something.
With participants' and frames' sums alone as the least, as Parallax had it until November 2026, it
was too large wherever one of them added nothing, and the fewer clusters as degrees of freedom made
intervals wider still where the other way made the variance (benchmarks/coverage_grid.py).
"""

from collections.abc import Sequence

import numpy as np

from analysis.statistics.resample import Floats

# How far ``crossed`` may fall below the greater of its two ways, found by the coverage grid.
_BELOW = 3.5


def freedom_by_parts(parts: Sequence[Floats], freedoms: Sequence[Floats]) -> Floats:
    """Return the degrees of freedom of what single answers and, where they add, clusters vary by.

    They are Satterthwaite's (1946), Biometrics Bulletin, 2(6), 110-114: each part is worth
    its own, and they are no fewer than those of the fewer clusters.

    Args:
        parts: The variance by participants, by frames, and by single answers.
        freedoms: Degrees of freedom of each; 0 with one participant, who then adds nothing, or with
            one frame.
    """
    *clustered, alone = parts
    people, frames, rest = freedoms
    more = [
        np.where(own > 0, np.maximum(part - alone, 0.0), 0.0)
        for part, own in zip(clustered, (people, frames), strict=True)
    ]
    total: Floats = alone + more[0] + more[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        each = alone**2 / rest
        for part, own, extra in zip(clustered, (people, frames), more, strict=True):
            each = each + np.where(extra > 0, part**2 / own, 0.0)
    return _satterthwaite(total, each, freedoms)


def crossed(
    parts: Sequence[Floats],
    freedoms: Sequence[Floats],
    whole: Sequence[bool] = (False, False),
) -> tuple[Floats, Floats]:
    """Return the variance without bias where it can be had, and its degrees of freedom.

    It is what both ways tell less what both hold, ``V_P + V_I - V_C``: the method of moments for
    crossed effects (Searle, S. R., Casella, G. & McCulloch, C. E. (1992). Variance components.
    Wiley). That estimate can fall too low, even below 0. So it is no less than a share of the
    greater way, ``1 - 3.5 / (f + 1)`` with the fewer clusters' ``f`` degrees of freedom: the
    greater of two estimates is too large by itself, the more so the fewer clusters each rests on.
    The 3.5 is no theorem: with it intervals cover in simulations (benchmarks/coverage_grid.py).
    The freedom is Satterthwaite's, to which every part counts as a whole.

    Args:
        parts: The variance by participants, by frames, and by single answers.
        freedoms: Degrees of freedom of each, those of both ways above 0.
        whole: Of each way whether its part is the least as a whole: single answers hold its levels
            too, and what they hold is then no part of the other way.
    """
    people, frames, alone = parts
    share = np.maximum(1 - _BELOW / (np.minimum(*freedoms[:2]) + 1), 0.0)
    least = [part * (1.0 if own else share) for part, own in zip(parts, whole, strict=False)]
    total: Floats = np.maximum(people + frames - alone, np.maximum(*least))
    with np.errstate(divide="ignore", invalid="ignore"):
        each = sum(part**2 / own for part, own in zip(parts, freedoms, strict=True))
    return total, _satterthwaite(total, np.asarray(each), freedoms)


def _satterthwaite(total: Floats, each: Floats, freedoms: Sequence[Floats]) -> Floats:
    """Return the freedom of a variance, between the fewer clusters' and single answers'."""
    people, frames, rest = freedoms
    fewest = np.where(people > 0, np.where(frames > 0, np.minimum(people, frames), people), frames)
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = np.clip(total**2 / each, fewest, np.maximum(rest, fewest))
    found: Floats = np.where(total > 0, freedom, fewest)
    return found
