"""A short run of benchmarks/panel_restored.py: after a restore no panel is told twice."""

import logging
from argparse import Namespace
from pathlib import Path

import pytest

from webapp.recruiters.panel import recruiter

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def campaign(monkeypatch):
    """Return a function that goes through some runs, and gives what was counted."""
    monkeypatch.syspath_prepend(BENCHMARKS)
    monkeypatch.setattr(logging, "disable", lambda *_: None)
    monkeypatch.setattr(recruiter, "call", recruiter.call)  # and back
    import panel_restored

    return lambda: panel_restored.environments(
        Namespace(runs=3, seed=1, faults=0.2, deaths=0.03), 0
    )


def test_after_restores_the_panel_is_told_once_of_everybody(campaign):
    counts = campaign()
    assert counts["told more than once"] == counts["finished and not told"] == 0
    assert counts["runs without end"] == 0
    assert counts["told exactly once"] > 0
    assert counts["restored"] + counts["copied"] > 0
    assert counts["held or in doubt"] > 0


def test_where_nothing_were_held_after_a_restore_the_campaign_would_see_it(campaign, monkeypatch):
    monkeypatch.setattr("webapp.jobs.platforms.may_be_told", lambda _: False)
    assert campaign()["told more than once"] > 0
