"""Studies to plan, and data sets of them that are drawn without the code of ``analysis.power``."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import norm

from analysis.comparison import FindingInputs, keep_targets, load_analysis
from analysis.data.load import ExportedRun
from analysis.findings.comparisons import answered
from analysis.findings.finding import ComparisonOptions, Context
from analysis.power.base import PowerOptions
from analysis.power.simulated_choices import Assumptions
from experiment.studies.load import load_study
from experiment.studies.study import Study
from experiment.tables.schemas import ITEMS
from tests.analysis.rated_study import STUDY as RATINGS
from tests.analysis.rated_study import island_run

TEXTS = RATINGS / "texts"
SD_PEOPLE, SD_FRAMES, SD_CELLS, LAPSE = 0.5, 0.6, 0.3, 0.04
LOG_SDS = (0.3, 0.06, 0.1, 0.04, 0.35)
TRIAL = {
    "sentence_pair": "",
    "rating": "points = 5",
    "yes_no": "",
    "self_paced": 'by = "region"\ndisplay = "moving"',
}
STUDY = """\
response = "{response}"

[study]
name = "planned"
title = "Planned"
version = "1.0"
language = "en"

[materials]
items = "items.csv"

[design]
lists = {lists}
participants_per_list = 10
trials_per_list = {frames}
separate = ""

[[design.squares]]
templates = ["t"]
frames = {frames}

[trial.parameters]
{parameters}

[simulation]
mix = {{ accurate = 1.0 }}

[[constructions]]
name = "c"
title = "C"
"""


@dataclass(frozen=True)
class Planned:
    """A study to plan: its type of response, factors, participants and effect.

    Attributes:
        response: The type of response.
        measure: What is measured.
        factors: The levels of each factor.
        frames: How many frames; a multiple of the cells.
        per_list: How many participants for each list.
        effect: The effect of every primary comparison.
        middle: The mean around which the cells lie.
    """

    response: str
    measure: str
    factors: Mapping[str, tuple[str, str]]
    frames: int
    per_list: int
    effect: float
    middle: float

    @property
    def cells(self) -> list[tuple[str, ...]]:
        """The levels of each cell, in order."""
        return list(product(*self.factors.values()))

    @property
    def means(self) -> list[float]:
        """The mean of each cell: half of every main effect, a quarter of every interaction, ..."""
        signs = [np.array([1 if level == levels[0] else -1 for level, levels in
                           zip(cell, self.factors.values(), strict=True)])
                 for cell in self.cells]  # fmt: skip
        shifts = []
        for own in signs:
            of_sets = 0.0
            for chosen in product([False, True], repeat=len(own)):
                if n := sum(chosen):
                    of_sets += float(np.prod(own[list(chosen)])) / 2**n
            shifts.append(self.middle + self.effect * of_sets)
        return shifts

    def write(self, folder: Path) -> Study:
        """Write the study and return it."""
        self.items().rename(columns=lambda name: name.removeprefix("own_")).to_csv(
            folder / "items.csv", index=False
        )
        text = STUDY.format(response=self.response, lists=len(self.cells), frames=self.frames,
                            parameters=TRIAL[self.response])  # fmt: skip
        (folder / "study.toml").write_text(text)
        shutil.copytree(TEXTS, folder / "texts")
        return load_study(str(folder))

    def items(self) -> pd.DataFrame:
        """The items, one sentence (or pair) for each frame and cell."""
        rows = []
        for frame, cell in product(range(self.frames), self.cells):
            name = "_".join(cell)
            row = dict.fromkeys(ITEMS.column_names, "")
            row |= {
                "item_id": f"i{frame}-{name}",
                "kind": "target",
                "construction": "c",
                "condition": name,
                "template": "t",
                "frame": f"item={frame}",
                "good": f"Frame {frame} is {name}.",
                "contrast": "bad",
            }
            if self.response == "sentence_pair":
                row["bad"] = f"Frame {frame} are {name}."
            if self.response == "self_paced":
                row["good_regions"] = f"Frame {frame} | is {name}."
            levels = dict(zip(self.factors, cell, strict=True))
            rows.append(row | {f"own_{factor}": level for factor, level in levels.items()})
        return pd.DataFrame(rows).fillna("")


def options(plan: Planned, simulations: int) -> PowerOptions:
    """Return the options of ``parallax power`` for a study, nobody guessing throughout."""
    is_read = plan.measure == "log_rt"
    return PowerOptions(
        people=Assumptions(SD_PEOPLE, SD_FRAMES, LAPSE, 0.0),
        sizes=(plan.per_list,), simulations=simulations, seed=1,
        difference=None if is_read else plan.effect, width=None, sd_effects=SD_CELLS, means=None,
        scale=None, accuracy=plan.middle if plan.measure == "accuracy" else None, like=None,
        slowdown_percent=100 * float(np.expm1(plan.effect)) if is_read else None,
        log_sds=",".join(map(str, LOG_SDS)), cost=None,
    )  # fmt: skip


def shown(plan: Planned, study: Study, studies: int) -> pd.Series:
    """Return how often simulated reports show each primary comparison with its sign."""
    rows = [_answered(plan, study, number) for number in range(studies)]
    found = pd.concat(rows)
    found = found[found["role"] == "primary"]
    is_shown = (found["p_corrected"] < 0.05) & (found["estimate"] > 0)
    return is_shown.groupby(found["name"], sort=False).mean()


def _answered(plan: Planned, study: Study, number: int) -> pd.DataFrame:
    run = _drawn_run(plan, study, np.random.default_rng([5, number]))
    response = load_analysis(run)
    data = keep_targets(response.join(run, []))
    inputs = FindingInputs(run, [], [], data, ComparisonOptions(), Context(study, None))
    return answered(inputs)[0]


def _drawn_run(plan: Planned, study: Study, rng: np.random.Generator) -> ExportedRun:
    n_cells = len(plan.cells)
    n_people = plan.per_list * n_cells
    person, frame = np.divmod(np.arange(n_people * plan.frames), plan.frames)
    cell = (person + frame) % n_cells
    values = _times(plan, person, frame, cell, rng) if plan.measure == "log_rt" else _points(
        plan, person, frame, cell, rng
    )  # fmt: skip
    names = np.array([f"p{one:04}" for one in range(n_people)])
    ids = [f"i{f}-{'_'.join(plan.cells[c])}" for f, c in zip(frame, cell, strict=True)]
    trials = pd.DataFrame({"participant": names[person], "position": frame + 1, "item_id": ids,
                           "kind": "target", "good_side": None})  # fmt: skip
    responses = trials.drop(columns=["kind", "good_side"]).assign(
        chosen_side=None, chose_good=None, rt_ms=2000.0, input_method="key"
    )
    readings = None
    if plan.measure == "accuracy":
        trials["good_side"] = "first"
        right = values == 2
        responses["chose_good"] = right
        responses["chosen_side"] = np.where(right, "first", "second")
    elif plan.measure == "rating":
        responses = responses.assign(rating=values, version="good")
    elif plan.measure == "yes":
        responses = responses.assign(said_yes=values == 2, version="good")
    else:
        responses["version"] = "good"
        readings = responses[["participant", "position"]].assign(
            step=1, region=1, text="w", rt_ms=np.exp(values), judge="people"
        )
    base = island_run(1, 4, 4)
    people = pd.DataFrame({"participant": names, "simulated": False, "state": "finished",
                           "list": 0, "consented_at": "2026-01-01"})  # fmt: skip
    return replace(
        base, study=study, items=plan.items(), participants=people, trials=trials,
        responses=responses, readings=readings,
        verdicts=pd.DataFrame({"participant": names, "kept": True, "rule": ""}),
    )  # fmt: skip


def _points(
    plan: Planned,
    person: np.ndarray,
    frame: np.ndarray,
    cell: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """Return points from the chance of each point, by a uniform draw."""
    n_points = 5 if plan.measure == "rating" else 2
    at = np.array([_location(mean, n_points) for mean in plan.means])[cell]
    at = at + _varied(person, cell, SD_PEOPLE, SD_CELLS, rng)
    at = at + _varied(frame, cell, SD_FRAMES, SD_CELLS, rng)
    cuts = np.arange(n_points - 1) - (n_points - 2) / 2
    above = 1 / (1 + np.exp(-(at[:, None] - cuts)))
    above = (1 - LAPSE) * above + LAPSE * (np.arange(n_points - 1, 0, -1) / n_points)
    return 1 + (rng.random(len(at))[:, None] < above).sum(axis=1)


def _times(
    plan: Planned,
    person: np.ndarray,
    frame: np.ndarray,
    cell: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    people, their_effect, frames, frames_effect, residual = LOG_SDS
    value = np.array(plan.means)[cell]
    value = value + _varied(person, cell, people, their_effect / 2**0.5, rng)
    value = value + _varied(frame, cell, frames, frames_effect / 2**0.5, rng)
    return value + residual * rng.standard_normal(len(value))


def _varied(
    of: np.ndarray, cell: np.ndarray, sd: float, sd_cells: float, rng: np.random.Generator
) -> np.ndarray:
    n = of.max() + 1
    own = sd * rng.standard_normal((n, 1)) + sd_cells * rng.standard_normal((n, cell.max() + 1))
    return own[of, cell]


@cache
def _location(mean: float, n_points: int) -> float:
    """Return the location at which the points have a mean (of shares: at which 2 has a share)."""
    spread = (SD_PEOPLE**2 + SD_FRAMES**2 + 2 * SD_CELLS**2) ** 0.5
    cuts = np.arange(n_points - 1) - (n_points - 2) / 2
    lowest = 1 if n_points > 2 else 0

    def excess(at: float) -> float:
        def of(z: float) -> float:
            return float((1 / (1 + np.exp(-(at + spread * z - cuts)))).sum() * norm.pdf(z))

        attentive = quad(of, -8, 8)[0]
        return lowest + (1 - LAPSE) * attentive + LAPSE * (n_points - 1) / 2 - mean

    return float(brentq(excess, -10, 10, xtol=1e-6))
