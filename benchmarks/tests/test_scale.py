"""A short run of benchmarks/scale.py: every step costs something, and the model adds them up."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.prerequisites import POSTGRESQL

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def test_each_step_is_measured_on_one_node_and_on_two():
    POSTGRESQL.require()
    options = ["--study", "minimal", "--places", "10", "--people", "1", "--crowd", "2"]
    options += ["--workers", "1"]
    run = subprocess.run(
        [sys.executable, str(BENCHMARKS / "scale.py"), *options], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    rows = {line[:30].strip(): line[30:].split() for line in run.stdout.splitlines()}
    for step in ("consent page", "arrival", "answer", "ending", "room's page", "scrape"):
        assert float(rows[step][2]) > 0, f"{step}: no statement was counted"
    assert float(rows["a session in a crowd, 2 nodes"][2]) > float(rows["arrival"][2])
    assert "connections" in run.stdout


def test_a_session_costs_what_its_steps_cost(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    import scale

    costs = {step: scale.Cost(1.0, 2.0, 3.0, 4.0, 5.0) for step in scale.STEPS}
    whole = scale.of_participant(costs, n_trials=76)
    assert whole == scale.Cost(79.0, 158.0, 237.0, 316.0, 395.0)
    costs["answer"] = scale.Cost(100.0, 10.0, 0.0, 0.0, 0.0)
    lines = list(scale.needed(costs, 76))
    # 10,000 people who answer every 4 s: 2,500 answers a second of 0.1 and 0.01 s.
    assert lines[3].split()[-4:-2] == ["250.0", "25.0"]
    nodes = -int(-250.0 // (scale.PROCESSORS * scale.FILLED))
    assert int(lines[3].split()[-2]) == nodes == pytest.approx(104.2, abs=1)
    assert int(lines[3].split()[-1]) == nodes * (scale.PROCESSORS * 19 + 7) + 5
