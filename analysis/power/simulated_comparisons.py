"""Simulated studies, tested by the report's statistics: which of them show the expected effects.

The cells have the nearest means to those that are expected anyway at which every comparison has its
effect. Comparisons whose effects cannot hold at once are simulated apart. A model is right less
often than people, by the effect; which items it gets right is independent of how hard people find
them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.power.base import PowerOptions
from analysis.power.cells import AnswerModel, Coded, ScaleModel
from analysis.statistics.contrasts import Weights, contrasts
from analysis.statistics.paired import people_against_models
from analysis.statistics.resample import Floats, codes, numpy_generator
from experiment.records import PAIR

LEAST_EFFECT = 1e-9
_JUDGE = "model"


@dataclass(frozen=True, slots=True)
class Tested:
    """A primary comparison and how it is tested.

    Attributes:
        name: Its name in the report.
        measure: What is measured.
        effect: The expected effect; None if ``--means`` gives it.
        level: The level of its interval, which the correction for all primary comparisons leaves.
        answers: The compared answers by their place among all: cell, participant, unit, item_id,
            construction, and perhaps ``also`` and ``group``.
        weights: The cells' weights; empty for people minus a model.
    """

    name: str
    measure: str
    effect: float | None
    level: float
    answers: pd.DataFrame
    weights: Weights


def group_compatible(tested: Sequence[Tested]) -> list[list[Tested]]:
    """Return the comparisons in groups whose expected effects can hold in the same study.

    The effects of linearly dependent contrasts, such as all differences of three levels, cannot all
    have the same size.
    """
    groups: list[list[Tested]] = []
    for test in tested:
        for group in groups:
            if _are_independent([*group, test]):
                group.append(test)
                break
        else:
            groups.append([test])
    return groups


def _are_independent(group: Sequence[Tested]) -> bool:
    contrasted = [test for test in group if test.weights]
    if not contrasted or any(test.effect is None for test in contrasted):
        return True
    weights = _make_weights(contrasted)
    return int(np.linalg.matrix_rank(weights.to_numpy())) == len(contrasted)


def _make_weights(group: Sequence[Tested]) -> pd.DataFrame:
    """Return the weights, a row for each contrast and a column for each cell."""
    return pd.DataFrame([test.weights for test in group]).fillna(0.0)


def cell_means(
    group: Sequence[Tested], rows: pd.DataFrame, model: AnswerModel
) -> tuple[Floats, dict[str, float]]:
    """Return the expected mean of every answer, and the true value of every comparison.

    The means are the nearest ones to those in ``rows`` with which every effect is as expected. If
    they go beyond the ends of the scale, those of the whole study are moved.
    """
    means = rows["mean"].to_numpy(dtype=float, copy=True)
    contrasted = [test for test in group if test.weights]
    truths = {test.name: test.effect for test in group if test.effect is not None}
    if contrasted:
        weights = _make_weights(contrasted)
        cell = pd.Series("", rows.index)
        for test in contrasted:
            cell[test.answers.index] = test.answers["cell"].astype(str)
        now = rows.groupby(cell)["mean"].mean().reindex(weights.columns).to_numpy()
        if any(test.effect is None for test in contrasted):
            true = weights.to_numpy() @ now
            truths |= dict(zip((test.name for test in contrasted), map(float, true), strict=True))
        else:
            missing_effects = (
                np.array([test.effect for test in contrasted]) - weights.to_numpy() @ now
            )
            shift = dict(
                zip(weights, np.linalg.pinv(weights.to_numpy()) @ missing_effects, strict=True)
            )
            means += cell.map(shift).fillna(0.0).to_numpy()
            low, high = model.find_mean_range()
            means -= max(0.0, means.max() - high)
            means += max(0.0, low - means.min())
    return means, {test.name: truths[test.name] for test in group}


def simulate(
    rows: pd.DataFrame,
    tested: Sequence[Tested],
    truths: Mapping[str, float],
    model: AnswerModel,
    keeps: Callable[[Floats], set[int]] | None,
    options: PowerOptions,
    numbers: Iterable[int],
) -> pd.DataFrame:
    """Return the result of each simulated study: a row per study, size and comparison.

    Smaller sizes use the first participants of each list of the same simulated study.

    Args:
        rows: All answers of the largest study: participant (from 0), place, unit and mean.
        tested: The comparisons.
        truths: Their true values.
        model: How answers are drawn.
        keeps: Returns the participants kept, given all values; None if nobody is excluded.
        options: The options of the command.
        numbers: The numbers of the simulated studies.

    Returns:
        simulation, per_list, construction (the comparison's name), truth, kept, half_width,
        detected (whether the interval is on the expected side of zero).
    """
    base, coded = code_answers(rows, tested, model)
    person, place = coded.person, rows["place"].to_numpy()
    lowest = lowest_value(model)
    means = rows["mean"].to_numpy()
    compared = [
        (same, rows.index.get_indexer(same[0].answers.index)) for same in _group_by_answers(tested)
    ]
    results: list[dict[str, object]] = []
    for number in numbers:
        rng = generator_of_study(options.seed, tested, number)
        drawn = model.draw(base, coded, rng)
        values = drawn - lowest
        is_kept = np.ones(len(rows), bool)
        if keeps is not None:
            is_kept = np.isin(person, list(keeps(drawn)))
        for size in options.sizes:
            in_size = is_kept & (place < size)
            n_kept = len(np.unique(person[in_size]))
            for same, indices in compared:
                chosen = in_size[indices]
                part = same[0].answers[chosen].assign(value=values[indices][chosen])
                model_accuracy = means[indices].mean() - 1 - (same[0].effect or 0.0)
                for test, (low, high) in zip(
                    same, _compute_intervals(part, same, model_accuracy, rng), strict=True
                ):
                    truth = truths[test.name]
                    results.append({
                        "simulation": number, "per_list": size, "construction": test.name,
                        "truth": truth, "kept": n_kept, "half_width": (high - low) / 2,
                        "detected": low > 0 if truth > 0 else high < 0,
                    })  # fmt: skip
    return pd.DataFrame(results)


def lowest_value(model: AnswerModel) -> int:
    """Return what is subtracted from drawn points, so that right and wrong are 1 and 0."""
    return int(isinstance(model, ScaleModel) and model.points == len(PAIR))


def generator_of_study(seed: int, tested: Sequence[Tested], number: int) -> np.random.Generator:
    """Return the generator that draws the answers of a simulated study."""
    return numpy_generator(seed, "power of comparisons", tested[0].name, number)


def code_answers(
    rows: pd.DataFrame, tested: Sequence[Tested], model: AnswerModel
) -> tuple[Floats, Coded]:
    """Return the base of every answer, and its participant, frame and cell as numbers."""
    base_of = {mean: model.find_base(float(mean)) for mean in np.unique(rows["mean"])}
    base = rows["mean"].map(base_of).to_numpy(dtype=float)
    cell = rows["construction"].astype(str) + ": " + rows["cell"].astype(str)
    for test in tested:
        if test.weights:
            cell[test.answers.index] = test.answers["cell"].astype(str)
    person = rows["participant"].to_numpy(dtype=np.intp)
    return base, Coded(person, codes(rows["unit"].astype(str))[0], codes(cell)[0])


def _group_by_answers(tested: Sequence[Tested]) -> list[list[Tested]]:
    """Return the comparisons, those of the same answers and level together: one table for all."""
    groups: list[list[Tested]] = []
    for test in tested:
        for group in groups:
            first = group[0]
            if (
                test.weights
                and first.weights
                and first.level == test.level
                and first.answers.index.equals(test.answers.index)
            ):
                group.append(test)
                break
        else:
            groups.append([test])
    return groups


def _compute_intervals(
    answers: pd.DataFrame, same: Sequence[Tested], model_accuracy: float, rng: np.random.Generator
) -> list[tuple[float, float]]:
    """Return the ends of the intervals of comparisons of the same answers, as in the report."""
    if answers.empty:
        return [(np.nan, np.nan)] * len(same)
    level = same[0].level
    if same[0].weights:
        rows = contrasts(answers, "value", {test.name: test.weights for test in same}, level=level)
    else:
        items = answers["item_id"].unique()
        right = rng.random(len(items)) < model_accuracy
        decisions = pd.DataFrame({"item_id": items, "correct": right})
        judgments = answers.rename(columns={"value": "chose_good", "unit": "frame"})
        rows = people_against_models(judgments, {_JUDGE: decisions}, ["construction"], level=level)
        rows = rows[rows["construction"] == ""]
    return list(zip(rows["low"].astype(float), rows["high"].astype(float), strict=True))


def shown_at_once(results: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return the share of studies that show every effect, for each size."""
    expected = results[0][results[0]["truth"].abs() > LEAST_EFFECT]
    shown = expected.groupby(["per_list", "simulation"])["detected"].all()
    return shown.groupby("per_list").agg(power="mean", simulations="size").reset_index()


def add_standard_error(power: pd.DataFrame) -> pd.DataFrame:
    """Add the standard error of the power, which is a share of simulated studies."""
    share = power["power"]
    return power.assign(error=np.sqrt(share * (1 - share) / power["simulations"]))
