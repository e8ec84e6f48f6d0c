"""The cells of the coverage grid that came out lowest and highest, measured on new data sets.

Of thousands of coverages the lowest are low by chance, too. ``python -m benchmarks.coverage_again``
reads from the kept output of ``benchmarks.coverage_grid`` which ten were the lowest and which the
highest, and draws data sets for these cells anew.
"""

import re
from pathlib import Path

import click

from benchmarks.coverage_grid import GRID, Cell, measure

KEPT = Path(__file__).parent / "results" / "coverage_grid.txt"
_LINE = re.compile(
    r"^  (?P<statistic>[^:]+): Cell\(frames=(\d+), people=(\d+), frame_sd=([\d.]+), "
    r"slope_sd=([\d.]+), base=([\d.]+), dropout=([\d.]+)\): (?P<covered>[\d.]+)$",
    re.MULTILINE,
)


def chosen(output: str) -> list[tuple[str, Cell, float]]:
    """Return the statistic, the cell and the coverage in per cent of each line that names one."""
    return [
        (found["statistic"], _cell(*found.groups()[1:-1]), float(found["covered"]))
        for found in _LINE.finditer(output)
    ]


def _cell(frames: str, people: str, *others: str) -> Cell:
    return Cell(int(frames), int(people), *map(float, others))


@click.command()
@click.option("--datasets", default=4000, show_default=True)
@click.option("--batch", default=5, show_default=True, help="Which data sets; the grid has 4.")
def main(datasets: int, batch: int) -> None:
    """Print of each cell what was covered in the grid, and what is covered in new data sets."""
    error = 100 * (0.95 * 0.05 / datasets) ** 0.5
    click.echo(f"{datasets} new data sets of each cell; error of a coverage {error:.1f}")
    click.echo("statistic | people | frames | frames' SD | slopes' SD | mean | dropout | "
               "covered %: in the grid, again")  # fmt: skip
    for statistic, cell, before in chosen(KEPT.read_text(encoding="utf-8")):
        of_cell = {one.statistic: one for one in measure(cell, datasets, GRID.index(cell), batch)}
        words = f"{cell.people} | {cell.frames} | {cell.frame_sd:g} | {cell.slope_sd:g}"
        again = 100 * of_cell[statistic].covered
        click.echo(f"{statistic} | {words} | {cell.base:g} | {cell.dropout:g} | "
                   f"{before:.1f}, {again:.1f}")  # fmt: skip


if __name__ == "__main__":
    main()
