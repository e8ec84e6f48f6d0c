"""A comparison with a few of its findings, for tests that look at these alone.

All findings of a run take ten times as long as one of them. The whole report is made in
``tests/analysis/test_compare.py``, and of ``small_run`` in ``small_comparison``.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest

from analysis import comparison
from analysis.data.load import ExportedRun, Scores
from analysis.findings.finding import Comparison, ComparisonOptions, Finding, FindingInputs
from analysis.responses.base import ResponseAnalysis

# What the first lines of a report are made of.
_OF_THE_SUMMARY = ("accuracy", "ratings", "rating_effects", "yes_no")


@contextmanager
def chosen_findings(*names: str) -> Iterator[None]:
    """Let comparisons consist of the named findings."""
    select = comparison.select_findings

    def chosen(response: ResponseAnalysis, inputs: FindingInputs) -> list[Finding]:
        every = {finding.name: finding for finding in select(response, inputs)}
        return [every[name] for name in every if name in (*names, *_OF_THE_SUMMARY)]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(comparison, "select_findings", chosen)
        yield


def compare_by(
    findings: Sequence[str],
    run: ExportedRun,
    scores: Sequence[Scores] = (),
    options: ComparisonOptions | None = None,
) -> Comparison:
    """Return the comparison of a run by the named findings, as ``compare`` makes it."""
    options = options or ComparisonOptions(resamples=50)
    with chosen_findings(*findings):
        return comparison.compare(run, list(scores), options, code_version="v9")
