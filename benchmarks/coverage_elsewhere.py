"""The intervals of designs that the coverage grid does not have, for nothing was chosen by them.

Numbers in the intervals' formulas were found by ``benchmarks.coverage_grid``. ``python -m
benchmarks.coverage_elsewhere`` draws designs between its points by a seed (frames, participants,
how both differ, how effects differ, the mean, who stops early), and data sets of each, and prints
what the same intervals cover there.
"""

import click
import numpy as np

from benchmarks.coverage_grid import BASES, HARDLY, STATISTICS, Cell, line_of, measure, outside

_FRAMES, _PEOPLE = (6, 7, 10, 14, 20, 24, 40), (10, 15, 25, 35, 100)
_FRAME_SD, _SLOPE_SD, _BASE, _DROPOUT = (0.0, 1.5), (0.0, 0.75), (0.0, 2.5), (0.0, 0.4)
_SEED = 352


def designs(number: int) -> list[Cell]:
    """Return so many designs, drawn by a fixed seed."""
    rng = np.random.default_rng(_SEED)
    return [
        Cell(
            frames=int(rng.choice(_FRAMES)),
            people=int(rng.choice(_PEOPLE)),
            frame_sd=round(rng.uniform(*_FRAME_SD), 2),
            slope_sd=round(rng.uniform(*_SLOPE_SD), 2),
            # Ratings are centred on their scale: they are measured at one mean of the grid's alone.
            base=round(rng.uniform(*_BASE), 2) if place % 2 else BASES[0],
            dropout=round(rng.uniform(*_DROPOUT), 2),
        )
        for place in range(number)
    ]


@click.command()
@click.option("--designs", "number", default=80, show_default=True)
@click.option("--datasets", default=1000, show_default=True)
def main(number: int, datasets: int) -> None:
    """Print the coverage of each statistic over the drawn designs."""
    found = [
        one
        for place, cell in enumerate(designs(number))
        for one in measure(cell, datasets, _SEED + place)
    ]
    error = 100 * (0.95 * 0.05 / datasets) ** 0.5
    click.echo(f"{number} designs, {datasets} data sets each; error of a coverage {error:.1f}")
    click.echo("statistic | designs | withheld | covered %: lowest, mean, highest | below 93 "
               "| above 97 | further outside than two errors")  # fmt: skip
    for name in (*STATISTICS, ""):
        own = [one for one in found if name in ("", one.statistic)]
        told = [one for one in own if one.printed >= HARDLY]
        click.echo(f"{name or 'all'} | {line_of(own)} | {outside(told, datasets)}")
    for one in found:
        if one.printed >= HARDLY and outside([one], datasets):
            click.echo(f"  {one.statistic}: {one.cell}: {100 * one.covered:.1f}")


if __name__ == "__main__":
    main()
