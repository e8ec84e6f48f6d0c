"""How often a report's first sentences state an effect in studies without any.

Usage: python -m benchmarks.first_screen_nulls [--designs 40] [--studies 5000] [--seed 1]

Each seed draws a design (``benchmarks.drawn_designs``); its primary comparisons are corrected for
their number, over both tasks of a session. The formulas are those of ``analysis.statistics``, for
many studies at once: the levels of participants and frames that cancel are removed by least
squares, and the variance comes from what is left. The finding that writes the sentences answers the
first studies of each design, too, and must give the same p values, unless it leaves out a reading
time as too short or too long. A line for each design, then for each kind of session.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np
import pandas as pd
from scipy.stats import t as student
from statsmodels.stats.proportion import proportion_confint

from analysis.findings.comparison_words import ALPHA
from analysis.power.simulated_comparisons import Tested
from analysis.statistics.resample import Floats, codes
from analysis.statistics.variance_parts import crossed_variance

sys.path.append(str(Path(__file__).parents[1]))
from benchmarks.drawn_designs import KINDS, DrawnDesign, draw_design
from benchmarks.first_screen import (
    PlannedTask,
    covariate_values,
    make_inputs,
    plan_design,
    read_first_sentences,
)

_CHECKED = 5
_CHUNK = 500


@dataclass(frozen=True, slots=True)
class NullRate:
    """How many of a design's studies without effects state one."""

    seed: int
    design: DrawnDesign
    n_comparisons: int
    studies: int
    false: int


def corrected_p(task: PlannedTask, test: Tested, covariate: str, values: Floats) -> Floats:
    """Return the corrected p of a comparison in each study.

    Args:
        task: The task.
        test: Its comparison.
        covariate: What the comparison holds constant; empty for nothing.
        values: Shape ``(answers, studies)``: all answers of the sessions.
    """
    answers = test.answers[test.answers["cell"].isin(test.weights)]
    all_rows = task.answers.rows
    y = values[all_rows.index.get_indexer(answers.index)]
    cells = pd.get_dummies(answers["cell"], dtype=float)
    sizes = cells.sum()
    weight = (cells / sizes).to_numpy() @ np.array([test.weights[name] for name in cells])
    if covariate:
        x = covariate_values(all_rows, covariate)[answers.index].to_numpy(dtype=float)
        y = _hold_constant(y, x, weight, cells.to_numpy())
    ways = [codes(answers[name].astype(str))[0] for name in ("participant", "unit")]
    total, freedom = _variance(y, weight, cells.to_numpy(), ways)
    p = 2 * student.sf(np.abs(weight @ y) / np.sqrt(total), freedom)
    n_in_family = round(ALPHA / (1 - test.level))
    corrected: Floats = np.minimum(p * n_in_family, 1.0)
    return corrected


def _hold_constant(y: Floats, x: Floats, weight: Floats, cells: Floats) -> Floats:
    """Return values whose weighted sum is a regression's, and whose deviations its influences."""
    means = cells / cells.sum(axis=0)
    y_within, x_within = y - cells @ (means.T @ y), x - cells @ (means.T @ x)
    slopes = x_within @ y_within / (x_within @ x_within)
    residuals = y_within - np.outer(x_within, slopes)
    influence = x_within / (x_within @ x_within) * (weight @ x)
    return y - np.outer(x - x.mean(), slopes) - (influence / weight)[:, None] * residuals


def _variance(
    y: Floats,
    weight: Floats,
    cells: Floats,
    ways: list["np.ndarray[tuple[int], np.dtype[np.intp]]"],
) -> tuple[Floats, Floats]:
    """Return the variance of each study's weighted sum, and its degrees of freedom."""
    indicators = [np.eye(way.max() + 1)[way] for way in ways]
    stays = [np.abs(weight @ way).sum() >= np.abs(weight).sum() / 2 for way in indicators]
    removed = [way for way, is_kept in zip(indicators, stays, strict=True) if not is_kept]
    basis, sizes, _ = np.linalg.svd(np.hstack([cells, *removed]), full_matrices=False)
    basis = basis[:, sizes > 1e-9 * sizes[0]]
    influence = weight[:, None] * (y - basis @ (basis.T @ y))
    parts, freedoms = [], []
    for way in indicators:
        weighted = weight[:, None] * way
        left = 1 - np.sum((basis.T @ weighted) ** 2) / np.sum(weight**2)
        parts.append(np.sum((way.T @ influence) ** 2, axis=0) / left)
        freedoms.append(left * way.shape[1])
    answers_freedom = len(y) - basis.shape[1]
    parts.append(np.sum(influence**2, axis=0) * len(y) / answers_freedom)
    freedoms.append(answers_freedom)
    return crossed_variance(parts, [np.full_like(parts[0], value) for value in freedoms], stays)


def measure_nulls(seed: int, studies: int) -> NullRate:
    """Return how many studies of a design without effects state one."""
    design, tasks = draw_design(seed), plan_design(seed, 0)
    rng = np.random.default_rng([seed, 1])
    false = 0
    for start in range(0, studies, _CHUNK):
        is_false = np.zeros(min(_CHUNK, studies - start), bool)
        for task in tasks:
            values = np.column_stack(
                [task.model.draw(task.flat, task.coded, rng) for _ in is_false]
            )
            p = pd.DataFrame(
                {test.name: corrected_p(task, test, design.covariate, values)
                 for test in task.tested}
            )  # fmt: skip
            if not start:
                _compare_with_report(task, values, p)
            is_false |= (p < ALPHA).any(axis=1).to_numpy()
        false += int(is_false.sum())
    return NullRate(seed, design, sum(len(task.tested) for task in tasks), studies, false)


def _compare_with_report(task: PlannedTask, values: Floats, p: pd.DataFrame) -> None:
    n_answers = {test.name: len(test.answers) for test in task.tested}
    for number in range(min(_CHECKED, len(p))):
        read = read_first_sentences(make_inputs(task, values[:, number]))
        # The report leaves out times that are too short or too long.
        if (read["n_answers"] == pd.Series(n_answers)).all():
            np.testing.assert_allclose(p.loc[number, read.index], read["p"], rtol=1e-5)


def _describe(false: int, studies: int) -> str:
    high = proportion_confint(false, studies, method="beta")[1]
    return f"false in {false} of {studies} studies, {false / studies:.4f} (at most {high:.4f})"


def summarise(rates: list[NullRate]) -> Iterator[str]:
    """Yield a line for each kind of session, with its designs' lowest and highest rate."""
    for kind in KINDS:
        of_kind = [rate for rate in rates if rate.design.kind == kind]
        if of_kind:
            false, studies = (sum(getattr(rate, name) for rate in of_kind) for name in
                              ("false", "studies"))  # fmt: skip
            shares = [rate.false / rate.studies for rate in of_kind]
            yield (
                f"{kind}: {len(of_kind)} designs; {_describe(false, studies)}; by design "
                f"{min(shares):.4f} to {max(shares):.4f}"
            )


@click.command()
@click.option("--designs", default=40, show_default=True)
@click.option("--studies", default=5000, show_default=True)
@click.option("--seed", default=1, show_default=True)
def main(designs: int, studies: int, seed: int) -> None:
    """Print a line for each design, then for each kind of session."""
    rates = []
    for number in range(seed, seed + designs):
        rate = measure_nulls(number, studies)
        rates.append(rate)
        held = f", {rate.design.covariate} held constant" if rate.design.covariate else ""
        plural = "s" if rate.n_comparisons > 1 else ""
        click.echo(
            f"{number} {rate.design.kind}, {rate.n_comparisons} comparison{plural}{held}: "
            f"{_describe(rate.false, rate.studies)}"
        )
    for line in summarise(rates):
        click.echo(line)


if __name__ == "__main__":
    main()
