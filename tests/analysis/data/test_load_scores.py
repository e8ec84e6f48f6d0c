import pandas as pd
import pyarrow.parquet as pq
import pytest

from analysis.data.frames import read_parquet
from analysis.data.load import load_all_scores, load_scores
from analysis.errors import AnalysisError
from experiment.errors import TableError
from experiment.tables.files import write_table
from experiment.tables.schemas import SCORES
from tests.analysis import small_run


def test_scores_are_read_with_what_they_say_about_themselves(scores):
    read = load_scores(scores)
    assert (read.facts.model, read.facts.trained_on) == ("5-gram", "a text")
    assert len(read.frame) == 12


def test_a_missing_score_file_is_named(tmp_path):
    with pytest.raises(
        TableError, match=r'the table "scores" is missing\. Expected an existing file'
    ):
        load_scores(tmp_path / "none.parquet")


def test_scores_that_do_not_say_which_model_are_refused(tmp_path):
    path = tmp_path / "scores.parquet"
    write_table(SCORES, small_run.score_rows(), path, {"study": "small"})
    with pytest.raises(
        AnalysisError, match=r"the Parquet file's metadata does not say.*model: Field req"
    ):
        load_scores(path)


def test_two_files_of_one_model_are_refused(scores, tmp_path):
    other = small_run.write_scores(tmp_path / "other.parquet")
    with pytest.raises(AnalysisError, match='2 score files are for a model "5-gram"') as caught:
        load_all_scores([scores, other])
    assert str(scores) in str(caught.value)
    assert str(other) in str(caught.value)


def test_a_model_that_is_called_as_people_are_is_refused(tmp_path):
    path = small_run.write_scores(tmp_path / "scores.parquet", model="people")
    with pytest.raises(AnalysisError, match='a model is called "people"'):
        load_all_scores([path])


def test_a_file_of_an_earlier_version_lacks_the_columns_of_choices(scores, tmp_path):
    table = pq.read_table(scores)
    assert "choice_at" in table.column_names
    earlier = tmp_path / "earlier.parquet"
    pq.write_table(table.drop_columns(["choice_at", "logprob_of_choice_nats"]), earlier)
    pd.testing.assert_frame_equal(load_scores(earlier).frame, load_scores(scores).frame)
    named = read_parquet(SCORES, earlier, ["item_id", "variant", "logprob_of_choice_nats"])
    assert named["logprob_of_choice_nats"].isna().all()
