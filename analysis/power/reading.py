"""The part of ``parallax power`` for studies that are read step by step."""

from collections.abc import Iterator, Sequence

import click
import pandas as pd
from tqdm import tqdm

from analysis.data.own_columns import in_namespace
from analysis.errors import AnalysisError
from analysis.findings.contrasts import planned
from analysis.findings.design import cell_names, crossing
from analysis.power.base import NAME, Asked, Outcome, enough_participants, study_origin
from analysis.power.simulated_reading import (
    MAZE,
    SELF_PACED,
    ReadDesign,
    Spread,
    simulate,
    summary,
)
from analysis.tables.accuracy_table import Column, Table
from experiment.design.lists import BuiltLists, ListEntry
from experiment.materials.read import item_row
from experiment.records import Kind, Variant
from experiment.studies.study import Study

_PERCENT = 100.0
_USUAL_PERCENT = 5.0
_PARTS = 5


def spread_of(study: Study, given: str) -> Spread:
    """Return the standard deviations that are given, or those of the study's type of response.

    Raises:
        click.BadParameter: These are not five numbers of 0 or more.
    """
    if not given:
        return MAZE if study.response == "maze" else SELF_PACED
    try:
        parts = [float(one) for one in given.split(",")]
    except ValueError:
        parts = []
    if len(parts) != _PARTS or min(parts) < 0:
        raise click.BadParameter(
            f'"{given}" is not five standard deviations of 0 or more, such as '
            "0.35,0.08,0.07,0.03,0.42: of participants, of their effects, of frames, of their "
            "effects, and the residual one",
            param_hint="--log-sds",
        )
    return Spread(*parts)


def power_of_reading(study: Study, built: BuiltLists, asked: Asked) -> Iterator[Outcome]:
    """Yield the power of each planned contrast of each construction.

    Raises:
        AnalysisError: No construction has two conditions.
        click.BadParameter: The standard deviations are not five numbers.
    """
    percent = asked.slowdown_percent or _USUAL_PERCENT
    spread = spread_of(study, asked.log_sds)
    designs = list(_designs(study, built.lists))
    if not designs:
        raise AnalysisError(
            "no construction of the targets has two conditions, so no times are compared",
            where=str(study.folder),
            expected="two conditions or more in the column condition",
            remedy="Write the items of another condition",
        )
    numbers = tqdm(range(asked.simulations), desc="Simulating", unit=" studies", disable=None)
    slowdown = percent / _PERCENT
    power = summary(
        simulate(designs, spread, asked.sizes, numbers, slowdown=slowdown, seed=asked.seed)
    )
    titles = {one.name: one.title for one in study.constructions}
    sentences = list(_sentences(power, titles, study.design.n_lists, percent))
    yield Outcome(_table(study, power, titles, spread, asked, percent), sentences)


def _table(
    study: Study,
    power: pd.DataFrame,
    titles: dict[str, str],
    spread: Spread,
    asked: Asked,
    percent: float,
) -> Table:
    frame = pd.DataFrame(
        {
            "group": power["construction"].map(titles) + ": " + power["contrast"],
            "label": power["per_list"].astype(str),
            "participants": power["per_list"] * study.design.n_lists,
            "percent": power["half_width"] * _PERCENT,
            "power": power["power"],
        }
    )
    return Table(
        name=NAME,
        title="Power",
        caption=f"What {study.name} would find in one region, over {asked.simulations} simulated "
        "studies.",
        frame=frame,
        columns=(
            Column("label", "per list", "text"),
            Column("participants", "recruited", "count"),
            Column("percent", "half the 95% interval, %", "number"),
            Column("power", "power", "number"),
        ),
        notes=(
            f"Power: to tell a difference of {percent:g} % of the reading time from none, "
            "in a region that was named beforehand; without a correction for others.",
        ),
        origin=(
            f"Logarithms of times with sd {spread.participants:g} between participants, "
            f"{spread.their_effect:g} between their effects, {spread.frames:g} between frames, "
            f"{spread.frames_effect:g} between their effects and {spread.residual:g} residual.",
            study_origin(study, asked.seed),
        ),
    )


def _designs(study: Study, lists: Sequence[Sequence[ListEntry]]) -> Iterator[ReadDesign]:
    rows = pd.concat([_targets(entries).assign(list=n) for n, entries in enumerate(lists)])
    for name, own in rows.groupby("construction", sort=False):
        items = in_namespace(pd.DataFrame([item_row(one) for one in dict.fromkeys(own["item"])]))
        cross = crossing(own, items)
        if len(cross.cells) < 2:
            continue
        per_list = [
            own.loc[own["list"] == number, ["unit", "cell"]].reset_index(drop=True)
            for number in range(len(lists))
        ]
        yield ReadDesign(str(name), per_list, planned(cross, study.analysis))


def _targets(entries: Sequence[ListEntry]) -> pd.DataFrame:
    """Return a list's targets, each with its cell and what repeats over cells.

    Of an item with two versions each is read by every second participant; here, as in half of a
    list's trials, the good one.
    """
    kept = [entry for entry in entries if entry.kind is Kind.TARGET]
    frame = pd.DataFrame(
        {
            "construction": [entry.item.construction for entry in kept],
            "condition": [entry.item.condition for entry in kept],
            "unit": [entry.item.frame or entry.item.item_id for entry in kept],
            "version": str(Variant.GOOD),
            "item": [entry.item for entry in kept],
        }
    )
    return frame.assign(cell=cell_names(frame))


def _sentences(
    power: pd.DataFrame, titles: dict[str, str], n_lists: int, percent: float
) -> Iterator[str]:
    for (name, contrast), rows in power.groupby(["construction", "contrast"], sort=False):
        size = enough_participants(rows, "power", n_lists)
        yield f"{titles[str(name)]}, {contrast}: a power of .80 to tell {percent:g} % needs {size}."
