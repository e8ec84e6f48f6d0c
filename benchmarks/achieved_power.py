"""Whether studies show an effect as often as ``parallax power`` promised, on data drawn otherwise.

Usage: python -m benchmarks.achieved_power [--designs 12] [--studies 2000] [--results FILE]

For each of twelve designs the command ``parallax power`` plans the study from a table of expected
means. The data come from models written here with numpy alone, as a textbook writes them: an
intercept and slopes of every participant and of every frame, for the logit of a choice, the
cumulative logit of a rating, or the logarithm of a reading time. Participants meet the frames by a
Latin square of our own. The comparisons of a report answer each data set, and the share of data
sets whose first sentences state the effect with its sign is what was achieved. ``--results`` keeps
a line for each finished design; a later call with this file measures only the others.
"""

import json
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import chdir
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations, product
from pathlib import Path
from statistics import NormalDist
from types import SimpleNamespace

import click
import numpy as np
import pandas as pd
from click.testing import CliRunner
from numpy.typing import NDArray

from analysis.data.join import Joined
from analysis.data.own_columns import PREFIX, prefix_own_columns
from analysis.data.readings import RELATIVE_REGION
from analysis.findings.comparison_words import ALPHA
from analysis.findings.comparisons import answered
from analysis.findings.finding import ComparisonOptions, Context, FindingInputs
from analysis.power.command import power
from experiment.materials.item_rows import item_row
from experiment.materials.read import load_items
from experiment.studies.load import load_study
from experiment.studies.study import Study

sys.path.append(str(Path(__file__).parents[1]))
from benchmarks.drawn_designs import DrawnDesign, make_study

Floats = NDArray[np.float64]
_FACTORS = {"match": ("far", "near"), "number": ("pl", "sg")}
_INSTRUCTION = ("plain", "careful")
_FRAMES, _POINTS = 16, 7
_MODEL = "a model"
PEOPLE, COMPARED = "people and models", "people - models"
# The assumptions that ``parallax power`` states, in logits: between participants, between frames,
# and further in each condition; then the shares of answers and of participants that guess.
_SD_PARTICIPANTS, _SD_FRAMES, _SD_CELL, _LAPSE, _GUESSING = 0.5, 0.5, 0.2, 0.02, 0.1
# Of logarithms of times: participants, their effects, frames, their effects, residual.
_LOG_SDS = (0.3, 0.08, 0.07, 0.05, 0.4)
_COLUMNS = {"choices": "chose_good", "ratings": "rating", "yes and no": "said_yes"}
_TASKS = {"choices": "sentence_pair", "ratings": "rating", "yes and no": "yes_no",
          "reading": "self_paced"}  # fmt: skip
# The middle of the cells, and the effect of every comparison.
_MIDDLE = {"choices": 0.75, "ratings": 4.0, "yes and no": 0.5, "reading": np.log(400.0)}
_NORMAL = np.array([NormalDist().inv_cdf((place + 0.5) / 400) for place in range(400)])


@dataclass(frozen=True, slots=True)
class Design:
    """A design and the effects that are planted in it.

    Attributes:
        kind: What participants do.
        within: The number of factors of the items.
        between: Whether participants also differ in a factor.
        per_list: The number of participants on each list.
        effect: The size of every comparison, in the unit of the measure (reading: in logarithms).
        people: Whether people are compared with a model, and nothing else.
    """

    kind: str
    within: int
    between: bool
    per_list: int
    effect: float
    people: bool = False

    @property
    def factors(self) -> dict[str, tuple[str, str]]:
        """The levels of every factor, the one between participants last."""
        factors = dict(list(_FACTORS.items())[: self.within])
        return factors | ({"instruction": _INSTRUCTION} if self.between else {})

    @property
    def name(self) -> str:
        """A description for the printed lines."""
        if self.people:
            return f"{self.kind}, {self.within} factor(s), people minus a model"
        between = ", one between" if self.between else ""
        return f"{self.kind}, {len(self.factors)} factor(s){between}"


DESIGNS = (
    Design("choices", 1, between=False, per_list=14, effect=0.12),
    Design("choices", 2, between=False, per_list=8, effect=0.10),
    Design("choices", 1, between=True, per_list=8, effect=0.12),
    Design("choices", 1, between=False, per_list=15, effect=0.28, people=True),
    Design("choices", 2, between=False, per_list=8, effect=0.20, people=True),
    Design("ratings", 1, between=False, per_list=8, effect=0.45),
    Design("ratings", 2, between=False, per_list=6, effect=0.45),
    Design("ratings", 1, between=True, per_list=8, effect=0.6),
    Design("yes and no", 1, between=False, per_list=14, effect=0.14),
    Design("yes and no", 2, between=False, per_list=8, effect=0.12),
    Design("reading", 1, between=False, per_list=12, effect=0.07),
    Design("reading", 1, between=True, per_list=10, effect=0.1),
)


def codes(design: Design) -> tuple[Floats, list[tuple[str, ...]]]:
    """Return the sum-coded effects of every cell, and which factors each effect is of.

    Each factor is +1/2 at its first level and -1/2 at its second; the column of an interaction is
    the product, so that a coefficient is a difference, or a difference of differences.
    """
    n_factors = len(design.factors)
    cells = np.array(list(product((0.5, -0.5), repeat=n_factors))).reshape(2**n_factors, n_factors)
    effects = [
        places
        for size in range(1, n_factors + 1)
        for places in combinations(range(n_factors), size)
    ]
    columns = [cells[:, list(places)].prod(axis=1) for places in effects]
    names = [tuple(list(design.factors)[place] for place in places) for places in effects]
    return np.array(columns).reshape(len(columns), len(cells)).T, names


def cell_means(design: Design) -> Floats:
    """Return the planted mean of every cell."""
    columns, _ = codes(design)
    size = 0.0 if design.people else design.effect
    means: Floats = _MIDDLE[design.kind] + columns.sum(axis=1) * size
    return means


def draw_slopes(columns: Floats, sd: float, n: int, rng: np.random.Generator) -> Floats:
    """Return what each of n participants or frames adds in each cell: an intercept and slopes.

    The slopes are independent and have the spread with which two cells differ by
    ``sd * sqrt(2)``: that of the m-th order effect of k cells is ``sd * 2 ** m / sqrt(k)``.
    """
    k = len(columns)
    order = np.log2(0.5 / np.abs(columns[0])).round() + 1 if columns.size else np.zeros(0)
    spreads = sd * 2.0**order / np.sqrt(k)
    slopes = rng.normal(size=(n, columns.shape[1])) * spreads
    added: Floats = rng.normal(0, sd / np.sqrt(k), (n, 1)) + slopes @ columns.T
    return added


def find_bounds(points: int) -> Floats:
    """Return the bounds between the points of a scale, one logit apart."""
    return np.arange(points - 1) - (points - 2) / 2


def mean_answer(eta: float, bounds: Floats) -> float:
    """Return the mean answer, counted from 0, of everybody at an average logit."""
    total = np.sqrt(_SD_PARTICIPANTS**2 + _SD_FRAMES**2 + 2 * _SD_CELL**2)
    above = 1 / (1 + np.exp(bounds - eta - total * _NORMAL[:, None]))
    attentive = float(above.sum(axis=1).mean())
    return _LAPSE * len(bounds) / 2 + (1 - _LAPSE) * attentive


@cache
def find_logit(mean: float, points: int) -> float:
    """Return the average logit with a mean answer, by halving."""
    bounds, low, high = find_bounds(points), -20.0, 20.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if mean_answer(middle, bounds) < mean else (low, middle)
    return low


def draw(design: Design, rng: np.random.Generator) -> pd.DataFrame:
    """Return a data set: participant, frame, the number of the cell, the list, and the answer."""
    within, between = 2**design.within, 2 if design.between else 1
    n_lists = within * between
    person, frame = (grid.ravel() for grid in np.meshgrid(
        np.arange(n_lists * design.per_list), np.arange(_FRAMES), indexing="ij"))  # fmt: skip
    in_list = person % n_lists
    group, square = in_list % between, in_list // between
    cell = ((frame + square) % within) * between + group
    n_people, means = int(person.max()) + 1, cell_means(design)
    columns, _ = codes(design)
    own, _ = codes(replace(design, between=False))
    reads = design.kind == "reading"
    # Two cells differ by the square root of two of what each adds.
    sds = np.array(_LOG_SDS[1:4:2]) / np.sqrt(2) if reads else np.array([_SD_CELL, _SD_CELL])
    spread = _LOG_SDS[0:3:2] if reads else (_SD_PARTICIPANTS, _SD_FRAMES)
    added = rng.normal(0, spread[0], n_people)[person] + rng.normal(0, spread[1], _FRAMES)[frame]
    added += draw_slopes(own, sds[0], n_people, rng)[person, cell // between]
    added += draw_slopes(columns, sds[1], _FRAMES, rng)[frame, cell]
    if reads:
        answer = means[cell] + added + rng.normal(0, _LOG_SDS[4], len(cell))
    else:
        lowest, points = (1, _POINTS) if design.kind == "ratings" else (0, 2)
        logits = np.array([find_logit(mean - lowest, points) for mean in means.tolist()])
        below = 1 / (1 + np.exp(logits[cell] + added - find_bounds(points)[:, None]))
        answer = (rng.random(len(cell)) > below).sum(axis=0)
        guesses = rng.random(len(cell)) < _LAPSE
        guesses |= (rng.random(n_people) < _GUESSING)[person]
        answer = lowest + np.where(guesses, rng.integers(0, points, len(cell)), answer)
    return pd.DataFrame(
        {"person": person, "frame": frame, "cell": cell, "group": group, "answer": answer}
    )


def make_inputs(
    design: Design, study: Study, items: pd.DataFrame, drawn: pd.DataFrame, right: Floats
) -> FindingInputs:
    """Return a data set as the inputs of a report's findings.

    Args:
        design: The design.
        study: The study that was planned.
        items: Its items, by frame and cell within participants.
        drawn: The data set.
        right: By item, whether the model is right.
    """
    place = drawn["frame"] * 2**design.within + drawn["cell"] // (2 if design.between else 1)
    shown = items.iloc[place].reset_index(drop=True)
    rows = shown[["item_id", "construction", "condition", "frame"]].assign(
        participant="p" + drawn["person"].astype(str),
        position=drawn["frame"] + 1,
        kind="target",
        version="good",
        unit=shown["construction"] + " " + shown["frame"],
        cell=shown["condition"],
        chose_good=None,
    )
    if design.between:
        rows[f"{PREFIX}instruction"] = np.array(_INSTRUCTION)[drawn["group"]]
    readings = None
    if design.kind == "reading":
        times = {"rt_ms": np.exp(drawn["answer"]), "step": 1, "region": 1, RELATIVE_REGION: 0}
        readings = rows[["participant", "position", "item_id", "version"]].assign(
            judge="people", text="word", correct=True, **times
        )
    else:
        as_shown = float if design.kind == "ratings" else bool
        rows[_COLUMNS[design.kind]] = drawn["answer"].astype(as_shown)
    decisions = {}
    if design.people:
        correct = pd.DataFrame({"item_id": items["item_id"], "correct": right > 0, "tie": False})
        decisions = {_MODEL: correct}
    run = SimpleNamespace(study=study, items=items, readings=readings, whole_study=None)
    return FindingInputs(
        run, [], [], Joined(rows, decisions, items), ComparisonOptions(),
        Context(study, SimpleNamespace(simulated=True, resamples=100, seed=1, footer=())),
    )  # fmt: skip


def plan(design: Design, studies: int, seed: int) -> tuple[Study, pd.DataFrame, dict[str, float]]:
    """Return the study, its items, and the promised power of each primary comparison."""
    written = DrawnDesign(
        design.kind, (_TASKS[design.kind],),
        dict(list(_FACTORS.items())[: design.within]), design.between, "",
    )  # fmt: skip
    study, _ = make_study(written, seed, design.per_list)
    if design.people:
        # The command writes a table if conditions are compared as well.
        declared = {one.name: one.compare for one in study.comparisons} | {PEOPLE: COMPARED}
        toml = study.folder / "study.toml"
        text = "".join(
            f'\n[[comparisons]]\nname = "{name}"\ncompare = "{compare}"\n'
            for name, compare in declared.items()
        )
        toml.write_text(toml.read_text("utf-8") + text, "utf-8")
        study = load_study("drawn")
    table = pd.DataFrame(list(product(*design.factors.values())), columns=list(design.factors))
    table.assign(mean=cell_means(design)).to_csv("means.csv", index=False)
    effect = ["--slowdown", str(100 * np.expm1(design.effect)), "--log-sds",
              ",".join(map(str, _LOG_SDS))]  # fmt: skip
    if design.kind != "reading":
        effect = ["--means", "means.csv", "--difference", str(design.effect)]
    words = [str(study.folder), "--per-list", str(design.per_list), "--simulations", str(studies),
             "--seed", str(seed), *effect, "--out", "power"]  # fmt: skip
    done = CliRunner().invoke(power, words, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    promised = pd.read_csv("power/power.csv", comment="#").set_index("construction")["power"]
    items = prefix_own_columns(pd.DataFrame(map(item_row, load_items(study))).fillna(""))
    return study, items, {PEOPLE: promised[PEOPLE]} if design.people else dict(promised)


def measure(design: Design, studies: int, seed: int) -> dict[str, object]:
    """Return the promised and the achieved power of each comparison of a design."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        study, items, promised = plan(design, studies, seed)
    rng, shown = np.random.default_rng(seed), dict.fromkeys(promised, 0)
    for _ in range(studies):
        drawn = draw(design, rng)
        right = (rng.random(len(items)) < _MIDDLE["choices"] - design.effect).astype(float)
        rows, unanswered = answered(make_inputs(design, study, items, drawn, right))
        assert not unanswered, unanswered
        for row in rows[rows["role"] == "primary"].to_dict("records"):
            if row["name"] in shown:
                shown[row["name"]] += int(row["p_corrected"] < ALPHA and row["estimate"] > 0)
    achieved = {name: number / studies for name, number in shown.items()}
    return {"design": design.name, "studies": studies, "promised": promised, "achieved": achieved}


def _write_lines(measured: Mapping[str, object]) -> Iterator[str]:
    for name, promised in measured["promised"].items():
        achieved = measured["achieved"][name]
        yield (
            f"{measured['design']}: {name}: promised {promised:.3f}, achieved {achieved:.3f}, "
            f"{achieved - promised:+.3f}"
        )


def _summarise(results: list[dict[str, object]]) -> str:
    pairs = [
        (one["promised"][name], one["achieved"][name], int(str(one["studies"])))
        for one in results
        for name in one["promised"]
    ]
    differences = np.array([achieved - promised for promised, achieved, _ in pairs])
    errors = np.array([
        np.sqrt((promised * (1 - promised) + achieved * (1 - achieved)) / studies)
        for promised, achieved, studies in pairs
    ])  # fmt: skip
    numbers = sorted({studies for _, _, studies in pairs})
    return (
        f"{len(results)} designs, {len(pairs)} effects, {' or '.join(map(str, numbers))} studies "
        "each: achieved minus promised "
        f"{differences.mean():+.4f} on average, between {differences.min():+.3f} and "
        f"{differences.max():+.3f}; {(np.abs(differences) <= 0.03).sum()} within .03; standard "
        f"error of one difference at most {errors.max():.3f}"
    )


@click.command()
@click.option("--designs", default=len(DESIGNS), show_default=True)
@click.option("--studies", default=2000, show_default=True)
@click.option("--seed", default=1, show_default=True)
@click.option("--results", type=click.Path(path_type=Path, dir_okay=False))
def main(designs: int, studies: int, seed: int, results: Path | None) -> None:
    """Print a line for each comparison of each design, and all together."""
    lines = results.read_text("utf-8").splitlines() if results and results.exists() else []
    by_design = {measured["design"]: measured for measured in map(json.loads, lines)}
    for number, design in enumerate(DESIGNS[:designs]):
        if design.name not in by_design:
            by_design[design.name] = measure(design, studies, seed + number)
            if results:
                with results.open("a", encoding="utf-8") as file:
                    file.write(f"{json.dumps(by_design[design.name])}\n")
        for line in _write_lines(by_design[design.name]):
            click.echo(line)
    click.echo(_summarise([by_design[design.name] for design in DESIGNS[:designs]]))


if __name__ == "__main__":
    main()
