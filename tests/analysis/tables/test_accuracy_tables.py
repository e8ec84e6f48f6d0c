import pandas as pd
import pytest

from analysis.tables.accuracy_table import _have_few_clusters
from analysis.tables.text import list_footnotes
from tests.analysis import small_run
from tests.analysis.chosen_findings import chosen_findings


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compared")
    scores = small_run.write_scores(folder / "scores.parquet")
    return small_run.compared(small_run.write_export(folder / "run"), scores, resamples=200)


def row_of(table, construction):
    return table.frame.set_index("construction").loc[construction]


def test_table_1_follows_the_study_and_has_a_column_for_each_judge(compared):
    table = compared.table("table_1")
    assert list(table.frame["label"]) == ["Simple & short", "Polarity (no 100%)"]
    assert list(table.frame["group"]) == ["Agreement", "Polarity_items"]
    simple = row_of(table, "simple")
    assert (simple["people"], simple["judgments"], simple["items"]) == (0.75, 4, 2)
    assert (simple["5-gram_judged"], simple["5-gram_judged_items"]) == (0.5, 2)
    assert (round(simple["5-gram_all"], 3), simple["5-gram_all_items"]) == (0.667, 3)
    assert (simple["published_people"], simple["published_rnn"]) == (0.9, 0.8)
    assert simple["published_sentences"] == 4


def test_what_was_not_published_is_missing(compared):
    polarity = row_of(compared.table("table_1"), "polarity")
    assert polarity.isna()[["published_people", "published_rnn", "published_sentences"]].all()


def test_table_2_has_the_published_conditions_alone(compared):
    [row] = compared.table("table_2").frame.to_dict("records")
    assert (row["group"], row["label"]) == ("Agreement: Simple & short", "singular")
    assert (row["people"], row["published_people"]) == (1.0, 0.95)


def test_a_study_that_published_nothing_has_no_table_2(export, scores):
    (export / "study" / "published.csv").unlink()
    with chosen_findings("comparisons"):
        found = small_run.compared(export, scores)
    names = [table.name for table in found.tables]
    assert names[:3] == ["comparisons", "table_1", "conditions"]
    assert "table_2" not in names


def test_numbers_of_sentences_are_printed_only_where_some_are_published(export, scores, compared):
    study = export / "study" / "study.toml"
    study.write_text(study.read_text().replace("published_sentences = 4", ""))
    with chosen_findings():
        without = small_run.compared(export, scores)
    titles = [
        [column.title for column in found.table("table_1").columns] for found in (compared, without)
    ]
    assert ["Sentences" in printed for printed in titles] == [True, False]


def test_every_condition_stands_in_the_order_of_the_materials(compared):
    labels = compared.table("conditions").frame[["construction", "label"]].to_numpy().tolist()
    assert labels == [["simple", "singular"], ["simple", "plural"], ["polarity", "past"]]


def test_every_table_says_where_its_numbers_come_from(compared):
    for table in compared.tables:
        origin = "\n".join(table.origin)
        for fact in (
            "Study small, version 1.0",
            small_run.HASH,
            "seed 7",
            "8 judgments of 2 participants on 4 items; excluded: 1 for too many errors",
            "200 resamples, seed 1",
            "Model 5-gram: trained on a text; given lower case tokens; 5 items scored, 1 tie ",
            "comparison v9",
        ):
            assert fact in origin


def test_notes_name_the_source_and_what_to_know_of_it(compared):
    assert "Published: Doe (2025), Table 1." in compared.table("table_1").notes
    assert row_of(compared.table("table_1"), "simple")["published_rnn_note"] == "A misprint"
    assert "A misprint" in list_footnotes(compared.table("table_1"))
    # Its judgments are eight: too few for an interval, and so for a warning about it.
    assert any("fewer than 60 judgments" in note for note in compared.table("table_1").notes)
    assert not any("do not rely" in note for note in list_footnotes(compared.table("table_1")))


def test_captions_warn_of_simulated_participants(compared, scores, tmp_path):
    simulated = small_run.write_export(
        tmp_path / "simulated", small_run.tables(simulated=True), small_run.facts(simulated=True)
    )
    for found, warned in ((compared, False), (small_run.compared(simulated, scores), True)):
        for table in found.tables:
            assert ("SIMULATED PARTICIPANTS: 2 of the 2" in table.caption) is warned


def test_a_footnote_marks_intervals_of_fewer_people_or_frames_than_coverage_was_measured_for():
    counted = pd.DataFrame({"participants": [0, 7, 8, 30, 30], "frames": [5, 20, 5, 4, 5]})
    assert _have_few_clusters(counted).tolist() == [False, True, False, True, False]
