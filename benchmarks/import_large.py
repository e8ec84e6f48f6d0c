"""Memory and time of importing many judgments: ``python benchmarks/import_large.py [--rows N]``.

A table of N judgments (ten million) by 10,000 people of 1,000 items is written, and imported with a
mapping by ``parallax import judgments`` in a process of its own, whose largest memory is printed.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PEOPLE, ITEMS = 10_000, 1_000
_MIB = 1_024
# Runs a command of Parallax and prints the most memory that it held, in KiB.
MEASURED = (
    "import resource, sys; from parallax import cli; "
    "cli(sys.argv[1:], standalone_mode=False); "
    "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
)


def write(folder: Path, rows: int) -> None:
    """Write the items, the judgments and the mapping."""
    lines = [f"i{n},agreement,c{n % 4},It {n} is.,It {n} are." for n in range(ITEMS)]
    items = ["item_id,construction,condition,good,bad", *lines]
    (folder / "items.csv").write_text("\n".join(items) + "\n")
    with (folder / "judgments.csv").open("w") as file:
        file.write("worker,stimulus,answer,rt\n")
        for n in range(rows):
            person, item = divmod(n, max(1, rows // PEOPLE))
            choice = "bad" if (person * 7 + item * 3) % 11 == 0 else "good"
            file.write(f"w{person},i{item % ITEMS},{choice},{700 + n % 900}\n")
    (folder / "mapping.toml").write_text(
        '[columns]\nparticipant = "worker"\nitem = "stimulus"\nchosen = "answer"\nrt_ms = "rt"\n'
    )


def command(folder: Path) -> list[str]:
    """Return the command that imports what ``write`` wrote."""
    named = (
        folder / "judgments.csv", "--items", folder / "items.csv",
        "--mapping", folder / "mapping.toml", "--out", folder / "out", "--yes",
    )  # fmt: skip
    return ["import", "judgments", *map(str, named)]


def main() -> None:
    """Print rows, time and memory."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    rows = parser.parse_args().rows
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, rows)
        begun = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-c", MEASURED, *command(folder)],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
        seconds = time.monotonic() - begun
        with (folder / "out" / "judgments.csv").open() as file:
            written = sum(1 for _ in file) - 1
    peak = int(done.stdout.split()[-1]) / _MIB
    print(f"{rows:,} judgments in, {written:,} out: {seconds:.0f} s, {peak:,.0f} MiB at most")


if __name__ == "__main__":
    main()
