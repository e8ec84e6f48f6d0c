"""The variance that sums of squares by participant, by frame and by answer tell together.

It is that of single answers, and what participants and frames add to it where they add something.
With participants' and frames' sums alone as the least, as Parallax had it until November 2026, it
was too large wherever one of them added nothing, and the fewer clusters as degrees of freedom made
intervals wider still where the other way made the variance (benchmarks/coverage_grid.py).
"""

from collections.abc import Sequence

import numpy as np

from analysis.statistics.resample import Floats


def components(
    parts: Sequence[Floats], freedoms: Sequence[Floats], *, added: float = 0.0
) -> tuple[Floats, Floats]:
    """Return the variance and its degrees of freedom.

    The freedom is Satterthwaite's (1946), Biometrics Bulletin, 2(6), 110-114: each part is worth
    its own, and no fewer than the fewer clusters give.

    Args:
        parts: The variance by participants, by frames, and by single answers.
        freedoms: Degrees of freedom of each; 0 with one participant, who then adds nothing, or with
            one frame.
        added: What a part has in the formula: between its whole variance (0, cautious) and what it
            adds to that of single answers (1).
    """
    *clustered, alone = parts
    people, frames, rest = freedoms
    more = [
        np.where(own > 0, np.maximum(part - alone, 0.0), 0.0)
        for part, own in zip(clustered, (people, frames), strict=True)
    ]
    total: Floats = alone + more[0] + more[1]
    fewest = np.where(people > 0, np.where(frames > 0, np.minimum(people, frames), people), frames)
    with np.errstate(divide="ignore", invalid="ignore"):
        each = alone**2 / rest
        for part, own, extra in zip(clustered, (people, frames), more, strict=True):
            counted = part * ((1 - added) * part + added * extra) / own
            each = each + np.where(extra > 0, counted, 0.0)
        freedom = np.clip(total**2 / each, fewest, np.maximum(rest, fewest))
    found: Floats = np.where(total > 0, freedom, fewest)
    return total, found
