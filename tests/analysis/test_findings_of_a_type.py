"""A report has the findings that its type of response lists, and those of every type."""

from dataclasses import replace
from functools import partial

import pandas as pd
import pytest

from analysis.figures.drawing import Drawing, new_figure
from analysis.findings.finding import Finding, Findings, Need
from analysis.report.write import render_report
from analysis.responses import base
from analysis.responses.base import ANALYSES
from analysis.tables.accuracy_table import Column
from analysis.tables.section import Section
from tests.analysis import small_run
from tests.analysis.chosen_findings import chosen_findings


def found(given):
    frame = pd.DataFrame({"label": ["all"], "n": [len(given.judged.judgments)]})
    columns = Column("label", "", "text"), Column("n", "Answers", "count")
    table = given.context.table("own", "Own table", "What I count.", frame, columns)
    figure = Drawing("own", "Own figure", "A count.", Section.WORDS, partial(new_figure, (1, 1)))
    return Findings((table,), {"own": frame}, ("Nothing else.",), drawings=(figure,))


def with_own(monkeypatch, **said):
    own = Finding("own", Section.WORDS, found, **said)
    monkeypatch.setattr(base, "SHARED_FINDINGS", (*base.SHARED_FINDINGS, own))


@pytest.mark.parametrize("slow", [False, True])
def test_a_registered_finding_is_in_the_report_without_another_line(
    monkeypatch, export, scores, slow
):
    with_own(monkeypatch, slow=slow)
    with chosen_findings("own"):
        compared = small_run.compared(export, scores)
    assert "own" in {table.name for table in compared.tables}
    assert compared.drawings[-1].name == "own"
    assert compared.statistics["own"]["n"].item() > 0
    assert "Nothing else." in compared.left_out
    page = render_report(compared, {"own": "<svg></svg>"}, {})
    assert "Own table" in page
    assert "Own figure" in page


def test_a_finding_is_not_asked_for_where_it_lacks_what_it_needs(monkeypatch, export, scores):
    with_own(monkeypatch, needs=(Need.MODELS,))
    with chosen_findings("own"):
        assert "own" in small_run.compared(export, scores).statistics
        assert "own" not in small_run.compared(export).statistics


def test_a_finding_of_every_type_stands_where_the_type_lists_it():
    needless = [replace(one, needs=()) for one in ANALYSES.load("choice").findings]
    choice = replace(ANALYSES.load("choice"), findings=tuple(needless))
    names = [finding.name for finding in base.select_findings(choice, inputs=None)]
    assert names.index("late_answers") < names.index("people")
    assert names.count("late_answers") == 1
    assert names.index("plan") > names.index("curves")


@pytest.mark.parametrize("family", ANALYSES.built_in)
def test_every_finding_of_a_type_has_a_name_of_its_own(family):
    names = [finding.name for finding in ANALYSES.load(family).findings]
    assert len(names) == len(set(names))
