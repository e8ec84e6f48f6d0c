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
import tempfile
from collections.abc import Iterator
from contextlib import chdir
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace

import click
import numpy as np
import pandas as pd
from scipy.stats import t as student
from statsmodels.stats.proportion import proportion_confint

from analysis.data.join import Joined
from analysis.data.own_columns import PREFIX
from analysis.data.readings import RELATIVE_REGION
from analysis.data.scales import make_study_of_part
from analysis.findings.comparison_words import ALPHA, NAME, comparison_sentences
from analysis.findings.comparisons import answered
from analysis.findings.finding import ComparisonOptions, Context, FindingInputs
from analysis.power.base import PowerOptions
from analysis.power.cells import LOG_RT, AnswerModel, Coded, SimulatedAnswers, answers_of
from analysis.power.comparisons import model_of
from analysis.power.expected_means import add_expected_means
from analysis.power.planned_tests import group_by_task, plan_test, primary_comparisons
from analysis.power.simulated_choices import Assumptions
from analysis.power.simulated_comparisons import (
    Tested,
    cell_means,
    code_answers,
)
from analysis.statistics.resample import Floats, codes
from analysis.statistics.variance_parts import crossed_variance
from experiment.design.lists import BuiltLists
from experiment.records import PAIR
from experiment.responses.registry import response_of
from experiment.studies.study import Study

sys.path.append(str(Path(__file__).parents[1]))
from benchmarks.drawn_designs import FREQUENCY, KINDS, DrawnDesign, draw_design, make_study

_EFFECTS = {"accuracy": 0.12, "rating": 0.7, "yes": 0.15, LOG_RT: 0.12}
_VALUES = {"accuracy": "chose_good", "rating": "rating", "yes": "said_yes"}
# The change for each standard deviation of the covariate, in logits and in log milliseconds.
_SLOPE, _SLOPE_OF_TIMES = 0.3, 0.05
_PER_LIST = 8
# As far from the shortest as from the longest time that counts, in logarithms.
_TYPICAL_MS = 707.0
_CHECKED = 5
_CHUNK = 500


@dataclass(frozen=True, slots=True)
class PlannedTask:
    """The comparisons of one task of a session, as the power analysis simulates them.

    Attributes:
        study: The study, as one with this task alone.
        measure: What is measured.
        answers: All answers of a session.
        is_own: Which of the answers are of the task.
        tested: How each comparison is tested.
        model: How answers are drawn.
        flat: Where each answer is drawn.
        coded: The participant, frame and cell of each answer.
    """

    study: Study
    measure: str
    answers: SimulatedAnswers
    is_own: "pd.Series[bool]"
    tested: list[Tested]
    model: AnswerModel
    flat: Floats
    coded: Coded


def plan_tasks(study: Study, built: BuiltLists, covariate: str, seed: int) -> Iterator[PlannedTask]:
    """Yield the plan of each task of a study."""
    options = PowerOptions(
        people=Assumptions(0.5, 0.5, 0.0, 0.0), sizes=(_PER_LIST,), simulations=1, seed=seed,
        difference=None, width=None, sd_effects=0.2, means=None, scale=None, accuracy=None,
        like=None, slowdown_percent=None, log_sds="", cost=None,
    )  # fmt: skip
    planned = primary_comparisons(study, built, options)
    for (measure, task), comparisons in group_by_task(study, built, planned).items():
        percent = 100 * float(np.expm1(_EFFECTS[measure])) if measure == LOG_RT else None
        of_task = replace(options, difference=_EFFECTS[measure], slowdown_percent=percent)
        answers = answers_of(study, built, _PER_LIST, measure)
        model = model_of(study, measure, of_task, task)
        rows = add_expected_means(answers, (1, getattr(model, "points", len(PAIR))), None)
        tests = [plan_test(one, answers, rows, study, len(planned), of_task) for one in comparisons]
        tested = [test for test in tests if test is not None]
        means, _ = cell_means(tested, rows, model)
        flat, coded = code_answers(rows.assign(mean=np.median(means)), tested, model)
        held = _effects_of_covariate(answers.rows, covariate, measure)
        yield PlannedTask(
            make_study_of_part(study, response_of(study), task) if task else study,
            measure, answers, rows["construction"].isin(comparisons[0].constructions), tested,
            model, flat + held, coded,
        )  # fmt: skip


def _position(rows: pd.DataFrame) -> "pd.Series[int]":
    return rows.groupby("participant").cumcount() + 1


def covariate_values(rows: pd.DataFrame, covariate: str) -> "pd.Series[float]":
    """Return the covariate of each answer of all sessions."""
    return pd.to_numeric(
        rows[f"{PREFIX}{FREQUENCY}"] if covariate == FREQUENCY else _position(rows)
    )


def _effects_of_covariate(rows: pd.DataFrame, covariate: str, measure: str) -> Floats:
    if not covariate:
        return np.zeros(len(rows))
    values = covariate_values(rows, covariate)
    slope = _SLOPE_OF_TIMES if measure == LOG_RT else _SLOPE
    effects: Floats = slope * ((values - values.mean()) / values.std()).to_numpy(dtype=float)
    return effects


def make_inputs(task: PlannedTask, values: Floats) -> FindingInputs:
    """Return one data set as the inputs of a report's findings."""
    rows = task.answers.rows
    judgments = rows.assign(
        participant="p" + rows["participant"].astype(str),
        frame=rows["unit"],
        position=_position(rows),
        chose_good=None,
        **{f"{PREFIX}{FREQUENCY}": pd.to_numeric(rows[f"{PREFIX}{FREQUENCY}"])},
    )[task.is_own]
    own = values[task.is_own]
    readings = None
    if task.measure == LOG_RT:
        readings = judgments[["participant", "position", "item_id", "version"]].assign(
            judge="people",
            step=1,
            region=1,
            text="word",
            correct=True,
            rt_ms=_TYPICAL_MS * np.exp(own - np.median(own)),
        )
        readings[RELATIVE_REGION] = 0
    else:
        judgments[_VALUES[task.measure]] = own if task.measure == "rating" else own == len(PAIR)
    run = SimpleNamespace(
        rating_ends=None,
        study=task.study,
        items=task.answers.items,
        readings=readings,
        whole_study=None,
    )
    return FindingInputs(
        run, [], [], Joined(judgments, {}, task.answers.items), ComparisonOptions(),
        Context(task.study, SimpleNamespace(simulated=True, resamples=100, seed=1, footer=())),
    )  # fmt: skip


def read_first_sentences(inputs: FindingInputs) -> pd.DataFrame:
    """Return for each primary comparison: sign (as stated, or 0), estimate, p, n_answers."""
    rows, unanswered = answered(inputs)
    assert not unanswered, unanswered
    sentences = list(comparison_sentences({NAME: rows}))
    primary = rows[rows["role"] == "primary"].set_index("name")
    signs = {}
    for name, row in primary.iterrows():
        said = {1: row["if_positive"], -1: row["if_negative"]}
        sign = int(np.sign(row["estimate"]))
        statement = f"{name}: {said.get(sign)}"
        is_stated = any(sentence.startswith(statement) for sentence in sentences)
        # An interaction has one sentence for both signs, and the differences show which it is.
        signs[name] = sign if is_stated else 0
        assert (row["p_corrected"] < ALPHA) == is_stated
    columns = {"estimate": "estimate", "p_corrected": "p", "n_observations": "n_answers"}
    return primary[[*columns]].rename(columns=columns).astype(float).assign(sign=pd.Series(signs))


def plan_design(seed: int) -> list[PlannedTask]:
    """Return the planned tasks of a design."""
    design = draw_design(seed)
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        study, built = make_study(design, seed, _PER_LIST)
        return list(plan_tasks(study, built, design.covariate, seed))


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
    design, tasks = draw_design(seed), plan_design(seed)
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
