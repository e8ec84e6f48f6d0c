"""``parallax power`` for ratings and yes-or-no answers: participants needed per contrast."""

from collections.abc import Iterator
from dataclasses import replace

import click
import pandas as pd
from tqdm import tqdm

from analysis.data.scales import rules_of_scale, scales_of, study_of_scale
from analysis.errors import AnalysisError
from analysis.power.base import (
    NAME,
    Asked,
    Outcome,
    enough_participants,
    session_note,
    study_origin,
)
from analysis.power.figure import power_figure
from analysis.power.scale_answers import answers_of, plans, with_means
from analysis.power.simulated_scales import Scale, simulate_scale, summary_of_scale
from analysis.tables.accuracy_table import Column, Table
from experiment.design.lists import BuiltLists
from experiment.records import PAIR
from experiment.responses.base import Balance, Gives
from experiment.responses.registry import response_of
from experiment.studies.study import Study

_NO_MEANS = "the scale's middle; of two versions .8 and .2 of the way up"
_RULES = (
    "Rules that name another scale were left out; those that name none read this one's "
    "points, where in the study they exclude only who fails on every scale."
)


def power_of_scales(study: Study, built: BuiltLists, asked: Asked) -> Iterator[Outcome]:
    """Yield the power of each contrast, on each scale or on the named one.

    Raises:
        click.UsageError: The scale does not exist, or means are given without naming their scale.
        AnalysisError: See ``_power_of_scale``.
    """
    several = scales_of(study)
    names = list(several.scales) if several else []
    if asked.scale is not None and asked.scale not in names:
        raise click.UsageError(
            f'the study has no scale "{asked.scale}". Expected one of: {", ".join(names)}.'
            if names
            else "--scale chooses among several scales, and the study's trials do not have them."
        )
    if several is None:
        yield _power_of_scale(study, built, asked)
        return
    if asked.means is not None and asked.scale is None:
        raise click.UsageError("--means are of one scale; say which with --scale.")
    planned = [asked.scale] if asked.scale is not None else names
    for name in planned:
        rules = rules_of_scale(study, name)
        alone = study_of_scale(study, several, name).model_copy(update={"exclusion": rules})
        outcome = _power_of_scale(alone, built, asked)
        closing = _RULES if study.exclusion and name == planned[-1] else ""
        yield replace(outcome, scale=name, closing=closing)


def _power_of_scale(study: Study, built: BuiltLists, asked: Asked) -> Outcome:
    """Return the power of each planned contrast of a study of single sentences.

    Raises:
        AnalysisError: The trials have neither ratings nor yes-or-no answers, no construction has
            two conditions, or the means are invalid.
    """
    response = response_of(study)
    if response.balance is not Balance.VERSIONS or response.step_table or response.types:
        raise AnalysisError(
            f'no mean can be planned with where trials are of the type "{study.response}"',
            where=str(study.folder), expected="ratings, or yes or no",
        )  # fmt: skip
    rated = Gives.POINT in response.gives
    points = response.n_answers if rated else len(PAIR)
    unit = "points" if rated else "in the share of yes"
    difference = asked.difference or (0.5 if rated else 0.1)
    width = asked.width or difference
    answers = answers_of(study, response, built, max(asked.sizes), rated=rated)
    rows = with_means(answers, study, points, asked.means)
    found = list(plans(answers, rows, study))
    if not found:
        raise AnalysisError(
            "no construction of targets has two conditions, so there is no difference to plan with",
            where=str(study.folder),
            expected="a construction with two conditions, or items with two versions",
            remedy="Write another condition into the column condition",
        )
    cell = pd.Series("", rows.index)
    for name, _, cells in found:
        cell[cells.index] = name + "\0" + cells
    numbers = tqdm(range(asked.simulations), desc="Simulating", unit=" studies", disable=None)
    power = summary_of_scale(simulate_scale(
        rows.assign(cell=cell), {name: one for name, one, _ in found},
        Scale(points, asked.people, asked.sd_effects), answers.keeps(study), asked.sizes, numbers,
        difference=difference, seed=asked.seed,
    ))  # fmt: skip
    lines = power.assign(construction=power["construction"] + ": " + power["contrast"])
    return Outcome(
        _table(study, power, asked, difference, unit),
        list(_sentences(study, power, difference, unit, known=asked.means is not None)),
        power_figure(lines, difference=difference, wanted_width=width,
                     single="each difference and interaction"),
    )  # fmt: skip


def _table(study: Study, power: pd.DataFrame, asked: Asked, difference: float, unit: str) -> Table:
    titles = {one.name: one.title for one in study.constructions}
    title = power["construction"].map(titles).fillna(power["construction"])
    frame = power.assign(
        group=title + ": " + power["contrast"], label=power["per_list"].astype(str),
        participants=power["per_list"] * study.design.n_lists, kept=power["kept"].round(),
    )  # fmt: skip
    columns = [
        Column("label", "per list", "text"),
        Column("participants", "recruited", "count"),
        Column("kept", "kept", "count"),
        Column("half_width", "half the interval", "number"),
        Column("power", f"power for {difference:g}", "number"),
    ]
    if asked.means is not None:
        columns.append(Column("power_of_effect", "power for the effect", "number"))
    if asked.cost is not None:
        frame["cost"] = frame["participants"] * asked.cost
        columns.append(Column("cost", "cost", "number"))
    effect = " Power for the effect: to tell the expected value from nothing."
    people = asked.people
    return Table(
        name=NAME,
        title="Power",
        caption=f"What {study.name} would find, over {asked.simulations} simulated studies.",
        frame=frame,
        columns=tuple(columns),
        notes=(
            f"Power for {difference:g}: to tell a contrast from a value {difference:g} {unit} "
            f"below it.{effect if asked.means is not None else ''}",
            session_note(study),
        ),
        origin=(
            f"Cumulative logit model with sd {people.sd_participants:g} between participants, "
            f"{people.sd_items:g} between frames and {asked.sd_effects:g} of both in each "
            f"condition (logits), lapse rate {people.lapse:g}, {people.guessing:.0%} of "
            "participants guessing; the study's exclusion rules.",
            study_origin(study, asked.seed, f"Means: {asked.means or _NO_MEANS}. "),
        ),
    )


def _sentences(
    study: Study, power: pd.DataFrame, difference: float, unit: str, *, known: bool
) -> Iterator[str]:
    """Yield the participants needed for each comparison; ``known``: its effect is expected."""
    goals = [("power", f"a difference of {difference:g} {unit}")]
    if known:
        goals.append(("power_of_effect", "the effect that is expected"))
    for (construction, contrast), rows in power.groupby(["construction", "contrast"], sort=False):
        for column, goal in goals:
            if column == "power_of_effect" and abs(rows["truth"].iloc[0]) < 1e-9:
                yield f"{construction}, {contrast}: no effect is expected."
                continue
            size = enough_participants(rows, column, study.design.n_lists)
            yield f"{construction}, {contrast}: for a power of .80 to detect {goal}: {size}."
