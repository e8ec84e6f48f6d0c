"""Roles follow from what columns hold: each input was once read wrongly without a word."""

import shutil
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from analysis.commands.import_judgments import judgments
from analysis.commands.import_scores import scores
from analysis.data.load import load_scores
from analysis.errors import AnalysisError
from analysis.readers.long_form import read_decimal_commas
from analysis.readers.reading_times.ibex import read_ibex
from analysis.readers.sources import empty_missing_marks, read_source

CASES = Path(__file__).parent / "role_cases"


def imported(folder, name, table, items="items.csv"):
    options = ["--items", str(folder / items), "--out", str(folder / name), "--yes"]
    result = CliRunner().invoke(judgments, [str(folder / table), *options], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture
def case(tmp_path):
    def copy(name):
        return Path(shutil.copytree(CASES / name, tmp_path / name))

    return copy


@pytest.mark.parametrize(
    ("name", "chosen", "expected", "right", "time"),
    [
        ("import_eprime_one_column_twice", "Slide1.RESP", "CorrectAnswer", "Slide1.ACC",
         "Slide1.RT"),
        ("import_psychopy_corr_as_yes", "key_resp.keys", "corrAns", "key_resp.corr",
         "key_resp.rt"),
    ],
)  # fmt: skip
def test_no_column_has_two_roles_and_two_texts_in_a_row_mean_a_choice(
    case, name, chosen, expected, right, time
):
    said = imported(case(name), "out", "data.csv")
    assert f'"chosen" = "{chosen}"' in said
    assert f'"good_side" = "{expected}"' in said
    assert f'"rt_ms" = "{time}"' in said
    # 10 of 12 are right, as the table says itself.
    assert "the expected version was chosen in 83.3%" in said
    assert f'Accuracy as the source states it ("{right}"): 83.3%' in said


def test_any_column_of_0_and_1_that_contradicts_the_reading_stops_it(case):
    folder = case("import_psychopy_corr_as_yes")
    table = pd.read_csv(folder / "data.csv", dtype=str)
    table = table.rename(columns={"key_resp.corr": "outcome"})
    table.loc[0, "outcome"] = "0"
    table.to_csv(folder / "data.csv", index=False)
    with pytest.raises(AnalysisError, match=r'the column "outcome" calls 75\.0% of the choices'):
        imported(folder, "out", "data.csv")


@pytest.mark.parametrize("header", ["Correct", "outcome"])
def test_a_choice_that_the_source_calls_neither_right_nor_wrong_stops_the_import(case, header):
    folder = case("import_psychopy_corr_as_yes")
    table = pd.read_csv(folder / "data.csv", dtype=str)
    table = table.rename(columns={"key_resp.corr": header})
    table.loc[0, header] = "NA"
    table.to_csv(folder / "data.csv", index=False)
    with pytest.raises(AnalysisError, match=f'"{header}" does not say right or wrong in 1 of 12'):
        imported(folder, "out", "data.csv")


def test_a_column_that_contradicts_the_reading_no_more_than_chance_stops_it_too(case):
    folder = case("import_psychopy_corr_as_yes")
    table = pd.read_csv(folder / "data.csv", dtype=str)
    # The choices of each participant in another's order: 8 of 12 agree, chi-square is 0.48.
    table["outcome"] = [*table["key_resp.corr"][5:], *table["key_resp.corr"][:5]]
    table.drop(columns="key_resp.corr").to_csv(folder / "data.csv", index=False)
    right = table["key_resp.corr"] == "1"
    stated = table["outcome"] == "1"
    counted = f"{int((right & stated).sum())} with 1 there read as right"
    with pytest.raises(AnalysisError, match=f'"outcome" calls 83.3% .*{counted}'):
        imported(folder, "out", "data.csv")


@pytest.mark.parametrize("of", ["participant", "items.csv", "mistakes"])
def test_a_column_of_participants_items_or_errors_contradicts_nothing(case, of):
    folder = case("import_psychopy_corr_as_yes")
    table = pd.read_csv(folder / "data.csv", dtype=str)
    item = next(name for name in table if name.startswith("item"))
    values = {
        "participant": (table["participant"] == table["participant"][0]).astype(int),
        "items.csv": (table[item] == table[item][0]).astype(int),
        "mistakes": 1 - table["key_resp.corr"].astype(int),
    }
    name = "wrong" if of == "mistakes" else "outcome"
    table.assign(**{name: values[of]}).to_csv(folder / "data.csv", index=False)
    assert "the expected version was chosen in 83.3%" in imported(folder, "out", "data.csv")


@pytest.mark.parametrize("mark", ["NA", "N/A", "NaN", ".", "-", "null", "empty", ""])
def test_ratings_with_marks_of_missing_values_are_ratings(case, mark):
    folder = case("ratings_with_na")
    text = (folder / "ratings.csv").read_text().replace(",NA\n", f",{mark}\n")
    (folder / "ratings.csv").write_text(text)
    said = imported(folder, "out", "ratings.csv")
    assert '"rating" = "Score"' in said
    assert "156 judgments of 20 participants on 8 items of 8" in said
    assert not mark or f'4 cells of "Score" hold no value: "{mark}"' in said


def test_the_sentence_shown_is_never_what_was_chosen(case):
    folder = case("ratings_with_na")
    table = pd.read_csv(folder / "ratings.csv", dtype=str).assign(Score="slow")
    table.to_csv(folder / "ratings.csv", index=False)
    with pytest.raises(AnalysisError, match='"Sentence" holds what was shown'):
        imported(folder, "out", "ratings.csv")


def test_signs_among_words_and_marks_that_a_mapping_names_are_values(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("sign,word,number\n+,a,1\n-,NA,NA\n+,b,-\n--,c,--\n")
    source = read_source(path)
    assert empty_missing_marks(source).table.to_dict("list") == {
        "sign": ["+", "-", "+", "--"], "word": ["a", "", "b", "c"], "number": ["1", "", "", ""],
    }  # fmt: skip
    assert empty_missing_marks(source, {"NA"}).table["word"].to_list() == ["a", "NA", "b", "c"]


def test_a_session_that_is_sent_again_is_one_session(case):
    found = read_ibex([case("ibex_reading_sent_twice") / "data.txt"], [])
    assert (len(found.frame), found.frame["participant"].nunique()) == (6, 2)
    assert "1772445705-bbbbbbbb is 1772445700-bbbbbbbb" in found.notes[-1]


def test_a_time_is_positive(case):
    path = case("ibex_reading_sent_twice") / "data.txt"
    path.write_text(path.read_text().replace("Rain,301", "Rain,-12"))
    found = read_ibex([path], [])
    assert (found.frame["rt_ms"] > 0).all()
    assert any("-12 ms of participant 1772445600-aaaaaaaa" in note for note in found.notes)


def test_scores_that_are_all_0_are_refused(case):
    folder = case("all_zero_samples")
    arguments = [str(folder / "samples_zero.jsonl"), "--model", "m", "--out", str(folder / "o")]
    with pytest.raises(AnalysisError, match="all 6 scores are 0"):
        CliRunner().invoke(scores, arguments, catch_exceptions=False)


@pytest.mark.parametrize("named", [[], ["--items", "items.jsonl"]])
def test_scores_of_a_pair_in_one_row_belong_to_the_texts_beside_them(case, named):
    folder = case("pair_table_with_items")
    options = [str(folder / name) if name.endswith("jsonl") else name for name in named]
    arguments = [str(folder / "s.csv"), *options, "--model", "m", "--out", str(folder / "o")]
    result = CliRunner().invoke(scores, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    found = load_scores(folder / "o" / "scores_m.parquet").frame
    assert found["logprob_nats"].to_list() == [-10.5, -12.5] * 3


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (["2088,4", "", "950"], ["2088.4", "", "950"]),
        # These may be thousands.
        (["2,088", "1,950", "950"], ["2,088", "1,950", "950"]),
        (["2,088", "3,5", "950"], ["2.088", "3.5", "950"]),
        (["2,088.5", "1,5"], ["2,088.5", "1,5"]),
    ],
)
def test_times_with_decimal_commas_are_read_and_thousands_left(written, read):
    assert read_decimal_commas(pd.Series(written)).to_list() == read


@pytest.mark.parametrize("space", [" ", "\t", "\N{NO-BREAK SPACE}"])
def test_white_space_around_cells_changes_nothing(case, space):
    folder = case("import_eprime_one_column_twice")
    table = pd.read_csv(folder / "data.csv", dtype=str)
    without = imported(folder, "without", "data.csv")
    for column in table:
        table[column] = [f"{space}{cell}" if n % 2 else f"{cell}{space}"
                         for n, cell in enumerate(table[column])]  # fmt: skip
    table.to_csv(folder / "data.csv", index=False)
    assert imported(folder, "with", "data.csv") == without.replace("without", "with")


def test_a_code_among_right_and_wrong_stops_the_import_and_may_be_dropped(case):
    folder = case("import_psychopy_corr_as_yes")
    table = pd.read_csv(folder / "data.csv", dtype=str)
    table = table.rename(columns={"key_resp.corr": "Accuracy"})
    table.loc[0, "Accuracy"] = "99"
    table.to_csv(folder / "data.csv", index=False)
    with pytest.raises(
        AnalysisError, match=r"right or wrong in 1 of 12.*\[\"99\"\] below \[drop_tri"
    ):
        imported(folder, "out", "data.csv")
