"""Coverage of the confidence intervals for custom designs over a fixed grid of situations.

``python -m benchmarks.coverage_grid`` draws new participants and new frames 1,000 times for every
cell of ``GRID``: Latin squares of two conditions and of a 2x2, frames that differ, effects that
differ by participant and by frame, participants who drop out. It counts how often the printed
interval contains the true value (the mean over all possible participants and frames), for choices
and for ratings. The formulas are those of ``analysis.statistics``, vectorised over whole arrays of
data sets; a test compares the two. ``--part 1/8 --save FILE`` computes a part, ``--batch 2``
further data sets of the same cells, ``--only small`` only the cells with few frames or
participants, and ``--read FILE`` (repeated) prints the table of all saved results.
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass
from itertools import product
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import norm

from analysis.statistics.clustered import interval_ends, student_quantile, wilson
from analysis.statistics.withheld import CONTRAST, MEAN, SHARE, withhold_ends
from benchmarks.grid_variances import Answers, of_contrast, of_mean

Floats = NDArray[np.float64]

FRAMES, PEOPLE = (5, 8, 12, 16, 32, 100), (8, 12, 20, 50, 200)
FRAME_SDS, SLOPES, BASES = (0.0, 0.5, 1.0, 1.5), (0.0, 0.5), (0.5, 2.0)
DROPOUT = (0.0, 0.3)
PERSON_SD, EFFECT = 0.7, 0.6
# With so many frames and people no interval is withheld.
FRAMES_TOLD, PEOPLE_TOLD = 16, 20
_CUTS = np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5])
_CHUNK = 40_000
_SEED = 35
_POINTS, _WEIGHTS = np.polynomial.hermite_e.hermegauss(60)
STATISTICS = ("accuracy", "difference", "mean rating", "difference of ratings", "interaction",
              "interaction of ratings")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of the grid.

    Attributes:
        frames: How many frames; each participant sees each of them in one condition.
        people: How many participants.
        frame_sd: How frames differ, in logits.
        slope_sd: How the effect differs by participant, and by frame, in logits.
        base: The logit of the mean condition.
        dropout: How many participants stop early, at a random place; items are then unequal.
    """

    frames: int
    people: int
    frame_sd: float
    slope_sd: float
    base: float
    dropout: float


GRID = [Cell(*each) for each in product(FRAMES, PEOPLE, FRAME_SDS, SLOPES, BASES, DROPOUT)]


@dataclass(frozen=True, slots=True)
class Studies:
    """Some data sets of one cell.

    Attributes:
        value: Shape ``(data sets, people, frames)``: a choice or a point.
        condition: Shape ``(people, frames)``.
        there: Shape ``(data sets, people, frames)``: whether it was answered.
    """

    value: Floats
    condition: NDArray[np.intp]
    there: NDArray[np.bool_]


def draw(
    cell: Cell, number: int, conditions: int, rated: bool, rng: np.random.Generator
) -> Studies:
    """Return so many data sets of new participants and new frames."""
    shape = (number, cell.people, cell.frames)
    person, frame = np.arange(cell.people)[:, None], np.arange(cell.frames)[None, :]
    condition = (person + frame) % conditions
    effect = _effect(conditions)[condition]
    logit = cell.base + EFFECT * effect + np.zeros(shape)
    logit += rng.normal(0, PERSON_SD, shape[:2])[:, :, None]
    logit += rng.normal(0, cell.frame_sd, (number, cell.frames))[:, None, :]
    if cell.slope_sd:
        logit += effect * rng.normal(0, cell.slope_sd, shape[:2])[:, :, None]
        logit += effect * rng.normal(0, cell.slope_sd, (number, cell.frames))[:, None, :]
    if rated:
        noisy = logit - cell.base + rng.logistic(0, 1, shape)
        # How many cuts lie below: they are a logit apart.
        value = 1.0 + np.clip(np.ceil(noisy - _CUTS[0]), 0, len(_CUTS))
    else:
        value = (rng.random(shape) < expit(logit)).astype(float)
    there = np.ones(shape, bool)
    if cell.dropout:
        stops = rng.random(shape[:2]) < cell.dropout
        last = rng.integers(1, cell.frames + 1, stops.sum())
        there[stops] = rng.random((stops.sum(), cell.frames)).argsort(-1) < last[:, None]
    return Studies(value, condition, there)


def _effect(conditions: int) -> Floats:
    """Return each condition's place: half of the effect up or down, or of an interaction."""
    return np.array([0.5, -0.5]) if conditions == 2 else np.array([0.5, -0.5, -0.5, 0.5])


def truth(cell: Cell, conditions: int, rated: bool) -> Floats:
    """Return each condition's mean over all participants and frames that there could be."""
    effect = _effect(conditions)
    sd = np.sqrt(PERSON_SD**2 + cell.frame_sd**2 + 2 * (effect * cell.slope_sd) ** 2)
    logit = EFFECT * effect[:, None] + sd[:, None] * _POINTS
    rates = 1.0 + expit(logit[..., None] - _CUTS).sum(-1)
    mean = rates if rated else expit(cell.base + logit)
    found: Floats = mean @ _WEIGHTS / _WEIGHTS.sum()
    return found


def intervals(studies: Studies, weights: Floats) -> tuple[Floats, Floats]:
    """Return the printed intervals: Wilson's of one condition's choices, else Student's."""
    is_share = np.count_nonzero(weights) == 1 and studies.value.max() <= 1
    arrays = Answers(studies.value, np.broadcast_to(studies.condition, studies.value.shape),
                     studies.there & (weights[studies.condition] != 0))  # fmt: skip
    n = arrays.there.sum((1, 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        if np.count_nonzero(weights) > 1:
            total, variance, freedom = of_contrast(arrays, weights)
            half = student_quantile(freedom) * np.sqrt(variance)
            return withhold_ends(total - half, total + half, n, CONTRAST)
        found = of_mean(arrays)
        mean = found.mean
        if is_share:
            low, high = interval_ends(mean, found.variances, found.parts, found.freedoms)
            # All alike: Wilson's of as many judgments as clusters, as
            # ``accuracy.accuracy_interval`` has it.
            fewer = np.minimum(*found.freedoms[:2]) + 1
            alike, normal = (mean == 0) | (mean == 1), np.full(len(mean), norm.ppf(0.975))
            told = wilson(mean, fewer, normal)
            return withhold_ends(
                np.where(alike, told[0], low), np.where(alike, told[1], high), n, SHARE
            )
        half = student_quantile(found.variances.freedom) * np.sqrt(found.variances.total)
    return withhold_ends(mean - half, mean + half, n, MEAN)


def _kinds() -> Iterator[tuple[str, int, bool, Floats]]:
    for name, conditions, weights in (
        ("accuracy", 2, [1.0, 0.0]),
        ("difference", 2, [1.0, -1.0]),
        ("interaction", 4, [1.0, -1.0, -1.0, 1.0]),
    ):
        for rated in (False, True):
            words = {"accuracy": "mean rating"}.get(name, f"{name} of ratings") if rated else name
            yield words, conditions, rated, np.array(weights)


@dataclass(frozen=True, slots=True)
class Covered:
    """What a statistic's intervals cover in one cell, and in how many data sets there was one."""

    statistic: str
    cell: Cell
    covered: float
    printed: float


def measure(cell: Cell, number: int, seed: int, batch: int = 1) -> Iterator[Covered]:
    """Yield each statistic's coverage in a cell, over so many data sets."""
    each = max(1, min(number, _CHUNK // (cell.people * cell.frames)))
    for conditions, rated in product((2, 4), (False, True)):
        kinds = [(n, w) for n, c, r, w in _kinds() if (c, r) == (conditions, rated)]
        # Ratings are centred on their scale: a base makes no other study of them.
        if cell.frames < 2 * conditions or (rated and cell.base != BASES[0]):
            continue
        rng = np.random.default_rng([_SEED, seed, conditions, int(rated), batch])
        means, held, printed = truth(cell, conditions, rated), np.zeros(2), np.zeros(2)
        for done in range(0, number, each):
            studies = draw(cell, min(each, number - done), conditions, rated, rng)
            for place, (_, weights) in enumerate(kinds):
                low, high = intervals(studies, weights)
                held[place] += ((low <= means @ weights) & (means @ weights <= high)).sum()
                printed[place] += np.isfinite(low).sum()
        for (name, _), inside, there in zip(kinds, held, printed, strict=False):
            yield Covered(name, cell, inside / there if there else np.nan, there / number)


def _row(one: Covered) -> str:
    cell = "\t".join(map(str, astuple(one.cell)))
    return f"{one.statistic}\t{cell}\t{one.covered}\t{one.printed}"


def _read(line: str) -> Covered:
    name, frames, people, *others, covered, printed = line.rstrip("\n").split("\t")
    cell = Cell(int(frames), int(people), *map(float, others))
    return Covered(name, cell, float(covered), float(printed))


def together(found: Iterable[Covered]) -> list[Covered]:
    """Return what batches of equally many data sets cover together."""
    by_cell: dict[tuple[str, Cell], list[Covered]] = {}
    for one in found:
        by_cell.setdefault((one.statistic, one.cell), []).append(one)
    return [_mean(name, cell, batches) for (name, cell), batches in by_cell.items()]


def _mean(name: str, cell: Cell, batches: Sequence[Covered]) -> Covered:
    printed = sum(one.printed for one in batches)
    held = sum(one.covered * one.printed for one in batches if one.printed)
    return Covered(name, cell, held / printed if printed else np.nan, printed / len(batches))


@click.command()
@click.option("--datasets", default=1000, show_default=True)
@click.option(
    "--only",
    type=click.Choice(["small", "large"]),
    help="The cells with fewer than 16 frames or 20 people, or the others.",
)
@click.option("--part", default="1/1", show_default=True, help="Which part of the grid, as 1/2.")
@click.option("--batch", default=1, show_default=True, help="Which data sets of the same cells.")
@click.option("--save", type=click.Path(path_type=Path), help="Write the part to a file.")
@click.option("--read", multiple=True, type=click.Path(path_type=Path), help="Print saved parts.")
def main(
    datasets: int,
    only: str | None,
    part: str,
    batch: int,
    save: Path | None,
    read: tuple[Path, ...],
) -> None:
    """Print the coverage of each statistic over the grid; with --read, of that many data sets."""
    found: list[Covered] = []
    if read:
        for path in read:
            found += map(_read, path.read_text(encoding="utf-8").splitlines())
    else:
        own, of = map(int, part.split("/"))
        began = time.monotonic()
        for number, cell in enumerate(GRID):
            is_small = cell.frames < FRAMES_TOLD or cell.people < PEOPLE_TOLD
            wanted = only is None or is_small == (only == "small")
            if wanted and number % of == own - 1:
                found += measure(cell, datasets, number, batch)
        click.echo(f"{time.monotonic() - began:.0f} s")
    if save:
        save.write_text("".join(f"{_row(one)}\n" for one in found), encoding="utf-8")
    report(together(found), datasets)


def report(found: list[Covered], datasets: int) -> None:
    """Print the table of some cells."""
    cells = len({one.cell for one in found})
    error = 100 * (0.95 * 0.05 / datasets) ** 0.5
    click.echo(
        f"{cells} cells of the grid, {datasets} data sets each; error of a coverage {error:.1f}"
    )
    withheld = np.array([one.printed for one in found]) < HARDLY
    click.echo(f"{len(found)} coverages; {withheld.sum()} ({withheld.mean():.1%}) of them withheld")
    click.echo("statistic | people | frames | cells | withheld | covered %: lowest, mean, highest "
               "| cells below 93 | cells above 97")  # fmt: skip
    few = (("8, 12", lambda n: n < 20), ("20 to 200", lambda n: n >= 20))
    for name, (words, fits), frames in product(STATISTICS, few, FRAMES):
        own = [
            one for one in found
            if one.statistic == name and one.cell.frames == frames and fits(one.cell.people)
        ]  # fmt: skip
        if own:
            click.echo(f"{name} | {words} | {frames} | {line_of(own)}")
    told = [one for one in found if one.printed >= HARDLY]
    promised = [
        one for one in told if one.cell.frames >= FRAMES_TOLD and one.cell.people >= PEOPLE_TOLD
    ]
    others = [one for one in told if one not in promised]
    for words, some in (
        ("printed", told),
        ("16 frames, 20 people or more", promised),
        ("fewer frames or people", others),
    ):
        if not some:
            continue
        click.echo(
            f"{words}: {line_of(some)}; as far outside 93 to 97 as two errors: "
            f"{outside(some, datasets)}"
        )
    click.echo("the ten lowest and the ten highest:")
    order = sorted(told, key=lambda one: one.covered)
    for one in (*order[:10], *order[-10:]):
        click.echo(f"  {one.statistic}: {one.cell}: {100 * one.covered:.1f}")


# An interval printed in a smaller share of data sets counts as withheld.
HARDLY = 0.05


def line_of(some: list[Covered]) -> str:
    """Return the cells, those withheld, what the others cover, and which lie outside 93 to 97 %."""
    withheld = sum(one.printed < HARDLY for one in some)
    shown = 100 * np.array([one.covered for one in some if one.printed >= HARDLY])
    if not len(shown):
        return f"{len(some)} | {withheld} | | |"
    ends_of = f"{shown.min():.1f}, {shown.mean():.1f}, {shown.max():.1f}"
    low, high = (shown < 93).sum(), (shown > 97).sum()
    return f"{len(some)} | {withheld} | {ends_of} | {low} | {high}"


def outside(some: list[Covered], datasets: int) -> int:
    """Return how many coverages lie further outside 93 to 97 % than two of their own errors."""
    shown = 100 * np.array([one.covered for one in some])
    printed = datasets * np.array([one.printed for one in some])
    most = 2 * 100 * np.sqrt(0.95 * 0.05 / printed)
    return int(((shown < 93 - most) | (shown > 97 + most)).sum())


if __name__ == "__main__":
    main()
