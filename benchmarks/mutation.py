"""Measure how many small changes of the code some test notices: mutation testing with mutmut.

Usage: python benchmarks/mutation.py exclusion design sessions ledger scoring statistics
           [--sample 150] [--seed 1] [--minutes 10] [--children 2] [--show]

mutmut changes one operator, constant or argument at a time and runs the tests that reach the
changed function, only those that stand next to it. Each package is mutated in a copy of the
repository; the working tree stays as it is. A mutant that no test notices survives; --show
prints what each survivor changed. Tests that need PostgreSQL are left out.
"""

import argparse
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("experiment", "webapp", "lm", "analysis", "marketplace")


class Target(NamedTuple):
    """What is mutated, as patterns of files, and the tests that should notice."""

    files: tuple[str, ...]
    tests: tuple[str, ...]


TARGETS = {
    "exclusion": Target(("experiment/exclusion/*",), ("tests/experiment/exclusion",)),
    "design": Target(("experiment/design/*",), ("tests/experiment/design",)),
    "sessions": Target(
        ("webapp/sessions/*",), ("tests/webapp/sessions", "tests/webapp/participant")
    ),
    "ledger": Target(
        ("webapp/payments/ledger.py", "webapp/payments/pay.py"),
        ("tests/webapp/payments/test_ledger.py", "tests/webapp/payments/test_pay.py"),
    ),
    "money": Target(("experiment/money.py",), ("tests/experiment/test_money.py",)),
    "scoring": Target(("lm/scoring/*",), ("tests/lm/scoring",)),
    "statistics": Target(("analysis/statistics/*",), ("tests/analysis/statistics",)),
}
_NOTHING_CHOSEN = "Filtered for specific mutants, but nothing matches"
_TO_END_S = 60.0
NOTICED = ("killed", "timeout", "caught by type check")


def copy_of_repository(folder: Path, target: Target) -> None:
    """Write the repository's files into a folder, with mutmut's configuration for the target."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, folder / name)
    options = {
        "source_paths": PACKAGES,
        "only_mutate": target.files,
        # How a message ends is read by people; which type a cast claims, by nobody at run time.
        "do_not_mutate_patterns": (r"^\s*(where|expected|remedy)=", r"\bcast\("),
        "also_copy": ("parallax.py", "wsgi.py", "instance"),
        # What reads a module's names, and would read the mutants' as well.
        "pytest_add_cli_args": ("-q", "-k", "not postgresql and not test_every_statistic"),
        "pytest_add_cli_args_test_selection": target.tests,
    }
    lines = [
        f"{key} =" + "".join(f"\n    {one}" for one in values) for key, values in options.items()
    ]
    (folder / "setup.cfg").write_text("\n".join(["[mutmut]", *lines]) + "\n", encoding="utf-8")


def mutmut(folder: Path, *arguments: str, seconds: float | None = None) -> str:
    """Run mutmut there and return what it printed; what takes too long is ended."""
    process = subprocess.Popen(
        [sys.executable, "-m", "mutmut", *arguments],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        start_new_session=True,
    )  # fmt: skip
    try:
        printed, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.terminate()
        try:
            return process.communicate(timeout=_TO_END_S)[0]
        except subprocess.TimeoutExpired:
            # A mutant that waits for ever outlives mutmut, and holds its output open.
            os.killpg(process.pid, signal.SIGKILL)
            return process.communicate()[0]
    if process.returncode and _NOTHING_CHOSEN not in printed:
        sys.exit(f"mutmut {arguments[0]} failed:\n{printed[-4_000:]}")
    return printed


def statuses(folder: Path) -> dict[str, str]:
    """Return what became of each mutant, by its name."""
    printed = mutmut(folder, "results", "--all", "true")
    return dict(re.findall(r"^ *(\S+__mutmut_\d+): (.+)$", printed, re.MULTILINE))


def measure(name: str, options: argparse.Namespace) -> None:
    """Print one row for one package, and its survivors."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        copy_of_repository(folder, TARGETS[name])
        # Makes the mutants and learns which test reaches which function; tries none of them yet.
        mutmut(folder, "run", "none")
        mutants = sorted(statuses(folder))
        chosen = random.Random(options.seed).sample(mutants, min(options.sample, len(mutants)))
        mutmut(
            folder, "run", "--max-children", str(options.children), *chosen,
            seconds=60 * options.minutes,
        )  # fmt: skip
        found = {mutant: status for mutant, status in statuses(folder).items() if mutant in chosen}
        counted = Counter(found.values())
        tried = len(chosen) - counted["not checked"]
        noticed = sum(counted[status] for status in NOTICED)
        share = f"{noticed / tried:.0%}" if tried else "-"
        print(f"| {name} | {len(mutants):,} | {tried} | {noticed} | {share} |", flush=True)
        for mutant, status in sorted(found.items()):
            if status not in (*NOTICED, "not checked"):
                print(f"  {status}: {mutant}")
                if options.show:
                    print(mutmut(folder, "show", mutant))


def main() -> None:
    """Print a table: mutants, how many were tried, how many some test noticed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("targets", nargs="+", choices=sorted(TARGETS), metavar="TARGET")
    parser.add_argument("--sample", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--children", type=int, default=2)
    parser.add_argument("--show", action="store_true", help="Print what each survivor changed.")
    options = parser.parse_args()
    print("| Package | Mutants | Tried | Noticed | Score |\n|---|---:|---:|---:|---:|")
    for name in options.targets:
        measure(name, options)


if __name__ == "__main__":
    main()
