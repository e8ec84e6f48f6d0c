"""How often a report's first sentences state planted effects with their sign.

Usage: python -m benchmarks.first_screen [--designs 40] [--datasets 200] [--seed 1] [--results FILE]

Each seed draws a design (``benchmarks.drawn_designs``). The power analysis simulates studies with
an effect of each primary comparison and counts those that show it (``promised``). The finding that
writes the first sentences of a report answers the same comparisons from the same simulated answers
(``stated``), with the effect of the covariate added if the comparisons hold one constant.
``--results`` keeps a line for each finished design; a later call with this file measures only the
others. A line for each comparison, then all together. ``benchmarks.first_screen_nulls`` counts
false statements in studies without effects.
"""

import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import SimpleNamespace

import click
import numpy as np
import pandas as pd

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
    generator_of_study,
    simulate,
)
from analysis.statistics.resample import Floats
from experiment.design.lists import BuiltLists
from experiment.records import PAIR
from experiment.responses.registry import response_of
from experiment.studies.study import Study

sys.path.append(str(Path(__file__).parents[1]))
from benchmarks.drawn_designs import FREQUENCY, draw_design, make_study

_EFFECTS = {"accuracy": 0.12, "rating": 0.7, "yes": 0.15, LOG_RT: 0.12}
_VALUES = {"accuracy": "chose_good", "rating": "rating", "yes": "said_yes"}
# The change for each standard deviation of the covariate, in logits and in log milliseconds.
_SLOPE, _SLOPE_OF_TIMES = 0.3, 0.05
_PER_LIST = 8
# As far from the shortest as from the longest time that counts, in logarithms.
_TYPICAL_MS = 707.0


@dataclass(frozen=True, slots=True)
class PlannedTask:
    """The comparisons of one task of a session, as the power analysis simulates them.

    Attributes:
        study: The study, as one with this task alone.
        measure: What is measured.
        answers: All answers of a session.
        is_own: Which of the answers are of the task.
        tested: How each comparison is tested.
        truths: The planted effects.
        model: How answers are drawn.
        base: Where each answer is drawn, with the effects.
        flat: The same without the effects.
        coded: The participant, frame and cell of each answer.
        promised: The share of simulated studies that show each effect.
    """

    study: Study
    measure: str
    answers: SimulatedAnswers
    is_own: "pd.Series[bool]"
    tested: list[Tested]
    truths: dict[str, float]
    model: AnswerModel
    base: Floats
    flat: Floats
    coded: Coded
    promised: dict[str, float]


def plan_tasks(
    study: Study, built: BuiltLists, covariate: str, datasets: int, seed: int
) -> Iterator[PlannedTask]:
    """Yield the plan of each task of a study; without data sets, nothing is promised."""
    options = PowerOptions(
        people=Assumptions(0.5, 0.5, 0.0, 0.0), sizes=(_PER_LIST,), simulations=datasets, seed=seed,
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
        means, truths = cell_means(tested, rows, model)
        with_effects = rows.assign(mean=means)
        promised = {}
        if datasets:
            studies = simulate(
                with_effects, tested, truths, model, None, of_task, range(datasets)
            ).groupby("construction")
            promised = dict(studies["detected"].mean())
        base, coded = code_answers(with_effects, tested, model)
        flat, _ = code_answers(rows.assign(mean=np.median(means)), tested, model)
        held = _effects_of_covariate(answers.rows, covariate, measure)
        yield PlannedTask(
            make_study_of_part(study, response_of(study), task) if task else study,
            measure, answers, rows["construction"].isin(comparisons[0].constructions), tested,
            truths, model, base + held, flat + held, coded, promised,
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


@dataclass(frozen=True, slots=True)
class Effect:
    """A planted effect.

    Attributes:
        name: The comparison.
        measure: What is measured.
        planted: The planted effect.
        estimate: The mean of its estimates.
        promised: The share of simulated studies in which the power analysis shows it.
        stated: The share of the same studies whose first sentences state it.
    """

    name: str
    measure: str
    planted: float
    estimate: float
    promised: float
    stated: float


@dataclass(frozen=True, slots=True)
class Measured:
    """The result of a design: its effects."""

    seed: int
    kind: str
    covariate: str
    effects: list[Effect]


def plan_design(seed: int, datasets: int) -> list[PlannedTask]:
    """Return the planned tasks of a design."""
    design = draw_design(seed)
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        study, built = make_study(design, seed, _PER_LIST)
        return list(plan_tasks(study, built, design.covariate, datasets, seed))


def measure_design(seed: int, datasets: int) -> Measured:
    """Return how often the first sentences state the effects of a design."""
    tasks = plan_design(seed, datasets)
    effects = [effect for task in tasks for effect in _measure_effects(task, datasets, seed)]
    design = draw_design(seed)
    return Measured(seed, design.kind, design.covariate, effects)


def _measure_effects(task: PlannedTask, datasets: int, seed: int) -> Iterator[Effect]:
    signs, estimates = [], []
    for number in range(datasets):
        rng = generator_of_study(seed, task.tested, number)
        values = task.model.draw(task.base, task.coded, rng)
        read = read_first_sentences(make_inputs(task, values))
        signs.append(read["sign"])
        estimates.append(read["estimate"])
    stated, means = pd.DataFrame(signs), pd.DataFrame(estimates).mean()
    for name, truth in task.truths.items():
        yield Effect(
            name, task.measure, truth, float(means[name]), float(task.promised[name]),
            float((stated[name] == np.sign(truth)).mean()),
        )  # fmt: skip


def _read_results(path: Path) -> Iterator[Measured]:
    for line in path.read_text("utf-8").splitlines():
        values = json.loads(line)
        yield Measured(**values | {"effects": [Effect(**one) for one in values["effects"]]})


def _lines_of(measured: Measured) -> Iterator[str]:
    held = f", {measured.covariate} held constant" if measured.covariate else ""
    for effect in measured.effects:
        yield (
            f"{measured.seed} {measured.kind}{held}: {effect.name}: planted {effect.planted:+.3f}, "
            f"estimated {effect.estimate:+.3f}, promised {effect.promised:.3f}, stated "
            f"{effect.stated:.3f}"
        )


def _summarise(results: list[Measured], datasets: int) -> Iterator[str]:
    effects = [effect for measured in results for effect in measured.effects]
    differences = np.array([effect.stated - effect.promised for effect in effects])
    by_design = np.array([
        np.mean([effect.stated - effect.promised for effect in measured.effects])
        for measured in results
    ])  # fmt: skip
    yield (
        f"{len(results)} designs, {len(effects)} effects, {datasets} studies each: stated minus "
        f"promised {differences.mean():+.4f} on average, between {differences.min():+.3f} and "
        f"{differences.max():+.3f}; by design between {by_design.min():+.3f} and "
        f"{by_design.max():+.3f}"
    )


@click.command()
@click.option("--designs", default=40, show_default=True)
@click.option("--datasets", default=200, show_default=True)
@click.option("--seed", default=1, show_default=True)
@click.option("--results", type=click.Path(path_type=Path, dir_okay=False))
def main(designs: int, datasets: int, seed: int, results: Path | None) -> None:
    """Print a line for each comparison of each design, and all together."""
    seeds = range(seed, seed + designs)
    earlier = list(_read_results(results)) if results and results.exists() else []
    measured_by_seed = {measured.seed: measured for measured in earlier}
    for number in seeds:
        if number not in measured_by_seed:
            measured_by_seed[number] = measure_design(number, datasets)
            if results:
                with results.open("a", encoding="utf-8") as file:
                    file.write(f"{json.dumps(asdict(measured_by_seed[number]))}\n")
        for line in _lines_of(measured_by_seed[number]):
            click.echo(line)
    for line in _summarise([measured_by_seed[number] for number in seeds], datasets):
        click.echo(line)


if __name__ == "__main__":
    main()
