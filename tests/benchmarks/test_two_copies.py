"""A short run of benchmarks/two_copies.py: two live copies, and everybody is paid exactly once."""

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "two_copies.py"


def test_two_live_copies_of_an_installation_pay_everybody_exactly_once():
    # On Prolific the first copy is killed while it pays; on Mechanical Turk it is gone.
    command = [sys.executable, str(SCRIPT), "--races", "2", "--longest", "0.2", "--seed", "4"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    counts = dict(line.rsplit(maxsplit=1) for line in done.stdout.splitlines())
    assert done.returncode == 0, done.stderr
    assert counts["races on prolific"] == counts["races on mturk"] == "1"
    assert counts["people paid once"] == "8"
    assert counts["people paid twice"] == counts["people not paid"] == "0"
