"""Compute the published values of three data sets from the answers that people typed.

    python -m benchmarks.published_cloze [CLONES] [--only NAME] [--clone]

CLONES (default: PUBLISHED_CLONES) is a folder of clones named OWNER+NAME; --clone prints the
commands that create them. Each list of answers is imported with ``parallax import judgments`` and
analysed by ``parallax compare``; the values are then compared with those that the authors
published. Reading Excel's former format (.xls) needs the package python-calamine.
"""

import argparse
import contextlib
import io
import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from benchmarks.published_sets.cloze import SETS, ClozeSet, Import
from parallax import cli

_DIGITS = 3


def main() -> None:
    """Print how many values are equal."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clones", type=Path, nargs="?", default=os.environ.get("PUBLISHED_CLONES"))
    parser.add_argument("--clone", action="store_true", help="print the commands that clone")
    parser.add_argument("--only", choices=[one.name for one in SETS], action="append")
    options = parser.parse_args()
    if options.clone:
        for repository in sorted({place.repository for one in SETS for place in one.places}):
            target = repository.replace("/", "+")
            print(f'git clone https://github.com/{repository} "$CLONES/{target}"')
        return
    if options.clones is None:
        parser.error("which clones? Name the folder")
    for one in SETS:
        if not options.only or one.name in options.only:
            print(describe(one, options.clones), flush=True)


def describe(one: ClozeSet, clones: Path) -> str:
    """Return what is printed of a data set."""
    with tempfile.TemporaryDirectory() as name:
        values = pd.concat(
            [
                one.values(run_import(part), part)
                for part in one.imports(Path(name), one.read(clones))
            ]
        )
    agreement = compare_values(values, one.digits)
    commits = ", ".join(sorted({f"{p.repository} {p.commit(clones)[:8]}" for p in one.places}))
    lines = [f"{one.name}: {one.source} [{commits}]", f"  {one.number}: {agreement.text}"]
    if agreement.n_equal < agreement.n:
        lines.append(f"  {one.differ}")
    return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Agreement:
    """How many published values are ours."""

    n: int
    n_equal: int
    largest: float

    @property
    def text(self) -> str:
        """The agreement in words."""
        return f"{self.n_equal:,} of {self.n:,} equal, the largest difference is {self.largest:.4f}"


def compare_values(values: pd.DataFrame, digits: int = _DIGITS) -> Agreement:
    """Return how many of the columns ``published`` and ``ours`` are equal when rounded."""
    apart = (values["published"] - values["ours"]).abs()
    # Half a unit of the last digit, and the error of a sum of decimal fractions.
    equal = apart <= 0.5 * 10**-digits + 1e-9
    return Agreement(len(values), int(equal.sum()), float(apart.max()))


def run_import(part: Import) -> dict[str, pd.DataFrame]:
    """Import a list of answers and analyse it; return the frames of the report by name."""
    out, report = part.folder / "out", part.folder / "report"
    variants = ["--variants", part.variants] if part.variants else []
    given = ["--items", part.items]
    _call("import", "judgments", part.answers, *given, "--mapping", part.mapping, "--out", out)
    judged = ["--judgments", out / "judgments.csv", *given, *variants]
    _call("compare", *judged, "--no-figures", "--resamples", "100", "--out", report)
    results = json.loads((report / "results.json").read_text("utf-8"))
    return {name: pd.DataFrame(rows) for name, rows in results["statistics"].items()}


def _call(*command: object) -> None:
    with contextlib.redirect_stdout(io.StringIO()):
        cli([str(word) for word in command], standalone_mode=False)


if __name__ == "__main__":
    main()
