"""Fillers and catch trials stand apart: no other number of a report counts them."""

import pytest

from analysis.report.write import render_report
from tests.analysis.chosen_findings import chosen_findings
from tests.analysis.small_run import CHOICES, compared, facts, score_rows, tables, write_export
from tests.analysis.small_run import write_scores as scores_file

# What p-1 and p-2 are, whose construction has no target then; s-2 shares one with a target.
FILLERS = {"p-1": "filler", "p-2": "filler"}
BLOCK = {"s-2": "catch"}


def with_kinds(kinds):
    """The small run, some of whose items are no targets."""
    rows = tables()
    for name in ("items", "lists", "trials"):
        rows[name] = [row | {"kind": kinds.get(row["item_id"], "target")} for row in rows[name]]
    return rows


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kinds")
    export = write_export(folder / "export", with_kinds(FILLERS | BLOCK))
    return compared(export, scores_file(folder / "scores.parquet", score_rows(more=())))


def table(found, name):
    return next(one.frame for one in found.tables if one.name == name)


def test_every_count_of_judgments_is_of_targets_alone(found):
    # Ann and Ben are kept; s-1 is the only target.
    assert found.provenance.n_judgments == 2
    assert (found.by_construction.query("judge == 'people'")["n_judgments"] == 2).all()
    assert (found.by_condition.query("judge == 'people'")["n_judgments"] == 2).all()


def test_a_construction_of_fillers_alone_has_no_row_and_is_not_called_missing(found):
    assert list(table(found, "table_1")["construction"]) == ["simple"]
    assert not any("No judgments are left" in one for one in found.summary)


def test_a_models_decisions_are_those_on_targets(found):
    models = found.by_construction.query("is_model")
    assert (models["n_items"] == 1).all()


def test_fillers_and_catch_trials_have_a_table_of_their_own_by_kind(found):
    rows = table(found, "other_kinds").set_index("kind")
    right = [CHOICES[person] for person in ("Ann", "Ben")]
    assert rows.loc["catch", "accuracy"] == sum(one[1] for one in right) / 2
    assert rows.loc["filler", "accuracy"] == sum(one[2] + one[3] for one in right) / 4
    assert list(rows["group"]) == ["Fillers", "Catch trials"]


def test_page_and_tables_say_how_many_judgments_stand_apart(found):
    assert found.provenance.apart == {"catch": 2, "filler": 4}
    said = "2 of catch trials and 4 of fillers are analysed separately"
    assert said in render_report(found, {}, {})
    assert any(said in line for line in table_origin(found))


def table_origin(found):
    return found.tables[0].origin


def test_other_thresholds_count_targets_alone_too(found):
    rows = table(found, "multiverse").set_index("number")
    # Cat, whom the rule excludes, chose the bad version of s-1; Ann and Ben the good one.
    assert rows.loc["all", "nobody excluded"] == pytest.approx(2 / 3)


def test_a_run_of_targets_alone_has_neither_the_table_nor_the_sentence(small_comparison):
    found = small_comparison
    assert "other_kinds" not in {one.name for one in found.tables}
    assert not found.provenance.apart
    assert found.provenance.n_judgments == 8


def test_targets_that_a_list_also_uses_as_catch_trials_stay_targets(tmp_path):
    rows = tables()
    rows["trials"] = [row | {"kind": "catch"} for row in rows["trials"]]
    with chosen_findings():
        found = compared(write_export(tmp_path / "export", rows))
    assert found.provenance.n_judgments == 8


def test_a_report_of_a_run_that_still_fills_begins_with_what_its_intervals_are_not_for(tmp_path):
    described = facts() | {"still_filling": True}
    with chosen_findings():
        found = compared(write_export(tmp_path / "export", described=described))
        closed = compared(write_export(tmp_path / "closed"))
    assert "not valid for deciding when to stop" in found.summary[0]
    assert any("not valid for deciding" in one for one in found.tables[0].origin)
    assert not any("deciding when to stop" in one for one in closed.summary)
