"""A short run of benchmarks/two_copies.py: two live copies, and everybody is paid exactly once."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "two_copies.py"


@pytest.mark.parametrize("races", [1, pytest.param(2, marks=pytest.mark.campaign)])
def test_two_live_copies_of_an_installation_pay_everybody_exactly_once(races):
    # On Prolific the first copy is killed while it pays; on Mechanical Turk it is gone, which
    # webapp/gate/test_paying_copy.py tries too.
    asked = ["--races", str(races), "--processes", "1"]
    command = [sys.executable, str(SCRIPT), *asked, "--longest", "0.2", "--seed", "4"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    counts = dict(line.rsplit(maxsplit=1) for line in done.stdout.splitlines())
    assert done.returncode == 0, done.stderr
    assert counts["races on prolific"] == "1"
    assert counts["races on mturk"] == str(races - 1)
    assert counts["people paid once"] == str(4 * races)
    assert counts["people paid twice"] == counts["people not paid"] == "0"
