"""Measure the main job step by step: seconds and peak memory of each command, as a table.

Usage: python benchmarks/main_job.py [--study marvin_linzen_2018] [--participants 100]
                                    [--quick]

Each step is the command a user would type, in a process of its own, in an empty instance
folder; the seconds are wall-clock and include the interpreter's start.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PARALLAX = [sys.executable, "-m", "parallax"]


def measured(command: list[str], environment: dict[str, str]) -> tuple[float, float, str]:
    """Run a command and return its seconds, its peak memory in MiB and what it printed."""
    started = time.perf_counter()
    process = subprocess.Popen(
        [*PARALLAX, *command], env=environment, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    printed = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"'parallax {' '.join(command)}' failed")
    return time.perf_counter() - started, usage.ru_maxrss / 1024, printed


def main() -> None:
    """Print one row per step."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--study", default="marvin_linzen_2018")
    parser.add_argument("--participants", default="100")
    parser.add_argument("--quick", action="store_true", help="no figures, few resamples")
    parser.add_argument("--port", default="8765")
    options = parser.parse_args()
    print(f"{'step':<44}{'seconds':>9}{'peak MiB':>10}")
    with tempfile.TemporaryDirectory() as folder:
        run_steps(options, Path(folder))


def run_steps(options: argparse.Namespace, folder: Path) -> None:
    """Run the steps in order; the server runs in the background from launch to export."""
    environment = {**os.environ, "PARALLAX_INSTANCE": str(folder / "instance")}

    def step(title: str, *command: str) -> str:
        seconds, mebibytes, printed = measured(list(command), environment)
        print(f"{title:<44}{seconds:>9.2f}{mebibytes:>10.0f}", flush=True)
        return printed

    items, scores = str(folder / "items.parquet"), str(folder / "scores.parquet")
    text, model = str(folder / "text.txt"), str(folder / "model")
    step("materials, written as Parquet", "materials", "write", options.study, "--out", items)
    step("lists, built and audited", "lists", "build", options.study, "--seed", "1",
         "--out", str(folder / "lists"))  # fmt: skip
    launched = step("launch", "launch", options.study, "--seed", "1", "--recruiter", "simulator")
    run = run_ref(launched)
    step("server start", "serve", "--background", "--port", options.port)
    try:
        step(f"{options.participants} simulated participants", "simulate", run,
             "--participants", options.participants)  # fmt: skip
    finally:
        measured(["stop"], environment)
    step("exclusion", "exclude", run)
    step("export", "export", run, "--out", str(folder / "export"))
    step("training text", "lm", "text", options.study, "--out", text)
    step("5-gram model, trained", "lm", "train", "--type", "ngram", "--text", text, "--out", model)
    step("all sentences, scored", "lm", "score", model, options.study, "--out", scores)
    quick = ("--no-figures", "--resamples", "100") if options.quick else ()
    step("comparison with figures and report", "compare", "--run", str(folder / "export"),
         "--scores", scores, "--out", str(folder / "report"), *quick)  # fmt: skip


def run_ref(printed: str) -> str:
    """Return the run's reference from the link that launch printed."""
    return printed.rpartition("/run/")[2].split()[0]


if __name__ == "__main__":
    main()
