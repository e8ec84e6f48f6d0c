"""A short run of benchmarks/uptime.py, and the rules by which its supervisor plays systemd."""

import os
import random
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.documentation.examples import examples
from tests.patience import PATIENCE_S
from tests.prerequisites import NGINX, POSTGRESQL

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def supervisor(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    import fault_injection.supervisor as supervisor

    return supervisor


@pytest.fixture
def unit_that(supervisor, tmp_path):
    def make(does: str, rules: str) -> object:
        unit = supervisor.Unit(
            "unit", supervisor.rules_of(f"[Service]\n{rules}"), ["/bin/sh", "-c", does],
            dict(os.environ), tmp_path,
        )  # fmt: skip
        unit.start()
        return unit

    return make


def wait_for(unit, state: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while unit.state != state:
        assert time.monotonic() < deadline, unit.state
        time.sleep(0.01)


def test_the_documented_unit_s_rules_are_read(supervisor):
    rules = supervisor.rules_of(examples()["unit"])
    assert (rules.notify, rules.restart, rules.restart_s) == (True, "on-failure", 1.0)
    assert rules.prevent == {2, 3}
    assert rules.interval_s == 0, "a service that ends often would be given up"
    assert supervisor.rules_of(examples()["restart"]).restart == "on-failure"


@pytest.mark.parametrize(
    ("does", "rules", "why"),
    [
        ("exit 3", "Restart=on-failure\nRestartPreventExitStatus=2 3", "exit status 3"),
        ("exit 1", "Restart=on-failure\nRestartSec=0.01", "start-limit-hit"),
        ("exit 0", "Restart=on-failure", "restarts no such thing"),
        ("exit 1", "Restart=no", "restarts no such thing"),
        ("sleep 60", "Type=notify\nTimeoutStartSec=0.1\nRestartSec=0.01\nRestart=on-failure",
         "start-limit-hit"),
    ],
)  # fmt: skip
def test_what_systemd_gives_up_is_given_up(unit_that, does, rules, why):
    unit = unit_that(does, rules)
    wait_for(unit, "failed")
    assert why in unit.why


def test_what_was_killed_is_started_again_and_leaves_nothing_behind(unit_that, supervisor):
    unit = unit_that("sleep 600 & sleep 600", "Restart=on-failure\nRestartSec=0")
    deadline = time.monotonic() + PATIENCE_S
    while len(before := unit.processes()) < 3:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.kill(before[0], 9)
    while len(after := unit.processes()) < 3 or after[0] == before[0]:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert not set(before) & set(after)
    assert supervisor._living(before[0]) == []
    unit.stop()
    assert unit.state == "inactive" and unit.processes() == []


def test_a_service_that_ends_meanwhile_gets_no_signal_and_nobody_else_does(supervisor, monkeypatch):
    asked = []
    monkeypatch.setattr(supervisor, "_living", lambda first: asked.append(first) or [])
    monkeypatch.setattr(os, "kill", lambda *sent: asked.append(sent))
    numbers = iter((7, 0, 0))
    ending = type("Ending", (supervisor.Unit,), {"pid": property(lambda _: next(numbers))})
    unit = object.__new__(ending)
    unit.kill()
    unit.signal_first(9)
    assert asked == [7]


def test_nobody_is_needed_and_nothing_is_lost_while_everything_around_fails():
    POSTGRESQL.require()
    NGINX.require()
    options = ["--faults", "2", "--longest-outage", "2", "--clients", "2", "--seed", "7"]
    # Each of a server's processes reads the application anew, at every start.
    environment = {**os.environ, "PARALLAX_WORKERS": "1"}
    run = subprocess.run(
        [sys.executable, str(BENCHMARKS / "uptime.py"), *options],
        env=environment, capture_output=True, text=True,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout + run.stderr
    counts = dict(
        line.rsplit(maxsplit=1) for line in run.stdout.splitlines() if line[-1:].isdigit()
    )
    counts = {name.strip(): number for name, number in counts.items()}
    assert counts["faults"] == "2"
    for nothing in ("lost", "duplicated", "without an answer", "people stuck"):
        assert counts[nothing] == "0", nothing
    assert counts["interventions"] == "0" and counts["acknowledged"] != "0"
    assert "tables agree after a trial restore" in run.stdout


def test_no_fault_begins_after_the_minutes_that_are_given(supervisor):
    import uptime

    waited = []
    installation = SimpleNamespace(disks={}, wait_until_well=waited.append)
    happened, _ = uptime.cause(installation, 5, 2.0, random.Random(1), [], -1.0)
    assert (happened, waited) == (0, ["the last fault"])


def test_installations_beside_each_other_are_summed_and_one_that_needs_a_person_shows(supervisor):
    import uptime

    restored = "all 32 tables agree after a trial restore.\nTime to restore (RTO): {} s\n"
    counts = {"faults": 5, "participants": 9, "finished": 9, "lost": 0, "duplicated": 0}
    well = uptime.Outcome({"kill_proxy": [0.2, 1.5]}, counts, [], [], restored.format(0.7))
    unwell = uptime.Outcome(
        {"kill_proxy": [9.0]}, {**counts, "finished": 8}, ["once"], [], restored.format(0.9)
    )
    text, all_well = uptime.report([well, well])
    rows = [line.split() for line in text.splitlines()]
    assert all_well and ["kill_proxy", "4", "1.5"] in rows and ["faults", "10"] in rows
    assert "2 of 2, the longest 0.7 s" in text
    text, all_well = uptime.report([well, unwell])
    rows = [line.split() for line in text.splitlines()]
    assert not all_well and ["people", "stuck", "1"] in rows and ["interventions", "1"] in rows
    assert "a person was needed once" in text and ["kill_proxy", "3", "9.0"] in rows
