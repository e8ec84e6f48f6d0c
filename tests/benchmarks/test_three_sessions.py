"""benchmarks/three_sessions.py: every part is paid, and the statement is the platform's books."""

import subprocess
import sys
from pathlib import Path

from tests.patience import PATIENCE_S

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "three_sessions.py"


def test_three_parts_with_dropouts_are_paid_and_stated_as_the_platform_booked_them():
    command = [sys.executable, str(SCRIPT), "--people", "5"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S)
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.count(" is clean: ") == 3
    assert run.stdout.count("the same") == 3
