"""Short runs of campaigns of faults: everything fails, and everybody is paid exactly once."""

import importlib
import logging
import sys
from argparse import Namespace
from collections import Counter
from pathlib import Path

import pytest
from botocore.retries.standard import ExponentialBackoff

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
ASKED = {"runs": 1, "seed": 3, "faults": 0.15, "deaths": 0.03}
ASKED |= {"restores": 0.0, "by_hand": 0.0, "lost": 0.0}


@pytest.fixture
def campaign(monkeypatch):
    """Return a function that gives a campaign's module, whose changes to others end here."""
    monkeypatch.syspath_prepend(BENCHMARKS)
    monkeypatch.setattr(ExponentialBackoff, "delay_amount", ExponentialBackoff.delay_amount)
    yield importlib.import_module
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize("mturk", [0, 1])
def test_everybody_is_paid_exactly_once_while_calls_fail_and_the_process_dies(campaign, mturk):
    module = campaign("faults_restored")
    counts = module.environments(Namespace(**ASKED, mturk=mturk), 0)
    assert not any(counts[name] for name in module.WRONG)
    assert counts["paid by us, as earned"] == counts["people who earned money"] > 0
    assert counts["calls that failed"] > 0
    assert counts["process deaths"] > 0


def test_whenever_the_process_dies_while_paying_the_same_command_pays_exactly_once(
    campaign,
):
    # Somebody whose rejection was taken back stood unpaid for ever where this was not tried.
    counts = campaign("every_death").campaign(6)
    assert counts["points"] > 5
    assert counts["people paid exactly once"] == counts["points"] + 1
    assert counts["people paid less"] == counts["people paid more"] == 0


@pytest.mark.parametrize("mturk", [0, 1])
def test_where_older_databases_are_put_back_and_colleagues_pay_by_hand_nobody_is_paid_twice(
    campaign, mturk
):
    asked = ASKED | {"seed": 5, "faults": 0.02, "deaths": 0.01, "mturk": mturk}
    asked |= {"restores": 0.2, "by_hand": 0.02, "lost": 1.0}
    module = campaign("faults_restored")
    counts = module.environments(Namespace(**asked), 0)
    assert not any(counts[name] for name in module.WRONG)
    ways = ("restored", "copied", "copied with its ledger", "second copy")
    assert sum(counts[way] for way in ways) > 0
    assert counts["people who earned money"] > 0
    assert counts["people we paid more"] == counts["people with less"] == 0
    assert counts["places offered twice"] == counts["findings left"] == 0
    assert counts["lost and not named"] == counts["lines not in the books"] == 0


def seven_lost(_options: Namespace, first: int) -> Counter[str]:
    return Counter({"lost": 7, "batches": 1, "first": first})


def nothing_lost(_options: Namespace, _first: int) -> Counter[str]:
    return Counter({"batches": 1})


def test_a_campaign_goes_on_with_what_was_kept_and_what_is_wrong_ends_it_with_1(
    campaign, monkeypatch, tmp_path, capsys
):
    module, kept = campaign("fault_injection.campaign"), tmp_path / "kept.jsonl"

    def end_of(one_environment, *options: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["faults_restored.py", "--runs", "20", *options])
        with pytest.raises(SystemExit) as ended:
            module.report("", one_environment, ["batches", "lost", "first"], ["lost"])
        return int(ended.value.code), " ".join(capsys.readouterr().out.split())

    assert end_of(nothing_lost) == (0, "batches 2 lost 0 first 0")
    assert end_of(seven_lost, "--kept", str(kept)) == (1, "batches 2 lost 14 first 10")
    kept.write_text("".join(kept.read_text().splitlines(keepends=True)[1:]))
    assert end_of(nothing_lost, "--kept", str(kept)) == (1, "batches 2 lost 7 first 10")
    # Another campaign is not gone on with.
    assert end_of(nothing_lost, "--kept", str(kept), "--seed", "2")[0] == 0
