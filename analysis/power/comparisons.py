"""Power of a study's primary comparisons, each as the report answers it.

A study is simulated many times, answer by answer (``analysis.power.cells``). Each primary
comparison is tested by the statistics of the report, at the level that the correction for all of
them leaves: power is the share of simulated studies that show the expected effect, in its
direction.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click
import pandas as pd
from matplotlib.figure import Figure
from tqdm import tqdm

from analysis.data.scales import find_scales, make_study_of_scale
from analysis.errors import AnalysisError
from analysis.findings.comparison_words import words_of
from analysis.power.base import (
    SIZE_COLUMNS,
    Outcome,
    PowerOptions,
    enough_participants,
    power_figure,
    power_table,
    session_note,
    study_origin,
    summarise,
)
from analysis.power.cells import (
    ACCURACY,
    LOG_RT,
    LOG_SDS_OF_ENTRIES,
    RATING,
    USUAL_ENTRIES,
    AnswerModel,
    CountModel,
    ScaleModel,
    TimesModel,
    answers_of,
    has_no_points,
)
from analysis.power.choices import expected_accuracies
from analysis.power.expected_means import add_expected_means
from analysis.power.languages import describe_languages, make_languages_table, pooled_power
from analysis.power.planned_tests import (
    group_by_task,
    plan_test,
    primary_comparisons,
    usual_effect,
)
from analysis.power.simulated_comparisons import (
    LEAST_EFFECT,
    Tested,
    add_standard_error,
    cell_means,
    group_compatible,
    shown_at_once,
    simulate,
)
from analysis.statistics.resample import Floats
from analysis.tables.accuracy_table import Column, Table
from experiment.comparisons.planned import PlannedComparison
from experiment.design.lists import BuiltLists
from experiment.records import PAIR, Kind
from experiment.responses.reading.reading import Read
from experiment.responses.registry import response_of
from experiment.studies.analysis_plan import is_count
from experiment.studies.study import Study

_N_LOG_SDS = 5
COVERED = (
    "differences of conditions in accuracy, ratings, yes, shares of a category, reading times and "
    "numbers of entries, and for people minus a model"
)
UNSUPPORTED = (
    "not for slopes, d', the share of one of several options, or differences between models"
)
_RULES_NOTE = (
    "Rules for other scales were left out. Rules that name no scale were applied to this one's "
    "points; in the study, they exclude only participants who fail on every scale."
)


def power_of_comparisons(
    study: Study, built: BuiltLists, options: PowerOptions
) -> Iterator[Outcome]:
    """Yield the power of each primary comparison, for every scale or for the named one.

    Raises:
        click.UsageError: The scale does not exist, or means are given without naming their scale.
        AnalysisError: No primary comparison can be planned, or the means are invalid.
        click.BadParameter: The standard deviations of reading times are not five numbers.
    """
    several = find_scales(study)
    names = list(several.named_scales) if several else []
    if options.scale is not None and options.scale not in names:
        raise click.UsageError(
            f'the study has no scale "{options.scale}". Expected one of: {", ".join(names)}.'
            if names
            else "--scale chooses among several scales, but the study has only one."
        )
    if several is None:
        yield _compute_outcome(study, built, options)
        return
    if options.means is not None and options.scale is None:
        raise click.UsageError("--means holds the means of one scale; name it with --scale.")
    planned = [options.scale] if options.scale is not None else names
    for name in planned:
        of_scale = make_study_of_scale(study, several, name)
        closing = _RULES_NOTE if study.exclusion and name == planned[-1] else ""
        outcome = _compute_outcome(of_scale, built, options, len(names))
        yield replace(outcome, scale=name, closing=closing)


def people_minus_model(study: Study, built: BuiltLists, options: PowerOptions) -> Sequence[str]:
    """Return how many participants show that people are right more often than a model."""
    return _compute_outcome(study, built, options).sentences


@dataclass(frozen=True, slots=True)
class Prepared:
    """Comparisons that can be simulated in the same studies.

    Attributes:
        measure: What they are about.
        tested: The comparisons.
        truths: Their true values.
        rows: All answers of the largest study, with their means.
        model: How answers are drawn.
        keeps: Returns the participants kept; None if nobody is excluded.
    """

    measure: str
    tested: Sequence[Tested]
    truths: Mapping[str, float]
    rows: pd.DataFrame
    model: AnswerModel
    keeps: Callable[[Floats], set[int]] | None


def prepare(
    study: Study,
    built: BuiltLists,
    options: PowerOptions,
    planned: Sequence[PlannedComparison],
    per_list: int,
    n_primary: int,
) -> tuple[list[Prepared], list[str]]:
    """Return the comparisons in groups that the same studies answer, and the names of the others.

    Args:
        study: The study.
        built: Its lists.
        options: The options of the command.
        planned: The comparisons.
        per_list: The participants per list of the largest study.
        n_primary: How many comparisons are corrected for each other.
    """
    prepared, unplanned = list[Prepared](), list[str]()
    for (measure, task), comparisons in group_by_task(study, built, planned).items():
        if usual_effect(measure, study) is None:
            unplanned += [comparison.declaration.name for comparison in comparisons]
            continue
        answers = answers_of(study, built, per_list, measure)
        model = model_of(study, measure, options, task)
        expected = _read_expected_means(study, built, measure, options)
        rows = add_expected_means(answers, _find_ends(model), expected)
        tested = []
        for comparison in comparisons:
            planned_test = plan_test(comparison, answers, rows, study, n_primary, options)
            if planned_test is None:
                unplanned.append(comparison.declaration.name)
            else:
                tested.append(planned_test)
        for group in group_compatible(tested):
            means, truths = cell_means(group, rows, model)
            keeps = None if has_no_points(measure) else answers.keeps(study)
            prepared.append(Prepared(measure, group, truths, rows.assign(mean=means), model, keeps))
    return prepared, unplanned


def _compute_outcome(
    study: Study, built: BuiltLists, options: PowerOptions, n_scales: int = 1
) -> Outcome:
    """Return the power of the primary comparisons, which are corrected over all scales."""
    planned = primary_comparisons(study, built, options)
    n_primary = len(planned) * n_scales
    prepared, unplanned = prepare(study, built, options, planned, max(options.sizes), n_primary)
    if not prepared and unplanned:
        raise AnalysisError(
            f"Parallax cannot compute power for {', '.join(unplanned)}",
            where=str(study.folder),
            expected=f"{COVERED}; {UNSUPPORTED}",
        )
    if not prepared:
        raise AnalysisError(
            "the power of no primary comparison can be computed: the study does not compare two "
            "conditions",
            where=str(study.folder),
            expected="a construction with two conditions, or items with two versions",
            remedy="Write another condition into the column condition, or declare [[comparisons]]",
        )
    results, origins = [], []
    for group in prepared:
        of_targets = group.rows.loc[group.rows["kind"] == Kind.TARGET, "mean"].to_numpy()
        origins.append(_describe_origin(group.model, of_targets, group.measure))
        simulated = simulate(
            group.rows, group.tested, group.truths, group.model, group.keeps, options,
            iterate_simulations(options),
        )  # fmt: skip
        results.append(simulated.assign(measure=group.measure))
    power = add_standard_error(summarise(pd.concat(results, ignore_index=True)))
    measures = {name: part["measure"].iloc[0] for part in results for name in part["construction"]}
    power["measure"] = power["construction"].map(measures)
    at_once = add_standard_error(shown_at_once(results)) if len(results) == 1 else None
    of_all = pd.DataFrame()
    if options.languages > 1:
        has_effect = power["truth"].abs() >= LEAST_EFFECT
        of_all = pooled_power(power[has_effect], options, study.design.n_lists, n_primary)
    one_task = len(group_by_task(study, built, planned)) == 1
    return Outcome(
        _make_table(study, power, options, origins, n_primary),
        [
            *_describe(power, at_once, study.design.n_lists),
            *_sentence_on_unplanned(unplanned),
            *(describe_languages(of_all, options) if len(of_all) else ()),
        ],
        _draw_figure(power, study, options)
        if set(measures.values()) != {LOG_RT} and one_task
        else None,
        further=(make_languages_table(study, of_all, options),) if len(of_all) else (),
    )


def iterate_simulations(options: PowerOptions) -> Iterable[int]:
    """Return the numbers of the simulated studies, with a progress bar."""
    return tqdm(range(options.simulations), desc="Simulating", unit=" studies", disable=None)


def _sentence_on_unplanned(names: Sequence[str]) -> Iterator[str]:
    if names:
        yield f"Not computed: {', '.join(names)}. Power is computed for {COVERED}; {UNSUPPORTED}."


def _find_ends(model: AnswerModel) -> tuple[int, int]:
    """Return the ends of the scale; of numbers of entries, those whose middle is a usual number."""
    if isinstance(model, CountModel):
        return 0, 2 * USUAL_ENTRIES
    return (model.lowest, model.highest) if isinstance(model, ScaleModel) else (1, len(PAIR))


def model_of(study: Study, measure: str, options: PowerOptions, task: str = "") -> AnswerModel:
    """Return the model that simulates a measure's answers; in a mixed session, a task's."""
    response = response_of(study)
    response = response.types.get(task, response)
    if measure == LOG_RT:
        usual = tuple(getattr(response, "log_rt_sds", Read.log_rt_sds))
        return TimesModel.of_differences(_log_sds(options.log_sds, usual))
    if is_count(measure):
        return CountModel.of_differences(_log_sds(options.log_sds, LOG_SDS_OF_ENTRIES))
    lowest, highest = response.rating_ends if measure == RATING else (1, len(PAIR))
    return ScaleModel(highest - lowest + 1, options.people, options.sd_effects, lowest)


def _log_sds(text: str, usual: tuple[float, ...]) -> tuple[float, ...]:
    if not text:
        return usual
    try:
        parts = tuple(float(part) for part in text.split(","))
    except ValueError:
        parts = ()
    if len(parts) != _N_LOG_SDS or min(parts) < 0:
        raise click.BadParameter(
            f'"{text}" is not five standard deviations of 0 or more, such as '
            "0.35,0.08,0.07,0.03,0.42: participants, the effects of participants, frames, the "
            "effects of frames, residual",
            param_hint="--log-sds",
        )
    return parts


def _read_expected_means(
    study: Study, built: BuiltLists, measure: str, options: PowerOptions
) -> Path | Mapping[str, float] | None:
    """Return a measure's expected means: their file, accuracies, or None for the default."""
    if options.means is not None and measure != LOG_RT:
        return options.means
    return expected_accuracies(study, built.lists, options) if measure == ACCURACY else None


def _describe_origin(model: AnswerModel, means: Floats, measure: str) -> str:
    """Return the simulated model and the expected means of targets, in sentences."""
    if measure == LOG_RT:
        return model.origin
    shown = means if measure == RATING or is_count(measure) else means - 1
    return f"{model.origin} Expected means: {shown.min():.3g} to {shown.max():.3g}."


def _make_table(
    study: Study, power: pd.DataFrame, options: PowerOptions, origins: Sequence[str], n_primary: int
) -> Table:
    scaled = [
        words_of(measure).scale(half)
        for measure, half in zip(power["measure"], power["half_width"], strict=True)
    ]
    frame = power.assign(
        group=[
            f"{name}: {_format_effect(measure, effect)}"
            for name, measure, effect in zip(
                power["construction"], power["measure"], power["truth"], strict=True
            )
        ],
        label=power["per_list"].astype(str),
        participants=power["per_list"] * study.design.n_lists,
        kept=power["kept"].round(),
        half_width=scaled,
    )
    corrected = (
        f"corrected for {n_primary} primary comparisons (Bonferroni)"
        if n_primary > 1
        else "of the only primary comparison"
    )
    return power_table(
        study,
        options,
        frame,
        (
            *SIZE_COLUMNS,
            Column("half_width", "half the interval", "number"),
            Column("power", "power", "number"),
            Column("error", "its error", "number"),
        ),
        notes=(
            "Power: the share of simulated studies whose interval excludes 0 on the expected "
            f"side, by the report's statistics, {corrected}. Its error: the standard error of "
            "this share.",
            session_note(study),
        ),
        origin=(*dict.fromkeys(origins), study_origin(study, options.seed)),
    )


def _format_effect(measure: str, effect: float) -> str:
    return words_of(measure).with_unit(effect)


def _describe(power: pd.DataFrame, at_once: pd.DataFrame | None, n_lists: int) -> Iterator[str]:
    """Yield the participants needed for each comparison, and for all of them."""
    strong: list[pd.DataFrame] = []
    for name, rows in power.groupby("construction", sort=False):
        if abs(rows["truth"].iloc[0]) < LEAST_EFFECT:
            yield f"{name}: no effect is expected."
            continue
        effect = _format_effect(rows["measure"].iloc[0], rows["truth"].iloc[0])
        if rows["half_width"].isna().all():
            yield (
                f"{name} ({effect}): no answer with any of these numbers, because there are too "
                "few answers, participants or frames for an interval."
            )
            continue
        strong.append(rows)
        yield f"{name} ({effect}): {enough_participants(rows, 'power', n_lists)}."
    if len(strong) < 2:
        return
    if at_once is not None:
        size = enough_participants(at_once, "power", n_lists)
        yield f"All {len(strong)} comparisons in the same study: {size}."
    else:
        least = pd.concat(strong).groupby("per_list")["power"].min().reset_index()
        size = enough_participants(least, "power", n_lists)
        yield f"Each of the {len(strong)} comparisons, taken separately: {size}."


def _draw_figure(power: pd.DataFrame, study: Study, options: PowerOptions) -> Figure:
    """Draw half-widths in the unit of the measure, and power."""
    effect = options.difference or usual_effect(power["measure"].iloc[0], study)
    assert effect is not None
    return power_figure(
        power,
        label="power to show the effect",
        wanted_width=options.width or effect,
        single="each primary comparison",
    )
