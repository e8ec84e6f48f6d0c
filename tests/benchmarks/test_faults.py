"""A short run of benchmarks/faults.py: everything fails, and everybody is paid exactly once."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.patience import PATIENCE_S

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def counts_of(campaign: str, *options: str) -> dict[str, int]:
    run = subprocess.run(
        [sys.executable, str(BENCHMARKS / campaign), *options],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return {
        name.strip(): int(number.replace(",", ""))
        for name, number in (line.rsplit(maxsplit=1) for line in run.stdout.splitlines())
    }


def test_everybody_is_paid_exactly_once_while_calls_fail_and_the_process_dies():
    counts = counts_of("faults.py", "--runs", "1", "--seed", "3")
    assert counts["people paid exactly once"] == counts["people who earned money"] > 0
    assert counts["HITs orphaned"] == counts["places lost"] == counts["findings left"] == 0
    assert counts["calls that failed"] > 0
    assert counts["process deaths"] > 0


def test_on_prolific_everybody_is_paid_exactly_once_though_paying_twice_would_pay_twice():
    counts = counts_of("faults_prolific.py", "--runs", "1", "--seed", "3")
    assert counts["people paid exactly once"] == counts["people who earned money"] > 0
    assert counts["findings left"] == counts["reports left"] == counts["places lost"] == 0
    assert counts["calls that failed"] > 0
    assert counts["process deaths"] > 0


def test_whenever_the_process_dies_while_paying_the_same_command_pays_exactly_once():
    # Somebody whose rejection was taken back stood unpaid for ever where this was not tried.
    counts = counts_of("every_death.py", "--step", "6")
    assert counts["points"] > 5
    assert counts["people paid exactly once"] == counts["points"] + 1
    assert counts["people paid less"] == counts["people paid more"] == 0


@pytest.mark.parametrize("mturk", ["0", "1"])
def test_where_older_databases_are_put_back_and_colleagues_pay_by_hand_nobody_is_paid_twice(mturk):
    counts = counts_of(
        *("faults_restored.py", "--runs", "1", "--mturk", mturk, "--seed", "5"),
        *("--faults", "0.02", "--deaths", "0.01", "--restores", "0.2", "--by-hand", "0.02"),
        *("--lost", "1"),
    )
    ways = ("restored", "copied", "copied with its ledger", "second copy")
    assert sum(counts[way] for way in ways) > 0
    assert counts["people who earned money"] > 0
    assert counts["people we paid more"] == counts["people with less"] == 0
    assert counts["places offered twice"] == counts["findings left"] == 0
    assert counts["lost and not named"] == counts["lines not in the books"] == 0
