"""A short run of benchmarks/load.py: a small crowd arrives at once and takes part."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.patience import PATIENCE_S

LOAD = Path(__file__).parents[2] / "benchmarks" / "load.py"
# Neither is installed, and pip finds nothing to install.
OTHERS = ("otree", "psiturk")
NOTHING = {"PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}


@pytest.mark.parametrize(
    ("arrivals", "workers", "others"), [("once", "2", OTHERS), ("poisson", "1", ())]
)
def test_a_crowd_finishes_with_nothing_missing_and_even_lists(tmp_path, arrivals, workers, others):
    figures = tmp_path / "figures.json"
    run = subprocess.run(
        [
            *(sys.executable, str(LOAD), "--study", "minimal", "--participants", "7"),
            *("--arrivals", arrivals, "--over", "0.5", "--json", str(figures)),
            *("--workers", workers, "--viewers", "1", "--peers-folder", str(tmp_path)),
            *("--platforms", *others, "parallax"),
        ],
        env={**os.environ, **NOTHING},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stderr.count("is left out: ") == len(others)
    [row] = json.loads(figures.read_text(encoding="utf-8"))
    assert row["platform"] == "parallax" and row["viewers"] == 1
    assert (row["people"], row["completed"], row["missing"]) == (7, 7, 0)
    assert row["acknowledged"] == 7 * 8
    assert row["imbalance"] <= 1
