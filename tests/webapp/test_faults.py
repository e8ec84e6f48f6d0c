"""A short run of benchmarks/faults.py: everything fails, and everybody is paid exactly once."""

import subprocess
import sys
from pathlib import Path

FAULTS = Path(__file__).parents[2] / "benchmarks" / "faults.py"


def test_everybody_is_paid_exactly_once_while_calls_fail_and_the_process_dies():
    run = subprocess.run(
        [sys.executable, str(FAULTS), "--runs", "2", "--seed", "3"],
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    counts = {
        name.strip(): int(number.replace(",", ""))
        for name, number in (line.rsplit(maxsplit=1) for line in run.stdout.splitlines())
    }
    assert counts["people paid exactly once"] == counts["people who earned money"] > 0
    assert counts["HITs orphaned"] == counts["places lost"] == counts["findings left"] == 0
    assert counts["calls that failed"] > 0
    assert counts["process deaths"] > 0
