"""``parallax power`` for ratings and yes-or-no answers: participants needed per contrast."""

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import click
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from tqdm import tqdm

from analysis.data.own_columns import PREFIX, in_namespace
from analysis.data.scales import rules_of_scale, scales_of, study_of_scale
from analysis.errors import AnalysisError
from analysis.findings.contrasts import planned_contrasts
from analysis.findings.design import cross_conditions, with_units
from analysis.findings.effects import with_repeats
from analysis.findings.finding import titles_of
from analysis.power.base import (
    SIZE_COLUMNS,
    Outcome,
    PowerOptions,
    enough_participants,
    power_figure,
    power_table,
    session_note,
    study_origin,
    summary,
)
from analysis.power.simulated_scales import Planned, Scale, simulate_scale
from analysis.tables.accuracy_table import Column, Table
from experiment.design.counterbalancing import arrangements
from experiment.design.lists import BuiltLists, ListEntry
from experiment.errors import why_unread
from experiment.exclusion.rules import verdict
from experiment.materials.read import item_row
from experiment.records import PAIR, Judgment, Kind, Variant
from experiment.responses.base import Arrangement, Balance, Given, Gives, ResponseType
from experiment.responses.registry import response_of
from experiment.studies.study import Study

_NO_MEANS = "the scale's middle; of two versions .8 and .2 of the way up"
_RULES = (
    "Rules for other scales were left out. Rules that name no scale were applied to this one's "
    "points; in the study, they exclude only participants who fail on every scale."
)


def power_of_scales(study: Study, built: BuiltLists, options: PowerOptions) -> Iterator[Outcome]:
    """Yield the power of each contrast, on each scale or on the named one.

    Raises:
        click.UsageError: The scale does not exist, or means are given without naming their scale.
        AnalysisError: See ``_power_of_scale``.
    """
    several = scales_of(study)
    names = list(several.scales) if several else []
    if options.scale is not None and options.scale not in names:
        raise click.UsageError(
            f'the study has no scale "{options.scale}". Expected one of: {", ".join(names)}.'
            if names
            else "--scale chooses among several scales, but the study has only one."
        )
    if several is None:
        yield _power_of_scale(study, built, options)
        return
    if options.means is not None and options.scale is None:
        raise click.UsageError("--means holds the means of one scale; name it with --scale.")
    planned = [options.scale] if options.scale is not None else names
    for name in planned:
        rules = rules_of_scale(study, name)
        alone = study_of_scale(study, several, name).model_copy(update={"exclusion": rules})
        outcome = _power_of_scale(alone, built, options)
        closing = _RULES if study.exclusion and name == planned[-1] else ""
        yield replace(outcome, scale=name, closing=closing)


def _power_of_scale(study: Study, built: BuiltLists, options: PowerOptions) -> Outcome:
    """Return the power of each planned contrast of a study of single sentences.

    Raises:
        AnalysisError: The trials have neither ratings nor yes-or-no answers, no construction has
            two conditions, or the means are invalid.
    """
    response = response_of(study)
    if response.balance is not Balance.VERSIONS or response.step_table or response.types:
        raise AnalysisError(
            f'power cannot be planned from means for the response "{study.response}"',
            where=str(study.folder), expected="ratings, or yes or no",
        )  # fmt: skip
    rated = Gives.POINT in response.gives
    points = response.n_answers if rated else len(PAIR)
    unit = "points" if rated else "in the share of yes"
    difference = options.difference or (0.5 if rated else 0.1)
    width = options.width or difference
    answers = answers_of(study, response, built, max(options.sizes), rated=rated)
    rows = with_means(answers, study, points, options.means)
    planned = list(plan_constructions(answers, rows, study))
    if not planned:
        raise AnalysisError(
            "no construction of targets has two conditions, so there is no difference to plan with",
            where=str(study.folder),
            expected="a construction with two conditions, or items with two versions",
            remedy="Write another condition into the column condition",
        )
    cell = pd.Series("", rows.index)
    for name, _, cells in planned:
        cell[cells.index] = name + "\0" + cells
    numbers = tqdm(range(options.simulations), desc="Simulating", unit=" studies", disable=None)
    scale = Scale(points, options.people, options.sd_effects)
    power = summary(simulate_scale(
        rows.assign(cell=cell), {name: design for name, design, _ in planned},
        scale, answers.keeps(study), options.sizes, numbers,
        difference=difference, seed=options.seed,
    ))  # fmt: skip
    lines = power.assign(construction=power["construction"] + ": " + power["contrast"])
    return Outcome(
        _table(study, power, options, difference, unit),
        list(_sentences(study, power, difference, unit, has_means=options.means is not None)),
        power_figure(lines, difference=difference, wanted_width=width,
                     single="each difference and interaction"),
    )  # fmt: skip


def _table(
    study: Study, power: pd.DataFrame, options: PowerOptions, difference: float, unit: str
) -> Table:
    titles = titles_of(study)
    title = power["construction"].map(titles).fillna(power["construction"])
    frame = power.assign(
        group=title + ": " + power["contrast"], label=power["per_list"].astype(str),
        participants=power["per_list"] * study.design.n_lists, kept=power["kept"].round(),
    )  # fmt: skip
    columns = [
        *SIZE_COLUMNS,
        Column("half_width", "half the interval", "number"),
        Column("power", f"power for {difference:g}", "number"),
    ]
    effect = ""
    if options.means is not None:
        columns.append(Column("power_of_effect", "power for the effect", "number"))
        effect = " Power for the effect: to tell the expected value from nothing."
    people = options.people
    return power_table(
        study,
        options,
        frame,
        columns,
        notes=(
            f"Power for {difference:g}: to tell a contrast from a value {difference:g} {unit} "
            f"below it.{effect}",
            session_note(study),
        ),
        origin=(
            f"Cumulative logit model with sd {people.sd_participants:g} between participants, "
            f"{people.sd_items:g} between frames and {options.sd_effects:g} of both in each "
            f"condition (logits), lapse rate {people.lapse:g}, {people.guessing:.0%} of "
            "participants guessing; the study's exclusion rules.",
            study_origin(study, options.seed, f"Means: {options.means or _NO_MEANS}. "),
        ),
    )


def _sentences(
    study: Study, power: pd.DataFrame, difference: float, unit: str, *, has_means: bool
) -> Iterator[str]:
    """Yield the participants needed for each comparison; ``has_means``: effects are expected."""
    goals = [("power", f"a difference of {difference:g} {unit}")]
    if has_means:
        goals.append(("power_of_effect", "the effect that is expected"))
    for (construction, contrast), rows in power.groupby(["construction", "contrast"], sort=False):
        for column, goal in goals:
            if column == "power_of_effect" and abs(rows["truth"].iloc[0]) < 1e-9:
                yield f"{construction}, {contrast}: no effect is expected."
                continue
            size = enough_participants(rows, column, study.design.n_lists)
            yield f"{construction}, {contrast}: for a power of .80 to detect {goal}: {size}."


_MEAN = "mean"
# Default means, as a share of the scale, by version.
_GOOD, _OTHER, _ALONE = 0.8, 0.2, 0.5


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers of the largest study tried.

    Attributes:
        rows: One row per answer, with participant and place (from 0), list, item, version, unit.
        items: The table of items.
        judge: Converts a row index and a point to an answer as the exclusion rules see it.
    """

    rows: pd.DataFrame
    items: pd.DataFrame
    judge: Callable[[int, int], Judgment]

    def keeps(self, study: Study) -> Callable[[NDArray[np.intp]], set[int]]:
        """Return a function from all points to the participants kept by the study's rules."""
        grouped = self.rows.groupby("participant").indices
        of_person = {int(str(person)): list(places) for person, places in grouped.items()}

        def kept(points: NDArray[np.intp]) -> set[int]:
            if not study.exclusion:
                return set(of_person)
            return {
                person for person, places in of_person.items()
                if verdict(study.exclusion, [self.judge(at, int(points[at])) for at in places]).kept
            }  # fmt: skip

        return kept


def answers_of(
    study: Study, response: ResponseType, built: BuiltLists, per_list: int, *, rated: bool
) -> Answers:
    """Return the answers of the given number of participants per list.

    Args:
        study: The study.
        response: The response type; each trial shows one version.
        built: The study's lists.
        per_list: The number of participants per list.
        rated: Whether answers are ratings; otherwise the second of two points means yes.
    """
    trials: list[tuple[ListEntry, Arrangement]] = []
    rows = []
    for list_, entries in enumerate(built.lists):
        levels = built.levels[list_] if built.levels else {}
        for place in range(per_list):
            arranged_trials = arrangements(
                entries, response, seed=built.seed, list_=list_, place=place
            )
            for entry, arranged in zip(entries, arranged_trials, strict=True):
                trials.append((entry, arranged))
                rows.append(
                    {"participant": list_ * per_list + place, "place": place, "list": list_,
                     "item_id": entry.item.item_id, "construction": entry.item.construction,
                     "condition": entry.item.condition, "kind": str(entry.kind),
                     "version": arranged.options[0]}
                    | {f"{PREFIX}{name}": value for name, value in entry.item.extra}
                    | {f"{PREFIX}{name}": level for name, level in levels.items()}
                )  # fmt: skip
    distinct = {entry.item.item_id: entry.item for entries in built.lists for entry in entries}
    items = in_namespace(pd.DataFrame([item_row(item) for item in distinct.values()]).fillna(""))

    def judge(at: int, point: int) -> Judgment:
        entry, arranged = trials[at]
        answer = Given(rating=point) if rated else Given(side=PAIR[point != len(PAIR)])
        return Judgment(
            position=at + 1, item_id=entry.item.item_id, kind=entry.kind, rt_ms=None,
            construction=entry.item.construction, condition=entry.item.condition,
            extra=entry.item.extra, **response.judged(arranged, answer).fields(),
        )  # fmt: skip

    return Answers(with_units(pd.DataFrame(rows), items), items, judge)


def with_means(answers: Answers, study: Study, points: int, path: Path | None) -> pd.DataFrame:
    """Add ``mean`` to answers: the expected mean from the file, or a default.

    Args:
        answers: The answers.
        study: The study.
        points: The number of points of the scale; with 2, the file has shares from 0 to 1.
        path: A table with ``mean`` and columns that identify answers: construction, condition,
            version, list, own columns, factors between participants.

    Raises:
        AnalysisError: The file cannot be read, or does not have one mean for each answer.
    """
    rows = answers.rows
    target = rows["kind"] == Kind.TARGET
    alone = ~rows["item_id"].isin(answers.items.loc[_have_two_versions(answers.items), "item_id"])
    share = np.where(alone, _ALONE, np.where(rows["version"] == Variant.GOOD, _GOOD, _OTHER))
    means = pd.Series(1 + (points - 1) * share, rows.index)
    if path is not None:
        expected = _read_expected_means(rows[target], path)
        means[target] = 1 + expected if points == len(PAIR) else expected
    return rows.assign(mean=means)


def _have_two_versions(items: pd.DataFrame) -> "pd.Series[bool]":
    return (items["bad"] != "") | (items["distractor"] != "")


def _read_expected_means(rows: pd.DataFrame, path: Path) -> "pd.Series[float]":
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            table = pd.DataFrame(list(csv.DictReader(file)))
        means = pd.to_numeric(table[_MEAN])
    except (OSError, UnicodeDecodeError, KeyError, ValueError) as error:
        raise AnalysisError(
            f"the expected means cannot be read ({why_unread(error)})",
            where=str(path),
            expected='a table in UTF-8 with a number in the column "mean" of every row',
        ) from error
    keys = [str(name) for name in table if name != _MEAN]
    columns = {name.removeprefix(PREFIX): rows[name].astype(str) for name in map(str, rows)}
    for key in keys:
        if key not in columns:
            raise AnalysisError(
                f'the study has no column "{key}"', where=str(path),
                expected="construction, condition, version, a column of your items or a factor",
            )  # fmt: skip
    mean_of = dict(zip(table[keys].itertuples(index=False, name=None), means, strict=True))
    if len(mean_of) < len(table):
        raise AnalysisError("two rows are about the same answers", where=str(path))
    row_keys = list(zip(*(columns[key] for key in keys), strict=True)) or [()] * len(rows)
    if lacking := next((row_key for row_key in row_keys if row_key not in mean_of), None):
        description = ", ".join(
            f"{key} = {value}" for key, value in zip(keys, lacking, strict=True)
        )
        raise AnalysisError(
            f"no mean is expected of {description}",
            where=str(path),
            expected="a row for each condition",
        )
    return pd.Series([mean_of[row_key] for row_key in row_keys], rows.index)


def plan_constructions(
    answers: Answers, rows: pd.DataFrame, study: Study
) -> Iterator[tuple[str, Planned, "pd.Series[str]"]]:
    """Yield each construction of targets with its contrasts, and the cells of its answers.

    Args:
        answers: The answers.
        rows: The same answers with expected means.
        study: The study.
    """
    targets = rows[rows["kind"] == Kind.TARGET]
    of_items = answers.items["construction"].astype(str)
    for name, construction_rows in targets.groupby(targets["construction"], sort=False):
        crossed_rows, cross = cross_conditions(
            construction_rows, answers.items[of_items == name], study
        )
        if len(cross.cells) < len(PAIR):
            continue
        comparisons = planned_contrasts(cross, study.analysis)
        crossed_rows = with_repeats(crossed_rows, study)
        means = crossed_rows.groupby(crossed_rows["cell"].astype(str))[_MEAN].mean()
        truth = {
            label: float(sum(weight * means[cell] for cell, weight in weights.items()))
            for label, weights in comparisons.items()
        }
        needed = [
            column
            for column in ("participant", "unit", "cell", "also", "group")
            if column in crossed_rows
        ]
        places = rows.index.get_indexer(crossed_rows.index)
        yield (
            str(name),
            Planned(places, crossed_rows[needed], comparisons, truth),
            crossed_rows["cell"].astype(str),
        )
