"""A short run of benchmarks/panel_faults.py: everything fails, and everybody is thanked once."""

import subprocess
import sys
from pathlib import Path

from tests.patience import PATIENCE_S

FAULTS = Path(__file__).parents[2] / "benchmarks" / "panel_faults.py"


def test_everybody_who_finished_is_thanked_exactly_once_by_their_panels_books():
    run = subprocess.run(
        [sys.executable, str(FAULTS), "--runs", "2", "--seed", "3"],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    counts = {
        name.strip(): int(number.replace(",", ""))
        for name, number in (line.rsplit(maxsplit=1) for line in run.stdout.splitlines())
    }
    assert counts["thanked exactly once"] == counts["finished"] > 0
    assert counts["two places"] == counts["codes too early"] == counts["left open"] == 0
    assert counts["process deaths"] > 0
