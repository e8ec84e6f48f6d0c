from dataclasses import replace

import pytest

from analysis.data.join import check_same_items, decisions, judgments
from analysis.data.load import load_run, load_scores
from analysis.errors import AnalysisError
from tests.analysis import small_run

JUDGED = ["s-1", "s-2", "p-1", "p-2"]


def run_with(tmp_path, **changes):
    """The small run with some cells changed: table=(row, column, value)."""
    rows = small_run.tables()
    for table, (row, column, value) in changes.items():
        rows[table][row][column] = value
    return load_run(small_run.write_export(tmp_path / "changed", rows))


def test_there_is_one_row_per_judgment_of_a_kept_participant(export):
    found = judgments(load_run(export))
    assert list(found["participant"]) == ["Ann"] * 4 + ["Ben"] * 4
    assert list(found["item_id"]) == JUDGED * 2
    assert list(found["construction"]) == ["simple", "simple", "polarity", "polarity"] * 2
    assert list(found["chose_good"]) == [*small_run.CHOICES["Ann"], *small_run.CHOICES["Ben"]]
    assert set(found["list"]) == {0}


def test_a_response_that_contradicts_its_trial_is_refused(tmp_path):
    run = run_with(tmp_path, responses=(1, "chose_good", False))
    with pytest.raises(
        AnalysisError, match=r"the first \(participant, position\): Ann 2. The tables come from"
    ):
        judgments(run)


def test_a_response_without_its_trial_is_refused(tmp_path):
    run = run_with(tmp_path, trials=(5, "position", 99))
    with pytest.raises(AnalysisError, match=r"answer a trial that was not in the session.*Ben 2"):
        judgments(run)


def test_a_response_to_another_item_than_its_trial_is_refused(tmp_path):
    run = run_with(tmp_path, responses=(0, "item_id", "s-2"))
    with pytest.raises(AnalysisError, match="name another item"):
        judgments(run)


def test_a_judged_item_must_be_in_the_materials(export):
    run = load_run(export)
    with pytest.raises(AnalysisError, match="items that the table items lacks"):
        judgments(replace(run, items=run.items.iloc[1:]))


def test_a_participant_must_be_in_the_table_of_participants(export):
    run = load_run(export)
    with pytest.raises(AnalysisError, match="whom the table participants lacks"):
        judgments(replace(run, participants=run.participants.iloc[1:]))


def test_a_run_of_which_nobody_is_kept_is_refused(export):
    run = load_run(export)
    with pytest.raises(AnalysisError, match="no judgment is left"):
        judgments(replace(run, verdicts=run.verdicts.assign(kept=False)))


def test_a_model_is_right_where_good_beats_the_version_against_it(scores):
    found = decisions(load_scores(scores)).set_index("item_id")
    # In p-2 the distractor stands against good, although bad is more probable than both.
    assert dict(found["correct"]) == {
        "s-1": True, "s-2": False, "p-1": False, "p-2": True, "s-9": True,
    }  # fmt: skip


def test_a_tie_is_wrong_and_is_counted(scores):
    found = decisions(load_scores(scores)).set_index("item_id")
    assert list(found.index[found["tie"]]) == ["p-1"]
    assert not found.loc["p-1", "correct"]


def test_an_item_without_its_contrast_version_is_named(tmp_path):
    logprobs = small_run.LOGPROBS | {"p-2": (-2.0, -1.0, None)}
    path = small_run.write_scores(tmp_path / "scores.parquet", small_run.score_rows(logprobs))
    with pytest.raises(
        AnalysisError,
        match=r"lack the good version.*first: p-2. Score the materials again",
    ):
        decisions(load_scores(path))


def test_a_score_that_is_no_number_is_named(tmp_path):
    logprobs = small_run.LOGPROBS | {"s-2": (float("nan"), -1.0, None)}
    path = small_run.write_scores(tmp_path / "scores.parquet", small_run.score_rows(logprobs))
    with pytest.raises(
        AnalysisError, match=r"are not numbers; the first: s-2. Score the materials again"
    ):
        decisions(load_scores(path))


def test_judged_items_without_scores_are_listed_up_to_ten_with_both_files(export, scores):
    judged = [f"x-{number:02}" for number in range(12)]
    with pytest.raises(AnalysisError) as caught:
        check_same_items(load_run(export), load_scores(scores), judged, str)
    message = str(caught.value)
    assert "12 judged item(s) have no scores; the first: x-00, x-01" in message
    assert "x-09" in message
    assert "x-10" not in message
    assert str(export) in message
    assert str(scores) in message


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"study": "other"}, "the scores are for other 1.0"),
        ({"study_version": "2.0"}, "the scores are for small 2.0"),
        (
            {"materials_hash": "ef" * 32},
            "the run's materials have the hash abababababab, those of the scores efefefefefef",
        ),
    ],
)
def test_scores_of_other_materials_are_refused(export, tmp_path, changed, words):
    path = small_run.write_scores(tmp_path / "other.parquet", **changed)
    with pytest.raises(AnalysisError, match=words):
        check_same_items(load_run(export), load_scores(path), JUDGED, lambda: "none")


def test_scores_of_just_the_runs_own_items_are_accepted(export, tmp_path):
    path = small_run.write_scores(
        tmp_path / "own.parquet", study="", study_version="", materials_hash="own"
    )
    check_same_items(load_run(export), load_scores(path), JUDGED, lambda: "own")


def test_responses_find_their_trials_in_whatever_order_they_stand(tmp_path):
    tidy = judgments(load_run(small_run.write_export(tmp_path / "tidy")))
    rows = small_run.tables()
    rows["responses"] = rows["responses"][::-1]
    rows["trials"] = rows["trials"][5:] + rows["trials"][:5]
    rows["participants"] = rows["participants"][::-1]
    mixed = judgments(load_run(small_run.write_export(tmp_path / "mixed", rows)))
    columns = ["participant", "position", "item_id", "construction", "good_side", "chose_good"]
    assert mixed[columns].astype(str).equals(tidy[columns].astype(str))


def test_an_export_of_text_tables_gives_the_same_judgments(tmp_path):
    runs = [
        load_run(small_run.write_export(tmp_path / name, suffix=name))
        for name in (".csv", ".parquet")
    ]
    one, other = (judgments(run).astype(str) for run in runs)
    assert one.equals(other)
