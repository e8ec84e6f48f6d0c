"""A short run of benchmarks/load.py: a small crowd arrives at once and takes part."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.patience import PATIENCE_S

LOAD = Path(__file__).parents[2] / "benchmarks" / "load.py"


@pytest.mark.parametrize("arrivals", ["once", "poisson"])
def test_a_crowd_finishes_with_nothing_missing_and_even_lists(tmp_path, arrivals):
    figures = tmp_path / "figures.json"
    run = subprocess.run(
        [
            *(sys.executable, str(LOAD), "--study", "minimal", "--participants", "7"),
            *("--arrivals", arrivals, "--over", "0.5", "--json", str(figures)),
        ],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    [row] = json.loads(figures.read_text(encoding="utf-8"))
    assert (row["people"], row["completed"], row["missing"]) == (7, 7, 0)
    assert row["acknowledged"] == 7 * 8
    assert row["imbalance"] <= 1
