"""Lists of typed answers from other people's files: spreadsheets and long tables."""

import json

import pandas as pd
import pytest
import rdata
from click.testing import CliRunner

from analysis.commands.import_judgments import judgments
from analysis.compare import command as compare
from analysis.errors import AnalysisError
from analysis.readers.sources import read_source
from analysis.typed.cloze import count_answers, count_normalisations
from analysis.typed.same_answers import SameAnswers
from analysis.typed.variants import read_variants

ITEMS = """item_id,construction,condition,sentence
a1,cloze,strong,He mailed the letter without a ___.
a2,cloze,weak,He looked at the ___.
"""
# One row a person, one column a text; y saw only the first text.
WIDE = "who,a1,a2\nx,stamp,Sky\ny,Stamp.,\nz,stmap,a dog\nw,?,sky\n"
MAPPING = """wide = true
no_answer = ["?"]
first_word = true
[columns]
participant = "who"
typed = "{item}"
"""


def write(folder, **files):
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text)


def run(command, *arguments):
    result = CliRunner().invoke(command, list(map(str, arguments)), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def import_answers(folder, answers="answers.csv"):
    given = ("--items", folder / "items.csv", "--mapping", folder / "mapping.toml")
    return run(judgments, folder / answers, *given, "--out", folder / "in")


def test_a_spreadsheet_with_a_column_for_each_text_becomes_cloze_probabilities(tmp_path):
    write(tmp_path, items_csv=ITEMS, mapping_toml=MAPPING, answers_csv=WIDE)
    write(tmp_path, variants_csv="typed,answer,item_id\nSTMAP,stamp,a1\nsky,heaven,a1\n")
    said = import_answers(tmp_path)
    assert "- 1 trials: the cell named after the item is empty" in said
    assert "Answers of several words, of which the first is kept: 1" in said
    assert "14.3% of the times there was no answer" in said
    given = ("--judgments", tmp_path / "in" / "judgments.csv", "--items", tmp_path / "items.csv")
    variants = ("--variants", tmp_path / "variants.csv")
    run(compare, *given, *variants, "--no-figures", "--out", tmp_path / "report")
    frames = json.loads((tmp_path / "report" / "results.json").read_text())["statistics"]
    shares = {(row["item_id"], row["answer"]): row["cloze"] for row in frames["cloze_answers"]}
    # Three of four people say stamp, one of them misspelt; two of three say sky.
    assert shares == {
        ("a1", "stamp"): 0.75,
        ("a2", "sky"): pytest.approx(2 / 3),
        ("a2", "a"): pytest.approx(1 / 3),
    }
    assert {row["rule"]: row["n"] for row in frames["normalisation"]}["variants"] == 1


def test_a_person_with_several_associations_counts_once_for_each():
    rows = pd.DataFrame(
        [("p1", "cat"), ("p1", "mouse"), ("p1", "Cat"), ("p2", "cat"), ("p3", None)],
        columns=["participant", "typed"],
    )
    rows = rows.assign(item_id="dog", version="good", no_answer=rows["typed"].isna())
    counts = count_answers(rows).set_index("answer")
    assert counts[["n", "n_people"]].to_numpy().tolist() == [[2, 3], [1, 3]]
    assert counts["cloze"].to_list() == [pytest.approx(2 / 3), pytest.approx(1 / 3)]


def test_a_long_table_leaves_empty_answers_out_unless_they_mean_no_answer(tmp_path):
    mapping = '{}[columns]\nparticipant = "who"\nitem = "cue"\ntyped = "response"\n'
    write(tmp_path, items_csv=ITEMS, answers_csv="who,cue,response\nx,a1,stamp\ny,a1,\n")
    write(tmp_path, mapping_toml=mapping.format(""))
    assert "- 1 trials: typed is empty" in import_answers(tmp_path)
    write(tmp_path, mapping_toml=mapping.format('no_answer = [""]\n'))
    assert "= 2 judgments" in import_answers(tmp_path)
    written = pd.read_csv(tmp_path / "in" / "judgments.csv")
    assert written["no_answer"].tolist() == [False, True]


def test_a_data_frame_of_r_is_read(tmp_path):
    table = pd.DataFrame({"who": ["x", "y"], "a1": ["stamp", "map"]}, dtype=object)
    rdata.write_rds(tmp_path / "answers.rds", table)
    source = read_source(tmp_path / "answers.rds")
    assert source.format == "data frame of R"
    assert source.table.to_dict("list") == {"who": ["x", "y"], "a1": ["stamp", "map"]}


def test_a_workbook_is_read_and_excels_former_format_is_refused(tmp_path):
    write(tmp_path, items_csv=ITEMS, mapping_toml=MAPPING, answers_csv=WIDE)
    pd.read_csv(tmp_path / "answers.csv").to_excel(tmp_path / "answers.xlsx", index=False)
    assert read_source(tmp_path / "answers.xlsx").table.equals(
        read_source(tmp_path / "answers.csv").table
    )
    write(tmp_path, answers_xls="")
    with pytest.raises(AnalysisError, match=r"Excel's former format \(.xls\) is not read"):
        read_source(tmp_path / "answers.xls")
    pd.DataFrame([["who", "a1", "a1"], ["x", "y", "z"]]).to_excel(
        tmp_path / "twice.xlsx", index=False, header=False
    )
    with pytest.raises(AnalysisError, match='the header "a1" occurs more than once'):
        read_source(tmp_path / "twice.xlsx")


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("typed,meaning\nstmap,stamp\n", "the table of variants has no column answer"),
        ("typed,answer\nstmap,\n", "has no text, or no answer"),
        (
            "typed,answer,item_id\nstmap,stamp,a1\nSTMAP,map,a1\n",
            '"STMAP" counts as "stamp" and as "map".*one answer for each text to the item a1.*'
            "Delete one of the rows",
        ),
    ],
)
def test_a_table_of_variants_says_one_answer_for_each_text(tmp_path, table, said):
    write(tmp_path, variants_csv=table)
    with pytest.raises(AnalysisError, match=said):
        read_variants(tmp_path / "variants.csv")


def test_variants_of_one_text_go_before_those_of_all():
    rows = pd.DataFrame(
        {
            "item_id": ["a", "b"],
            "version": "good",
            "typed": ["bass", "bass"],
            "no_answer": False,
        }
    )
    variants = {("", "bass"): "fish", ("b", "bass"): "guitar"}
    assert count_answers(rows, SameAnswers(variants))["answer"].tolist() == ["fish", "guitar"]
    assert (
        count_normalisations(rows, SameAnswers(variants)).set_index("rule").loc["variants", "n"]
        == 2
    )
