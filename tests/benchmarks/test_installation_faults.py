"""A short run of benchmarks/installation_faults.py: faults are named, and what mends them too."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.patience import PATIENCE_S
from tests.prerequisites import POSTGRESQL

CAMPAIGN = Path(__file__).parents[2] / "benchmarks" / "installation_faults.py"


@pytest.mark.skipif(os.geteuid() != 0, reason="other owners and small disks need root")
@pytest.mark.parametrize(
    ("database", "only", "number"),
    [("sqlite", "the keys file", 3), ("postgresql", "may not write", 1)],
)
def test_what_is_wrong_with_an_installation_is_named_with_its_remedy(database, only, number):
    if database == "postgresql":
        POSTGRESQL.require()
    words = ["--database", database, "--only", only]
    run = subprocess.run(
        [sys.executable, str(CAMPAIGN), *words], capture_output=True, text=True, timeout=PATIENCE_S
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert f"{number} of {number} faults were named with their remedy" in run.stdout
