"""Measure the report: seconds and peak memory of a comparison, with figures and without.

Usage: python benchmarks/report.py --run EXPORT_FOLDER --scores FILE [--scores ...] [--repeat 3]

Each is the command that a user types, in a process of its own; the seconds are the best of the
repetitions, wall-clock, the interpreter's start included.
"""

import argparse
import os
import tempfile
from pathlib import Path

from main_job import measured


def main() -> None:
    """Print one row for the whole report and one for it without figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", required=True)
    parser.add_argument("--scores", required=True, action="append")
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    scores = [word for path in options.scores for word in ("--scores", path)]
    print(f"{'report':<44}{'seconds':>9}{'peak MiB':>10}")
    for title, more in (("with figures", []), ("without figures", ["--no-figures"])):
        found = []
        for _ in range(options.repeat):
            with tempfile.TemporaryDirectory() as folder:
                out = str(Path(folder) / "report")
                command = ["compare", "--run", options.run, *scores, "--out", out, *more]
                found.append(measured(command, dict(os.environ))[:2])
        seconds, mebibytes = min(found)
        print(f"{title:<44}{seconds:>9.2f}{mebibytes:>10.0f}", flush=True)


if __name__ == "__main__":
    main()
