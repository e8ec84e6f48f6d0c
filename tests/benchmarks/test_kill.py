"""A short run of benchmarks/kill_test.py: the server dies again and again while people answer."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.patience import PATIENCE_S
from tests.prerequisites import POSTGRESQL

KILL_TEST = Path(__file__).parents[2] / "benchmarks" / "kill_test.py"


@pytest.mark.parametrize("kills", [2, pytest.param(5, marks=pytest.mark.campaign)])
@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_no_acknowledged_answer_is_lost_or_doubled_when_servers_are_killed(database, kills):
    if database == "postgresql":
        POSTGRESQL.require()
    run = subprocess.run(
        [
            sys.executable,
            str(KILL_TEST),
            "--kills",
            str(kills),
            "--clients",
            "3",
            "--database",
            database,
        ],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    counts = {
        name.strip(): int(number.replace(",", ""))
        for name, number in (line.rsplit(maxsplit=1) for line in run.stdout.splitlines())
    }
    assert (counts["kills"], counts["lost"], counts["duplicated"]) == (kills, 0, 0)
    assert counts["acknowledged"] == counts["trials"] > 0
    assert counts["finished"] == counts["participants"]
    assert (counts["of the database"] > 0) == (database == "postgresql")
