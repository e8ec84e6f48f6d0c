"""The page's commands bring PostgreSQL back after its disk was lost, and to a moment."""

import subprocess
import sys
from pathlib import Path

from tests.prerequisites import POSTGRESQL

ROOT = Path(__file__).parents[2]


def test_the_page_s_commands_bring_back_what_was_archived_and_any_moment():
    POSTGRESQL.require()
    command = [sys.executable, "benchmarks/point_in_time.py"]
    # What is archived late on a busy machine must not reach back to the middle of the rows.
    options = ["--seconds", "6", "--archive-timeout", "1"]
    done = subprocess.run([*command, *options], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "back to a moment" in done.stdout
