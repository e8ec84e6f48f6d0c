"""The statistics of a comparison, on a small run and on one large enough for all of them."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import small_run
from known_choices import known_choices

from analysis.comparison import analyse
from analysis.findings.findings import MIXED, Context
from analysis.findings.mixed import mixed_findings
from analysis.findings.people import people_findings
from analysis.findings.same_errors import same_errors
from analysis.load import load_run, load_scores
from analysis.typeset import to_csv, to_latex, to_markdown, to_text


def analysed(export, scores, **changed):
    options = {"resamples": 100, "seed": 1, "code_version": "v9"} | changed
    return analyse(load_run(export), [load_scores(scores)], **options)


@pytest.fixture
def context(export, scores):
    found = analysed(export, scores)
    return Context(found.study, replace(found.provenance, resamples=5000))


def crossed(known=True):
    """Forty people and sixty items of two numbers, with sides, positions and times."""
    rows = known_choices(np.random.default_rng(3))
    people = rows[rows["judge"] == "people"].reset_index(drop=True)
    number = np.arange(len(people))
    people = people.assign(
        list=0,
        position=number % 60 + 1,
        kind="target",
        good_side=np.where(number % 2, "first", "second"),
        chosen_side=np.where((number % 2) == people["chose_good"], "first", "second"),
        chose_good=people["chose_good"] == 1,
        rt_ms=1000.0 + number % 7,
        input_method="key",
    )
    model = rows[rows["judge"] == "lstm"]
    chosen = model[["item_id", "construction", "condition"]].assign(
        logprob_good_nats=-10.0,
        logprob_contrast_nats=-10
        - np.where(model["chose_good"] == 1, 1.0, -1.0) * np.arange(1, 61),
        correct=model["chose_good"] == 1,
        tie=False,
    )
    items = model[["item_id", "construction"]].assign(
        features=[f"main={one} other={two}" for one in "sp" for two in "sp" for _ in range(15)]
    )
    if not known:
        people = people.assign(participant=None, list=None)
    return people.drop(columns="judge"), {"lstm": chosen}, items


def test_a_small_run_gets_every_table_that_it_can_fill(export, scores):
    found = analysed(export, scores)
    names = [table.name for table in found.tables]
    assert names[:3] == ["table_1", "table_2", "conditions"]
    assert {"correlations", "calibration", "error_consistency", "agreement", "intervals"} <= {
        *names
    }
    # Two people are too few for a mixed model, and nothing is to be attracted.
    assert not {"mixed_model", "attraction"} & {*names}
    assert len(names) == len(set(names))


def test_a_formula_is_tried_however_few_the_people(export, scores):
    found = analysed(export, scores, formula="judge")
    table = next(table for table in found.tables if table.name == "mixed_model")
    assert table.frame["label"].tolist() == ["Intercept", "judge 5-gram"]
    assert "Fixed effects: judge" in table.caption


def test_every_table_can_be_set_and_every_frame_can_be_read_by_programs(export, scores):
    found = analysed(export, scores)
    for table in found.tables:
        for setting in (to_text, to_csv, to_markdown, to_latex):
            assert setting(table)
        assert {"group", *(column.key for column in table.columns)} <= {*table.frame.columns}
    for frame in found.statistics.values():
        json.loads(frame.to_json(orient="records"))


def test_the_same_seed_gives_the_same_numbers(export, scores):
    first, second = (analysed(export, scores).statistics for _ in range(2))
    for name, frame in first.items():
        pd.testing.assert_frame_equal(frame, second[name])


def test_errors_are_compared_in_five_ways(context):
    found = same_errors(*crossed(), context)
    names = [table.name for table in found.tables]
    assert names == [
        "correlations",
        "correlations_by_construction",
        "calibration",
        "error_consistency",
        "attraction",
        "attraction_by_configuration",
    ]
    row = found.tables[0].frame.set_index("judge").loc["lstm"]
    assert row["of_ceiling"] == pytest.approx(row["spearman"] / row["ceiling"])
    assert row["spearman_low"] <= row["spearman"] <= row["spearman_high"]
    assert found.statistics["items"]["lstm_difference_nats"].abs().max() == 60


def test_fewer_resamples_than_asked_for_are_owned_up_to(context):
    tables = {table.name: table for table in same_errors(*crossed(), context).tables}
    assert "Bootstrap intervals of this table: 2,000 resamples." in tables["correlations"].notes
    assert not any("resamples" in note for note in tables["calibration"].notes)


def test_judgments_without_participants_lose_only_what_needs_them(context):
    judged, chosen, items = crossed(known=False)
    same = same_errors(judged, chosen, items, context)
    assert "error_consistency" not in [table.name for table in same.tables]
    assert same.tables[0].frame["ceiling"].notna().all()
    assert mixed_findings(judged, chosen, None, context).tables == ()
    assert [table.name for table in people_findings(judged, context).tables] == ["agreement"]


def test_the_mixed_model_says_why_it_was_left_out(context, monkeypatch):
    judged, chosen, _ = crossed()
    few = judged[judged["participant"].isin(judged["participant"].unique()[:9])]
    [reason] = mixed_findings(few, chosen, None, context).left_out
    assert reason.endswith("fewer than 10 participants or items do not tell their variances.")
    monkeypatch.setattr("analysis.findings.mixed.MOST_ROWS", 100)
    found = mixed_findings(judged, chosen, None, context)
    n = len(judged) + len(chosen["lstm"])
    assert found.tables == () and f"the fit of {n:,} choices" in found.left_out[0]
    assert mixed_findings(judged, chosen, "judge", context).left_out == ()


def test_the_mixed_model_says_what_it_left_out(context):
    judged, chosen, _ = crossed()
    always = chosen["lstm"]["construction"] == "b"
    chosen["lstm"]["correct"] |= always
    (table,) = mixed_findings(judged, chosen, None, context).tables
    assert table.section == MIXED
    assert any("lstm, b" in note for note in table.notes)
    assert "Standard deviations: participants" in table.notes[0]


def test_constructions_stand_in_the_studys_order_under_its_headings(context):
    frame = pd.DataFrame({"construction": ["polarity", "other", "", "simple"]})
    found = context.by_construction(frame)
    assert found["construction"].tolist() == ["", "simple", "polarity", "other"]
    assert found["label"].tolist()[:2] == ["All constructions", "Simple & short"]
    assert found["group"].tolist() == ["", "Agreement", "Polarity_items", ""]


def test_every_table_of_simulated_participants_says_so(tmp_path, scores):
    simulated = small_run.write_export(
        tmp_path / "export", small_run.tables(simulated=True), small_run.facts(simulated=True)
    )
    for table in analysed(simulated, scores).tables:
        assert "SIMULATED PARTICIPANTS" in table.caption
