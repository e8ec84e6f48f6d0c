"""How often the intervals of `parallax pool` hold the truth, over simulated languages.

Usage: python benchmarks/pooling.py [--studies 300] [--seed 1]

A study has several languages, each with its own participants (20 to 40) and 24 frames in two
conditions, judged in a Latin square. Effects are normal over languages in logits, participants and
frames vary too, and answers are right or wrong. Each language's effect and its intervals are those
of the report (``analysis.statistics.contrasts``); they are pooled as the command does. Cells are
the shares of intervals that hold the truth: of each language by itself, of the mean effect, of the
partially pooled effects, and of a further language's effect. The exit status is 1 if one of the
first two is outside 93 to 97 % on average.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit

sys.path.append(str(Path(__file__).parents[1]))
from analysis.findings.comparisons import WITHIN_ONE_SD
from analysis.statistics.contrasts import contrasts
from analysis.statistics.partial_pooling import pool
from analysis.statistics.resample import LEVEL

N_LANGUAGES, SDS = (5, 10, 20), (0.0, 0.2, 0.6)  # SDs of effects between languages, in logits
N_FRAMES, N_PEOPLE = 24, (20, 40)
BASE, EFFECT, SPREAD = 1.2, 0.6, 0.8  # logits: mean, effect, SD of participants and of frames
BOUNDS = (0.93, 0.97)
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(40)
_WEIGHTS /= _WEIGHTS.sum()


def true_effects(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return differences of mean accuracy, over all participants and frames, of logit effects."""
    spread = np.sqrt(2) * SPREAD * _NODES
    sides = [expit(BASE + sign * logits[..., None] / 2 + spread) @ _WEIGHTS for sign in (1, -1)]
    difference: NDArray[np.float64] = sides[0] - sides[1]
    return difference


def answer(effect: float, rng: np.random.Generator) -> pd.DataFrame:
    """Return one language's answers: participant, unit, cell and correct."""
    n_people = int(rng.integers(N_PEOPLE[0], N_PEOPLE[1] + 1))
    person, frame = np.repeat(np.arange(n_people), N_FRAMES), np.tile(np.arange(N_FRAMES), n_people)
    condition = (person + frame) % 2
    logit = BASE + effect * (0.5 - condition)
    logit += SPREAD * rng.standard_normal(n_people)[person]
    logit += SPREAD * rng.standard_normal(N_FRAMES)[frame]
    return pd.DataFrame(
        {
            "participant": person,
            "unit": frame,
            "cell": np.where(condition == 0, "a", "b"),
            "correct": (rng.random(len(logit)) < expit(logit)).astype(float),
        }
    )


def estimate(answers: pd.DataFrame) -> tuple[float, float, float, float]:
    """Return a language's effect, its 95% interval and its standard error."""
    compared = {"effect": {"a": 1.0, "b": -1.0}}
    own, narrow = (
        contrasts(answers, "correct", compared, level=level).iloc[0]
        for level in (LEVEL, WITHIN_ONE_SD)
    )
    error = (narrow["high"] - narrow["low"]) / 2
    return float(own["estimate"]), float(own["low"]), float(own["high"]), float(error)


def hold_truth(n_languages: int, sd: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return the shares of one study's intervals that hold the truth."""
    effects = EFFECT + sd * rng.standard_normal(n_languages + 1)
    *true, further = true_effects(effects)
    mean = float(true_effects(EFFECT + sd * _NODES) @ _WEIGHTS)
    rows = np.array([estimate(answer(effect, rng)) for effect in effects[:-1]])
    pooled = pool(rows[:, 0], rows[:, 3])
    own = (rows[:, 1] <= true) & (true <= rows[:, 2])
    partly = (pooled.partly_low <= true) & (true <= pooled.partly_high)
    return np.array(
        [
            own.mean(),
            pooled.low <= mean <= pooled.high,
            partly.mean(),
            pooled.next_low <= further <= pooled.next_high,
        ]
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--studies", type=int, default=300, help="studies in each cell")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    print("| Languages | SD between, logits | Own | Mean | Partially pooled | Further |")
    print("|---:|---:|---:|---:|---:|---:|")
    cells = []
    for n_languages in N_LANGUAGES:
        for sd in SDS:
            tried = [hold_truth(n_languages, sd, rng) for _ in range(options.studies)]
            cells.append(np.mean(tried, axis=0))
            shares = " | ".join(f"{100 * share:.1f} %" for share in cells[-1])
            print(f"| {n_languages} | {sd} | {shares} |", flush=True)
    mean, least = np.mean(cells, axis=0), np.min(cells, axis=0)
    for name, values in (("mean", mean), ("least", least)):
        print(f"| {name} | | {' | '.join(f'{100 * share:.1f} %' for share in values)} |")
    within = (mean[:2] >= BOUNDS[0]) & (mean[:2] <= BOUNDS[1])
    sys.exit(0 if within.all() else 1)


if __name__ == "__main__":
    main()
