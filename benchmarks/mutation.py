"""Mutation testing: measure how many small changes of the code are detected by a test.

Usage: python benchmarks/mutation.py payments privacy exclusion
           [--classes comparison number sort permission date omission] [--sample 300] [--seed 1]
           [--minutes 9] [--most-seconds 60] [--children 1] [--kept FOLDER] [--list]
           [--files PATH ...] [--tests PATH ...]

A mutant has one change of one class: a changed comparison (`<` to `<=`, `==` to `!=`, `in_` to
`not_in`), a number increased by one or a changed sign, a dropped or reversed order, a protecting
condition that is dropped or negated (`and` to `or`, `not`, an `if` that only raises, a call of
`refuse_...`), or a changed unit or sign of a time. With --classes, `omission`
leaves out a filter, an entry, an argument or a logarithm and the like. The package's tests that
reach the changed line run, fastest first, until one fails or --most-seconds have passed. A mutant
that no test detects survives. The results are saved in a folder, and the same command resumes from
them (with --minutes 0 it only prints); use a new folder after changes of code or tests. The tests
run on SQLite only; the working tree is not changed.
"""

import argparse
import json
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import NamedTuple

# In the place of this folder, whose coverage.py is not the library.
sys.path.pop(0)
sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.mutants.changes import CLASSES, OMISSION, Mutant, mutants
from benchmarks.mutants.engine import Trial, try_all

ROOT = Path(__file__).resolve().parents[1]


class Target(NamedTuple):
    """What is mutated, as patterns of files, and the tests that should notice."""

    files: tuple[str, ...]
    tests: tuple[str, ...]


TARGETS = {
    "baseline": Target(("analysis/baseline/*.py",), ("tests/analysis/baseline",)),
    "design": Target(("experiment/design/**/*.py",), ("tests/experiment/design",)),
    "exclusion": Target(("experiment/exclusion/*.py",), ("tests/experiment/exclusion",)),
    "findings": Target(("analysis/findings/*.py",), ("tests/analysis/findings",)),
    "integrity": Target(("experiment/integrity/*.py",), ("tests/experiment/integrity",)),
    "intervals": Target(
        tuple(
            f"analysis/statistics/{name}.py"
            for name in ("clustered", "resample", "variance_parts", "withheld")
        ),
        tuple(
            f"tests/analysis/statistics/test_{name}.py"
            for name in (
                "clustered",
                "ends_by_formula",
                "levels",
                "levels_off",
                "overlapping",
                "resample",
                "withheld",
            )
        ),
    ),
    "maze": Target(("analysis/maze/*.py",), ("tests/analysis/maze",)),
    "model participants": Target(
        ("analysis/takers/*.py", "experiment/takers/**/*.py"),
        ("tests/analysis/takers", "tests/experiment/takers"),
    ),
    "money": Target(("experiment/money.py",), ("tests/experiment/test_money.py",)),
    "payment rules": Target(
        ("experiment/payment/*.py", "experiment/money.py"),
        ("tests/experiment/payment", "tests/experiment/test_money.py"),
    ),
    "payments": Target(
        ("webapp/payments/**/*.py",),
        (
            "tests/webapp/payments",
            "tests/webapp/privacy/test_forgotten_payment.py",
            "tests/webapp/recruiters/test_platform_contract.py",
            "tests/webapp/recruiters/test_refusals.py",
        ),
    ),
    "privacy": Target(("webapp/privacy/*.py",), ("tests/webapp/privacy",)),
    "responses": Target(("experiment/responses/**/*.py",), ("tests/experiment/responses",)),
    "scoring": Target(("lm/scoring/*.py",), ("tests/lm/scoring",)),
    "serverless": Target(
        ("webapp/serverless/replay.py", "webapp/serverless/session_files.py"),
        ("tests/webapp/serverless",),
    ),
    "sessions": Target(
        ("webapp/sessions/*.py",), ("tests/webapp/sessions", "tests/webapp/participant")
    ),
    "statistics": Target(("analysis/statistics/*.py",), ("tests/analysis/statistics",)),
    "studies": Target(
        ("experiment/studies/*.py", "experiment/authoring/plan.py"),
        ("tests/experiment/studies", "tests/experiment/authoring"),
    ),
}


def chosen(target: Target, options: argparse.Namespace) -> list[Mutant]:
    """Return the mutants of a target in the order in which they are tried."""
    files = sorted({file for pattern in target.files for file in ROOT.glob(pattern)})
    every = [
        one
        for file in files
        for one in mutants(file.relative_to(ROOT), tuple(options.classes))
        if one.reachable
    ]
    drawn = random.Random(options.seed).sample(every, len(every))
    drawn = drawn[: options.sample] if options.sample else drawn
    return [one for one in drawn if not options.files or str(one.file) in options.files]


def outcomes_of(file: Path) -> dict[str, str]:
    """Return what is kept of mutants, by their names."""
    lines = file.read_text("utf-8").splitlines() if file.exists() else []
    return {fact["id"]: fact["outcome"] for fact in map(json.loads, lines)}


def row(name: str, found: list[Mutant], file: Path) -> str:
    """Return the line of the table: of how many mutants what became."""
    kept = outcomes_of(file)
    outcomes = Counter(kept[one.id] for one in found if one.id in kept)
    tried = outcomes.total() - outcomes["not applied"]
    noticed = outcomes["noticed"] + outcomes["ended"]
    share = f"{noticed / tried:.0%}" if tried else "-"
    left = outcomes["survived"] + outcomes["unreached"]
    return f"| {name} | {len(found):,} | {tried:,} | {noticed:,} | {left} | {share} |"


def main() -> None:
    """Try mutants, and print a table: how many, tried, noticed, left."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("targets", nargs="+", choices=sorted(TARGETS), metavar="TARGET")
    parser.add_argument("--classes", nargs="+", choices=(*CLASSES, OMISSION), default=CLASSES)
    parser.add_argument("--sample", type=int, default=0, help="How many are drawn; 0 is all.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=9)
    parser.add_argument("--most-seconds", type=float, default=60)
    parser.add_argument("--children", type=int, default=1)
    parser.add_argument("--kept", type=Path, help="A folder; a new one of its own when not given.")
    parser.add_argument("--files", nargs="+", help="Only what is drawn of these files.")
    parser.add_argument(
        "--tests", nargs="+",
        help="Some of the package's, in place of all: what survives these, others may notice.",
    )  # fmt: skip
    parser.add_argument("--list", action="store_true", help="Only show what would be tried.")
    options = parser.parse_args()
    folder = options.kept or Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for name in options.targets:
        found = chosen(TARGETS[name], options)
        file = folder / f"{name}.jsonl"
        if options.list:
            print(*(f"{one.kind:10} {one.id}" for one in found), sep="\n")
        elif options.minutes and {one.id for one in found} - outcomes_of(file).keys():
            trial = Trial(
                found, file, seconds=60 * options.minutes, most_s=options.most_seconds,
                children=options.children,
            )  # fmt: skip
            try_all(options.tests or TARGETS[name].tests, trial)
        rows.append(row(name, found, file))
    print("| Package | Mutants | Tried | Noticed | Left | Score |\n|---|---:|---:|---:|---:|---:|")
    print(*rows, sep="\n")


if __name__ == "__main__":
    main()
