"""A short run of benchmarks/hostile_checkpoints.py: nothing runs, every file is answered."""

import importlib.util
import pickle
import random
import subprocess
import sys
from pathlib import Path

from lm.rnn import safe_unpickle
from tests.patience import PATIENCE_S

CAMPAIGN = Path(__file__).parents[2] / "benchmarks" / "hostile_checkpoints.py"


def run(n: int, seed: int) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(CAMPAIGN), "--files", str(n), "--seed", str(seed)]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S)


def test_nothing_in_a_hostile_checkpoint_runs_and_each_is_answered_in_a_paragraph():
    done = run(25, 2)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "25 files: " in done.stdout
    assert "FAILURE" not in done.stdout


def test_the_campaign_finds_a_reader_that_calls_what_is_named(tmp_path, monkeypatch):
    spec = importlib.util.spec_from_file_location("hostile_checkpoints", CAMPAIGN)
    campaign = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(campaign)

    careful = safe_unpickle._Unpickler.find_class

    def trusting(self, module, name):
        find = pickle.Unpickler.find_class if module == "os" else careful
        return find(self, module, name)

    monkeypatch.setattr(safe_unpickle._Unpickler, "find_class", trusting)
    # Of all that a file could ask for, only what leaves a witness may run in a test.
    monkeypatch.setattr(campaign, "CALLS", [("os", "mkdir", "{}")])
    outcomes = campaign.campaign(tmp_path, 8, random.Random(1))
    assert outcomes["FAILURE: something in the file ran"]
