"""Run crowds of several sizes through a study, and print one Markdown table of the results.

Usage: python benchmarks/crowds.py [--short]

Each row is a separate run of ``benchmarks/load.py``: a new server with the default of two
processes, and a new database. ``--short`` runs one small crowd through a small study, only to test
the benchmark itself. The exit status is 1 if a participant did not finish, acknowledged data are
missing, or the lists differ by more than one participant.
"""

import argparse
import sys
from typing import NamedTuple

from load import Row, arguments, measure_all, sound

HEAD = (
    "| Crowd | Completed | Missing | Imbalance | Seconds | Requests/s | Save p50, p95, p99 ms "
    "| Slowest request s | Server MiB | Server's ms per answer, everything included |\n"
    "|---|---:|---:|---:|---:|---:|---|---:|---:|---:|"
)


class Crowd(NamedTuple):
    """A crowd in words, and what ``benchmarks/load.py`` is given for it."""

    name: str
    given: str


CROWDS = (
    Crowd("10 at once", "--participants 10"),
    Crowd("100 at once", "--participants 100"),
    Crowd("500 at once", "--participants 500"),
    Crowd("100 within ten seconds (Poisson)", "--participants 100 --arrivals poisson"),
    Crowd("500 within ten seconds", "--participants 500 --arrivals poisson"),
    Crowd("200 at once, 1 s of thought each time", "--participants 200 --think 1"),
    Crowd("100 at once, PostgreSQL", "--participants 100 --database postgres"),
    Crowd("500 at once, PostgreSQL", "--participants 500 --database postgres"),
)
SHORT = (Crowd("3 at once", "--participants 3 --study minimal --workers 1"),)


def main() -> None:
    """Print the table, a row as soon as it is measured."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--short", action="store_true")
    crowds = SHORT if parser.parse_args().short else CROWDS
    print(HEAD)
    good = True
    for crowd in crowds:
        for row in measure_all(arguments().parse_args(crowd.given.split())):
            print(f"| {crowd.name} | {cells(row)} |", flush=True)
            good = good and sound(row)
    sys.exit(not good)


def cells(row: Row) -> str:
    """Return what stands behind a crowd's name."""
    saves = (float(row[f"save {which} ms"]) for which in ("p50", "p95", "p99"))
    return " | ".join(
        (
            f"{row['completed']} of {row['people']}",
            f"{row['missing']}",
            f"{row['imbalance']}",
            f"{row['seconds']:.1f}",
            f"{row['requests/s']:,}",
            ", ".join(f"{ms:.0f}" if ms >= 10 else f"{ms:.1f}" for ms in saves),
            f"{row['slowest request s']:.1f}",
            f"{row['server MiB']:,}",
            f"{row['server ms/answer']:.2f}",
        )
    )


if __name__ == "__main__":
    main()
