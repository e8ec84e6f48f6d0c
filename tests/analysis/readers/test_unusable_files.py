"""Whatever is wrong with a file, one paragraph says so: no trace, and nothing is written."""

import json
import re
import zipfile

import pytest
from click.testing import CliRunner

from experiment.errors import ParallaxError
from experiment.materials.read import materials_hash, read_items
from experiment.tables.files import write_table
from experiment.tables.schemas import ITEMS
from parallax import cli
from tests.analysis import small_run

GOOD = "participant,item,chosen\nAnn,s-1,good\nAnn,s-2,good\nBen,s-1,good\nBen,s-2,bad\n"
WIDE = 'wide = true\n[columns]\nparticipant = "who"\nitem = "item{n}"\nchosen = "choice{n}"\n'
HEADERS = {
    "table": "participant,item,chosen\n",
    "oTree": "participant.code,session.code,player.item,player.choice\n",
    "MTurk": "HITId,AssignmentId,WorkerId,Input.item1,Answer.choice1\n",
    "Gorilla": "Event Index,Participant Private ID,Response,item\n",
    "Qualtrics": "StartDate,Status,ResponseId,s-1\n",
    "jsPsych": "rt,trial_type,trial_index,response,item\n",
    "PCIbex": "#\n# Results on Monday\n# Columns below this comment are as follows:\n# 1. item.\n",
}

# A file's name, its content and a mapping, and what the paragraph says.
FILES = [
    *((f"{name}.csv", text, None, "has no rows") for name, text in HEADERS.items()),
    ("empty.csv", "", None, "cannot be read|has no rows"),
    ("blank.csv", "\n\n\n", None, "cannot be read|has no rows"),
    ("empty.json", "[]", None, "has no rows"),
    ("cut.json", '[{"item": "s-1", "chosen": ', None, "cannot be read"),
    ("words.json", '["good", "bad"]', None, "a trial must be a JSON object"),
    ("noise.parquet", "not parquet", None, "cannot be read"),
    ("zeros.csv", "item,chosen\ns-1,\0\n", None, "is not text in UTF-8, UTF-16 or Windows-1252"),
    ("noise.zip", "not a zip", None, "cannot be read"),
    ("ragged.csv", "item,chosen\ns-1,good,1,2\ns-2,bad,3,4\n", None, "4 cells below 2 headers"),
    ("quotes.csv", 'item,chosen\n"s-1,good\n', None, "cannot be read|has no rows"),
    ("blank_people.csv", GOOD.replace("Ben,s-2", ",s-2"), "", "1 of 4 judgments have an empty"),
    ("spaces.csv", GOOD.replace("Ben,s-2", "   ,s-2"), "", "have an empty participant"),
    ("infinite.csv", "participant,item,chosen,rt_ms\nAnn,s-1,good,inf\n", None,
     "infinite or negative in"),
    ("negative.csv", "participant,item,chosen,rt_ms\nAnn,s-1,good,-5\nAnn,s-2,good,900\n", None,
     "negative in 1 row"),
    ("fast.csv", "item,chosen,rt_ms\ns-1,good,1.2\ns-2,good,0.9\n", "", "median reaction time"),
    ("words.csv", "participant,item,chosen,rt_ms\nAnn,s-1,good,soon\nAnn,s-2,good,900\n", None,
     "not a number"),
    ("choices.csv", GOOD.replace("Ann,s-1,good", "Ann,s-1,"), "",
     '"" is not one of the options. Expected "good", or the version'),
    ("items.csv", GOOD.replace("s-2", "z-9"), "", "not among the items; the first: z-9"),
    ("no_item.csv", "chosen\ngood\ngood\n", None, "lacks a column that holds the items' ids"),
    ("wide.csv", "who,item1,choice1\n", WIDE, "has no rows"),
    ("unnumbered.csv", "who,item,choice\nAnn,s-1,good\n", WIDE, r"lacks the column\(s\)"),
    ("nobody.csv", GOOD, '[keep]\nparticipant = "Zoe"\n', r"none of the 4 row\(s\) is left"),
    ("dropped.csv", GOOD, '[drop_trials]\nitem = ["s-1", "s-2"]\n', "is left as a judgment"),
    ("sides.csv", "item,chosen,good_side\ns-1,f,left\ns-2,j,right\n", "", "the sides chosen are"),
    ("unit.csv", GOOD, 'rt_unit = "minutes"\n', "the mapping cannot be read"),
    ("toml.csv", GOOD, "columns = [\n", "the mapping cannot be read"),
]  # fmt: skip


@pytest.fixture
def items(tmp_path):
    path = tmp_path / "known" / "items.csv"
    path.parent.mkdir()
    write_table(ITEMS, small_run.items(), path)
    return path


def paragraph(arguments) -> str:
    """What a command says that fails as a user can mend."""
    with pytest.raises(ParallaxError) as raised:
        CliRunner().invoke(cli, list(map(str, arguments)), catch_exceptions=False)
    message = str(raised.value)
    assert "\n" not in message.strip()
    assert not re.search(r"Traceback|KeyError|nan\b", message)
    return message


@pytest.mark.parametrize(("name", "text", "mapping", "message"), FILES, ids=[f[0] for f in FILES])
def test_an_unusable_file_is_one_paragraph(name, text, mapping, message, tmp_path, items):
    path, out = tmp_path / name, tmp_path / "out"
    path.write_text(text)
    command = ["import", "judgments", path, "--items", items, "--out", out, "--yes"]
    if mapping is not None:
        (tmp_path / "m.toml").write_text(mapping)
        command += ["--mapping", tmp_path / "m.toml"]
    assert re.search(message, paragraph(command))
    assert not out.exists()


@pytest.mark.parametrize(("name", "text", "mapping", "message"), FILES, ids=[f[0] for f in FILES])
def test_the_same_file_stops_a_comparison(name, text, mapping, message, tmp_path, items, scores):
    path, out = tmp_path / name, tmp_path / "out"
    path.write_text(text)
    command = ["compare", "--judgments", path, "--items", items, "--scores", scores, "--out", out]
    if mapping:
        (tmp_path / "m.toml").write_text(mapping)
        command += ["--mapping", tmp_path / "m.toml"]
    paragraph(command)
    assert not out.exists()


def test_a_comparison_of_nobody_is_one_paragraph(tmp_path, items, scores):
    (tmp_path / "j.csv").write_text("participant,item,chosen,kept\nAnn,s-1,good,no\n")
    said = paragraph(
        ["compare", "--judgments", tmp_path / "j.csv", "--items", items, "--scores", scores,
         "--out", tmp_path / "out"]
    )  # fmt: skip
    assert "no judgment is left" in said


@pytest.mark.parametrize(
    "command", ["import judgments {} --out {}", "compare --judgments {} --out {}"]
)
def test_judgments_without_items_ask_for_them(command, tmp_path):
    (tmp_path / "j.csv").write_text(GOOD)
    said = paragraph(command.format(tmp_path / "j.csv", tmp_path / "out").split())
    assert "j.csv: the file of judgments does not say which items were judged" in said.lower()
    assert said.endswith("Name that table with --items.")


@pytest.mark.parametrize("content", ["subject,choice", ""], ids=["of no format", "empty"])
def test_an_archive_of_jatos_without_trials_is_one_paragraph(content, tmp_path, items):
    path = tmp_path / "jatos_results.jrzip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("study_result_1/comp-result_1/data.txt", content.replace(",", " "))
    said = paragraph(["import", "judgments", path, "--items", items, "--out", tmp_path / "out"])
    assert re.search(
        "data.txt holds neither JSON nor CSV"
        if content
        else r"the archive holds no study_result_\.\.\./",
        said,
    )


def test_a_folder_that_holds_no_import_cannot_be_undone(tmp_path):
    said = paragraph(["import", "undo", tmp_path])
    assert "the folder holds no readable import.json (No such file" in said


@pytest.mark.parametrize(
    ("option", "told"),
    [
        ("--takers", "the folder holds no take.json. Expected a folder that `parallax take` wrote"),
        ("--task", 'the study "small" has no tasks: its response is "sentence_pair". Leave'),
    ],
)
def test_a_comparison_with_what_the_study_has_not_is_one_paragraph(option, told, tmp_path, export):
    given = ["compare", "--run", export, "--out", tmp_path / "out", option, tmp_path]
    assert told in paragraph(given)
    (tmp_path / "take.json").write_text("{")
    again = paragraph(given)
    assert "take.json in it cannot be read: Expecting" in again or option == "--task"


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([], "the table has no items|no rows"),
        (small_run.items()[:1] * 2, r"1 item\(s\) occur more than once; the first: s-1"),
    ],
    ids=["no item", "an id twice"],
)
def test_unusable_items_are_one_paragraph(rows, told, tmp_path):
    (tmp_path / "j.csv").write_text(GOOD)
    header = ",".join(ITEMS.column_names)
    lines = [",".join(str(row[name]) for name in ITEMS.column_names) for row in rows]
    (tmp_path / "items.csv").write_text("\n".join([header, *lines]) + "\n")
    said = paragraph(
        ["import", "judgments", tmp_path / "j.csv", "--items", tmp_path / "items.csv",
         "--out", tmp_path / "out", "--yes"]
    )  # fmt: skip
    assert "items.csv" in said and re.search(told, said)


def rows_of(people, ids):
    return "".join(
        f"{person},{item},{'bad' if (number + place) % 4 == 3 else 'good'},900\n"
        for number, person in enumerate(people)
        for place, item in enumerate(ids)
    )


SMALL = {
    "one judgment": (["Ann"], ["s-1"]),
    "one participant": (["Ann"], ["s-1", "s-2", "p-1"]),
    "two people": (["Ann", "Ben"], ["s-1", "s-2", "p-1"]),
    "one item": (["Ann", "Ben", "Cat", "Dan"], ["s-1"]),
    "three items": (["Ann", "Ben", "Cat", "Dan", "Eva"], ["s-1", "s-2", "p-1"]),
    "an item twice": (["Ann", "Ben"], ["s-1", "s-1", "s-2"]),
}


@pytest.mark.parametrize("size", SMALL)
def test_little_data_is_compared_without_a_trace(size, tmp_path, items):
    people, ids = SMALL[size]
    (tmp_path / "j.csv").write_text("participant,item,chosen,rt_ms\n" + rows_of(people, ids))
    scores = small_run.write_scores(
        tmp_path / "s.parquet", study="", study_version="",
        materials_hash=materials_hash(read_items(items)),
    )  # fmt: skip
    out = tmp_path / "out"
    done = CliRunner().invoke(
        cli,
        ["compare", "--judgments", str(tmp_path / "j.csv"), "--items", str(items), "--scores",
         str(scores), "--out", str(out), "--resamples", "100", "--no-figures"],
        catch_exceptions=False,
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    results = json.loads((out / "results.json").read_text())
    assert results["provenance"]["n_judgments"] == len(people) * len(ids)
