"""Tables of published sets: what counts how much."""

from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from analysis.data.load import Scores
from analysis.findings.benchmark import (
    OVERALL,
    PHENOMENON,
    benchmark_table,
    pair_results,
    suite_results,
)


def results(n_groups: int = 2) -> pd.DataFrame:
    """The first group has a paradigm of four items and one of one; all others one of two."""
    rows = [("g0", "large", True)] * 1 + [("g0", "large", False)] * 3 + [("g0", "small", True)]
    for n in range(1, n_groups):
        rows += [(f"g{n}", f"p{n}", True)] * 2
    frame = pd.DataFrame(rows, columns=["group", "paradigm", "correct"])
    return frame.assign(model="m", tie=[n == 1 for n in range(len(frame))])


def test_paradigms_count_alike_however_many_items_they_have():
    table = benchmark_table(results(), "phenomenon", "Pairs", ())
    (row,) = table.frame.to_dict("records")
    # .25 and 1 in the first group; overall those and the 1 of the second group.
    assert (row["g0"], row["g1"]) == pytest.approx((0.625, 1))
    assert row[OVERALL] == pytest.approx(0.75)
    assert [column.key for column in table.columns] == ["label", OVERALL, "g0", "g1"]


def test_ties_are_told_with_their_number():
    notes = benchmark_table(results(), "phenomenon", "Pairs", ()).notes
    assert any(note.startswith("Ties: m 1.") for note in notes)
    none = benchmark_table(results().assign(tie=False), "phenomenon", "Pairs", ()).notes
    assert not any("Ties" in note for note in none)


def test_many_groups_are_rows_and_models_are_columns():
    both = pd.concat([results(20), results(20).assign(model="n", correct=False)])
    table = benchmark_table(both, "phenomenon", "Pairs", ())
    assert list(table.frame["label"])[:2] == [OVERALL, "g0"]
    assert table.frame["n"].eq(0).all() and table.frame["m"].gt(0).all()


def test_an_item_of_a_suite_is_right_where_all_its_predictions_hold():
    holds = pd.DataFrame(
        [("s", 1, 1, True), ("s", 1, 2, True), ("s", 2, 1, True), ("s", 2, 2, False)],
        columns=["suite", "item", "prediction", "holds"],
    )
    assert suite_results({"m": holds})["correct"].tolist() == [True, False]


def test_the_note_counts_in_the_singular_and_in_the_plural():
    one = results(1).query("paradigm == 'small'")
    assert benchmark_table(one, "phenomenon", "Pairs", ()).notes[0] == (
        "1 item in 1 paradigm; ties count as wrong."
    )
    assert (
        "7 items in 3 paradigms, weighted equally"
        in (benchmark_table(results(), "phenomenon", "Pairs", ()).notes[0])
    )


def test_blimps_thirteen_terms_are_the_twelve_phenomena_of_its_paper():
    terms = {"p": "argument_structure", "q": "s-selection", "r": "subject_verb_agreement"}
    rows = [
        (uid, uid, "", variant, "bad", logprob, 0)
        for uid in terms
        for variant, logprob in (("good", -1.0 - (uid == "q")), ("bad", -1.5))
    ]
    names = ["item_id", "construction", "condition", "variant", "contrast", "logprob_nats"]
    frame = pd.DataFrame(rows, columns=[*names, "n_unknown"])
    facts = SimpleNamespace(model="m")
    items = frame.query("variant == 'good'").assign(**{PHENOMENON: list(terms.values())})
    results = pair_results([Scores(Path(), facts, frame)], items, PHENOMENON)
    table = benchmark_table(results, PHENOMENON, "Pairs", ())
    assert [column.title for column in table.columns] == ["", OVERALL, "Arg. str.", "S-V agr."]
    (row,) = table.frame.to_dict("records")
    assert (row["argument_structure"], row[OVERALL]) == pytest.approx((0.5, 2 / 3))
