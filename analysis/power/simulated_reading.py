"""How many readers a study needs: one region of its design, read many times by imagined people.

The logarithm of the time that participant p takes for the region of frame f in cell c is

    m + u_p + u_pc + w_f + w_fc + e,

with normal and independent parts: participants and frames differ, and so do their effects of the
cell (Barr, Levy, Scheepers & Tily 2013, Journal of Memory and Language 68, 255-278). ``u_pc`` is
drawn so that the difference of two cells has the standard deviation that is given. Contrasts and
intervals are those of the report (``analysis.statistics.contrasts``).

A slowdown that is the same for everybody shifts an estimate and leaves its interval as wide. So
each study is simulated once without any, and holds every contrast against the slowdown in question.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.statistics.contrasts import Weights, contrasts
from analysis.statistics.resample import numpy_generator

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Spread:
    """Standard deviations of logarithms of reading times.

    Attributes:
        participants: Between participants.
        their_effect: Of a difference of two cells, between participants.
        frames: Between frames.
        frames_effect: Of a difference of two cells, between frames.
        residual: Of what is left.
    """

    participants: float
    their_effect: float
    frames: float
    frames_effect: float
    residual: float


# Medians over three constructions of Witzel et al. (2012) at the word that tells their conditions
# apart, from the same files and by the same model as benchmarks/reading_published.py.
SELF_PACED = Spread(0.35, 0.08, 0.07, 0.03, 0.42)
MAZE = Spread(0.17, 0.06, 0.10, 0.09, 0.29)


@dataclass(frozen=True, slots=True)
class ReadDesign:
    """What the lists show of one construction.

    Attributes:
        name: The construction.
        lists: For each list one row per trial: ``unit`` and ``cell``.
        wanted: The weights of cells of each contrast, by its label.
    """

    name: str
    lists: Sequence[pd.DataFrame]
    wanted: Mapping[str, Weights]


def simulate(
    designs: Sequence[ReadDesign],
    spread: Spread,
    sizes: Sequence[int],
    simulations: Iterable[int],
    *,
    slowdown: float,
    seed: int,
) -> pd.DataFrame:
    """Return what each simulated study would have found.

    Args:
        designs: The constructions.
        spread: How much people and frames differ.
        sizes: Participants per list; the smaller sizes are the first participants of each list.
        simulations: The numbers of the studies to simulate.
        slowdown: The share by which a contrast slows the region, such as 0.05.
        seed: The seed of every draw.

    Returns:
        simulation, per_list, construction, contrast, half_width (of the 95% interval of a
        logarithm), detected (whether the interval excludes no difference, where there is the
        slowdown).
    """
    effect = float(np.log1p(slowdown))
    found = []
    for number in simulations:
        for design in designs:
            rng = numpy_generator(seed, "reading power", design.name, number)
            read = _readings(design, spread, max(sizes), rng)
            for size in sizes:
                rows = contrasts(read[read["place"] < size], "log_rt", design.wanted)
                found.append(
                    pd.DataFrame(
                        {
                            "simulation": number,
                            "per_list": size,
                            "construction": design.name,
                            "contrast": rows["contrast"],
                            "half_width": (rows["high"] - rows["low"]) / 2,
                            "detected": (rows["low"] + effect > 0) | (rows["high"] + effect < 0),
                        }
                    )
                )
    return pd.concat(found, ignore_index=True)


def summary(found: pd.DataFrame) -> pd.DataFrame:
    """Return, for each size and contrast, half_width (a mean) and power (a share of studies).

    Studies with too few readings for an interval detected nothing.
    """
    grouped = found.groupby(["construction", "contrast", "per_list"], sort=False)
    return grouped.agg(half_width=("half_width", "mean"), power=("detected", "mean")).reset_index()


def _readings(
    design: ReadDesign, spread: Spread, per_list: int, rng: np.random.Generator
) -> pd.DataFrame:
    blocks = [
        trials.assign(place=place, participant=f"{list_} {place}")
        for list_, trials in enumerate(design.lists)
        for place in range(per_list)
    ]
    rows = pd.concat(blocks, ignore_index=True)
    person = rows["participant"].to_numpy()
    frame, cell = rows["unit"].to_numpy(), rows["cell"].to_numpy()
    # The difference of two independent parts has twice the variance of one.
    of_cell = np.sqrt(0.5)
    log_rt = (
        _drawn(rng, spread.participants, person)
        + _drawn(rng, spread.their_effect * of_cell, person, cell)
        + _drawn(rng, spread.frames, frame)
        + _drawn(rng, spread.frames_effect * of_cell, frame, cell)
        + rng.normal(0, spread.residual, len(rows))
    )
    return rows.assign(log_rt=log_rt)


def _drawn(rng: np.random.Generator, sd: float, *of: NDArray[np.object_]) -> Floats:
    """Return each row's draw: the same for rows that agree in all of these."""
    codes, known = pd.factorize(pd.MultiIndex.from_arrays(of) if len(of) > 1 else of[0])
    return rng.normal(0, sd, len(known))[codes]
