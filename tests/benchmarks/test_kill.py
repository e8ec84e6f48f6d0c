"""A short run of benchmarks/kill_test.py: the server dies again and again while people answer."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.patience import PATIENCE_S
from tests.prerequisites import NGINX, PGBOUNCER, POSTGRESQL

KILL_TEST = Path(__file__).parents[2] / "benchmarks" / "kill_test.py"


def count(*options: str) -> dict[str, int]:
    run = subprocess.run(
        [sys.executable, str(KILL_TEST), *options],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return {
        name.strip(): int(number.replace(",", ""))
        for name, number in (line.rsplit(maxsplit=1) for line in run.stdout.splitlines())
    }


@pytest.mark.parametrize("kills", [2, pytest.param(5, marks=pytest.mark.campaign)])
@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_no_acknowledged_answer_is_lost_or_doubled_when_servers_are_killed(database, kills):
    if database == "postgresql":
        POSTGRESQL.require()
    counts = count("--kills", str(kills), "--clients", "3", "--database", database)
    assert (counts["kills"], counts["lost"], counts["duplicated"]) == (kills, 0, 0)
    assert counts["acknowledged"] == counts["trials"] > 0
    assert counts["finished"] == counts["participants"]
    assert (counts["of the database"] > 0) == (database == "postgresql")


@pytest.mark.campaign
def test_nodes_behind_a_pooler_lose_nothing_when_one_after_the_other_is_killed():
    for program in (POSTGRESQL, PGBOUNCER, NGINX):
        program.require()
    counts = count("--kills", "3", "--clients", "6", "--nodes", "2")
    assert (counts["kills"], counts["lost"], counts["duplicated"]) == (3, 0, 0)
    assert counts["finished"] == counts["participants"] > 0
    assert counts["imbalance"] <= 1
    # Of PgBouncer, and those that hold the servers' locks and listen.
    assert counts["most connections"] <= 2 * 3 + 10 + 20
