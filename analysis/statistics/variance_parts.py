"""The variance that sums of squares by participant, by frame and by answer tell together.

It is that of single answers, and what participants and frames add to it where they add something.
With participants' and frames' sums alone as the least, as Parallax had it until November 2026, it
was too large wherever one of them added nothing, and the fewer clusters as degrees of freedom made
intervals wider still where the other way made the variance (benchmarks/coverage_grid.py).
"""

import numpy as np

from analysis.statistics.resample import Floats


def components(
    of_people: Floats,
    of_frames: Floats,
    alone: Floats,
    people: Floats,
    frames: Floats,
    rest: Floats,
    *,
    added: float = 0.0,
) -> tuple[Floats, Floats]:
    """Return the variance and its degrees of freedom.

    The freedom is Satterthwaite's (1946), Biometrics Bulletin, 2(6), 110-114: each part is worth
    its own, and no fewer than the fewer clusters give.

    Args:
        of_people: The variance by participants.
        of_frames: By frames.
        alone: By single answers.
        people: Degrees of freedom of the first; 0 with one participant, who then adds nothing.
        frames: Of the second, the same.
        rest: Of the third.
        added: What a part has in the formula: between its whole variance (0, cautious) and what it
            adds to that of single answers (1).
    """
    more = [
        np.where(own > 0, np.maximum(part - alone, 0.0), 0.0)
        for part, own in ((of_people, people), (of_frames, frames))
    ]
    total: Floats = alone + more[0] + more[1]
    fewest = np.where(people > 0, np.where(frames > 0, np.minimum(people, frames), people), frames)
    with np.errstate(divide="ignore", invalid="ignore"):
        each = alone**2 / rest
        for part, own, extra in ((of_people, people, more[0]), (of_frames, frames, more[1])):
            counted = part * ((1 - added) * part + added * extra) / own
            each = each + np.where(extra > 0, counted, 0.0)
        freedom = np.clip(total**2 / each, fewest, np.maximum(rest, fewest))
    found: Floats = np.where(total > 0, freedom, fewest)
    return total, found
