"""Power of reading times: one region of a design, read by simulated participants.

The logarithm of the time that participant p takes for the region of frame f in cell c is

    m + u_p + u_pc + w_f + w_fc + e,

with independent normal terms: participants and frames differ, and so do their effects of the cell
(Barr, Levy, Scheepers & Tily 2013, Journal of Memory and Language 68, 255-278). ``u_pc`` is drawn
so that the difference of two cells has the standard deviation that is given. Contrasts and
intervals are those of the report (``analysis.statistics.contrasts``).

A common slowdown shifts an estimate without changing its interval's width. Each study is therefore
simulated once, without a slowdown, and every contrast is compared with the slowdown to detect.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import click
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from tqdm import tqdm

from analysis.data.own_columns import in_namespace
from analysis.errors import AnalysisError
from analysis.findings.contrasts import planned_contrasts
from analysis.findings.design import cell_names, crossing
from analysis.findings.finding import titles_of
from analysis.power.base import (
    Outcome,
    PowerOptions,
    enough_participants,
    power_table,
    study_origin,
    summary,
)
from analysis.statistics.contrasts import Weights, contrasts
from analysis.statistics.resample import numpy_generator
from analysis.tables.accuracy_table import Column, Table
from experiment.design.lists import BuiltLists, ListEntry
from experiment.materials.read import item_row
from experiment.records import Kind, Variant
from experiment.responses.reading.reading import Read
from experiment.responses.registry import response_of
from experiment.studies.study import Study

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Spread:
    """Standard deviations of log reading times.

    Attributes:
        participants: Between participants.
        their_effect: Of the difference between two cells, between participants.
        frames: Between frames.
        frames_effect: Of the difference between two cells, between frames.
        residual: Of the residuals.
    """

    participants: float
    their_effect: float
    frames: float
    frames_effect: float
    residual: float


@dataclass(frozen=True, slots=True)
class ReadDesign:
    """The trials of one construction in the lists.

    Attributes:
        name: The construction's name.
        lists: For each list one row per trial: ``unit`` and ``cell``.
        comparisons: The cells' weights in each contrast, by label.
    """

    name: str
    lists: Sequence[pd.DataFrame]
    comparisons: Mapping[str, Weights]


def simulate(
    designs: Sequence[ReadDesign],
    spread: Spread,
    sizes: Sequence[int],
    simulations: Iterable[int],
    *,
    slowdown: float,
    seed: int,
) -> pd.DataFrame:
    """Return the result of each simulated study.

    Args:
        designs: The constructions.
        spread: The variation between participants and frames.
        sizes: Participants per list; the smaller sizes are the first participants of each list.
        simulations: The numbers of the simulated studies.
        slowdown: The slowdown of the region in a contrast, as a share such as 0.05.
        seed: The random seed.

    Returns:
        simulation, per_list, construction, contrast, half_width (of the 95% interval of the log
        time), detected (whether the interval excludes zero, given the slowdown).
    """
    effect = float(np.log1p(slowdown))
    results = []
    for number in simulations:
        for design in designs:
            rng = numpy_generator(seed, "reading power", design.name, number)
            read = _simulate_times(design, spread, max(sizes), rng)
            for size in sizes:
                rows = contrasts(read[read["place"] < size], "log_rt", design.comparisons)
                results.append(
                    pd.DataFrame(
                        {
                            "simulation": number,
                            "per_list": size,
                            "construction": design.name,
                            "contrast": rows["contrast"],
                            "half_width": (rows["high"] - rows["low"]) / 2,
                            "detected": (rows["low"] + effect > 0) | (rows["high"] + effect < 0),
                        }
                    )
                )
    return pd.concat(results, ignore_index=True)


def _simulate_times(
    design: ReadDesign, spread: Spread, per_list: int, rng: np.random.Generator
) -> pd.DataFrame:
    blocks = [
        trials.assign(place=place, participant=f"{list_} {place}")
        for list_, trials in enumerate(design.lists)
        for place in range(per_list)
    ]
    rows = pd.concat(blocks, ignore_index=True)
    person = rows["participant"].to_numpy()
    frame, cell = rows["unit"].to_numpy(), rows["cell"].to_numpy()
    # The difference of two independent terms has twice the variance of one.
    of_cell = np.sqrt(0.5)
    log_rt = (
        _draw_by_level(rng, spread.participants, person)
        + _draw_by_level(rng, spread.their_effect * of_cell, person, cell)
        + _draw_by_level(rng, spread.frames, frame)
        + _draw_by_level(rng, spread.frames_effect * of_cell, frame, cell)
        + rng.normal(0, spread.residual, len(rows))
    )
    return rows.assign(log_rt=log_rt)


def _draw_by_level(rng: np.random.Generator, sd: float, *of: NDArray[np.object_]) -> Floats:
    """Return a random draw for each row; rows with the same keys get the same draw."""
    codes, levels = pd.factorize(pd.MultiIndex.from_arrays(of) if len(of) > 1 else of[0])
    return rng.normal(0, sd, len(levels))[codes]


_PERCENT = 100.0
_USUAL_PERCENT = 5.0
_PARTS = 5


def spread_of(study: Study, log_sds: str) -> Spread:
    """Return the given standard deviations, or the defaults of the study's response type.

    Raises:
        click.BadParameter: The values are not five non-negative numbers.
    """
    if not log_sds:
        return Spread(*getattr(response_of(study), "log_rt_sds", Read.log_rt_sds))
    try:
        parts = [float(part) for part in log_sds.split(",")]
    except ValueError:
        parts = []
    if len(parts) != _PARTS or min(parts) < 0:
        raise click.BadParameter(
            f'"{log_sds}" is not five standard deviations of 0 or more, such as '
            "0.35,0.08,0.07,0.03,0.42: of participants, of their effects, of frames, of their "
            "effects, and the residual one",
            param_hint="--log-sds",
        )
    return Spread(*parts)


def power_of_reading(study: Study, built: BuiltLists, options: PowerOptions) -> Iterator[Outcome]:
    """Yield the power of each planned contrast of each construction.

    Raises:
        AnalysisError: No construction has two conditions.
        click.BadParameter: The standard deviations are not five numbers.
    """
    percent = options.slowdown_percent or _USUAL_PERCENT
    spread = spread_of(study, options.log_sds)
    designs = list(_read_designs(study, built.lists))
    if not designs:
        raise AnalysisError(
            "no construction of the targets has two conditions, so no times are compared",
            where=str(study.folder),
            expected="two conditions or more in the column condition",
            remedy="Write the items of another condition",
        )
    numbers = tqdm(range(options.simulations), desc="Simulating", unit=" studies", disable=None)
    slowdown = percent / _PERCENT
    power = summary(
        simulate(designs, spread, options.sizes, numbers, slowdown=slowdown, seed=options.seed)
    )
    titles = titles_of(study)
    sentences = list(_sentences(power, titles, study.design.n_lists, percent))
    yield Outcome(_table(study, power, titles, spread, options, percent), sentences)


def _table(
    study: Study,
    power: pd.DataFrame,
    titles: dict[str, str],
    spread: Spread,
    options: PowerOptions,
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
    return power_table(
        study,
        options,
        frame,
        (
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
            study_origin(study, options.seed),
        ),
        found_in=" in one region",
    )


def _read_designs(study: Study, lists: Sequence[Sequence[ListEntry]]) -> Iterator[ReadDesign]:
    rows = pd.concat([_target_rows(entries).assign(list=n) for n, entries in enumerate(lists)])
    for name, construction_rows in rows.groupby("construction", sort=False):
        items = in_namespace(
            pd.DataFrame([item_row(item) for item in dict.fromkeys(construction_rows["item"])])
        )
        cross = crossing(construction_rows, items)
        if len(cross.cells) < 2:
            continue
        per_list = [
            construction_rows.loc[
                construction_rows["list"] == number, ["unit", "cell"]
            ].reset_index(drop=True)
            for number in range(len(lists))
        ]
        yield ReadDesign(str(name), per_list, planned_contrasts(cross, study.analysis))


def _target_rows(entries: Sequence[ListEntry]) -> pd.DataFrame:
    """Return a list's targets, each with its cell and the unit that repeats over cells.

    Each version of a two-version item is read by every second participant; here every item shows
    the good version.
    """
    targets = [entry for entry in entries if entry.kind is Kind.TARGET]
    frame = pd.DataFrame(
        {
            "construction": [entry.item.construction for entry in targets],
            "condition": [entry.item.condition for entry in targets],
            "unit": [entry.item.frame or entry.item.item_id for entry in targets],
            "version": str(Variant.GOOD),
            "item": [entry.item for entry in targets],
        }
    )
    return frame.assign(cell=cell_names(frame))


def _sentences(
    power: pd.DataFrame, titles: dict[str, str], n_lists: int, percent: float
) -> Iterator[str]:
    for (name, contrast), rows in power.groupby(["construction", "contrast"], sort=False):
        size = enough_participants(rows, "power", n_lists)
        yield f"{titles[str(name)]}, {contrast}: a power of .80 to tell {percent:g} % needs {size}."
