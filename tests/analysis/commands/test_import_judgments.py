"""Files of other programs, all of the same eight judgments, and what goes wrong with such files.

tests/data/judgments/README.md says where each format is from.
"""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner, Result

from analysis.commands.import_judgments import judgments
from analysis.errors import AnalysisError
from analysis.readers.mapping import read_mapping
from experiment.errors import MaterialsError
from experiment.tables.files import write_table
from experiment.tables.schemas import ITEMS
from tests.analysis import small_run

# Who judged, what, which side the good one was on, whether it was chosen, and in how many ms.
JUDGED = [
    ("Ann", "s-1", "left", True, 1200), ("Ann", "s-2", "right", True, 1300),
    ("Ann", "p-1", "left", False, 900), ("Ann", "p-2", "right", True, 1100),
    ("Ben", "s-1", "right", True, 1500), ("Ben", "s-2", "left", True, 1600),
    ("Ben", "p-1", "right", True, 1400), ("Ben", "p-2", "left", True, 1700),
]  # fmt: skip
SWAP = {"left": "right", "right": "left"}


def chosen_side(good_side: str, right: bool) -> str:
    return good_side if right else SWAP[good_side]


FILES = Path(__file__).parents[2] / "data" / "judgments"


def file(name: str) -> Callable[[Path], Path]:
    return lambda _: FILES / name


def jspsych_both(folder: Path) -> Path:
    """Two people's trials in one file, as researchers put them together."""
    path = folder / "data.json"
    parts = [json.loads(one.read_text()) for one in sorted((FILES / "jspsych_json").iterdir())]
    path.write_text(json.dumps(parts))
    return path


def jatos_archive(folder: Path) -> Path:
    path = folder / "jatos_results_20261121100000.jrzip"
    with zipfile.ZipFile(path, "w") as archive:
        for one in sorted((FILES / "jatos").rglob("*.*")):
            archive.write(one, one.relative_to(FILES / "jatos"))
    return path


def jatos_archive_of_data(folder: Path) -> Path:
    """Results without their description, as JATOS gives them under "Data only"."""
    path = folder / "jatos_results_data_20261121100000.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for one in sorted((FILES / "jatos").rglob("data.txt")):
            archive.write(one, one.relative_to(FILES / "jatos"))
    return path


def jatos_text(folder: Path) -> Path:
    path = folder / "jatos_results_data_20261121100000.txt"
    results = sorted((FILES / "jatos").rglob("data.txt"))
    path.write_text("".join(one.read_text() + "\n" for one in results))
    return path


def jatos_text_of_csv(folder: Path) -> Path:
    """The same of an experiment that sends CSV: every result begins with its header."""
    path = folder / "jatos_results_data_20261121100000.txt"
    columns = ["trial_type", "trial_index", "item_id", "response", "correct_response", "rt"]
    tables = [pd.DataFrame(json.loads(one.read_text()), columns=columns)
              for one in sorted((FILES / "jspsych_json").iterdir())]  # fmt: skip
    whole = {"response": "Int64", "correct_response": "Int64", "rt": "Int64"}
    path.write_text("".join(one.astype(whole).to_csv(index=False) for one in tables))
    return path


@pytest.fixture
def imported(tmp_path: Path) -> Callable[..., Result]:
    write_table(ITEMS, small_run.items(), tmp_path / "items.csv")

    def run(path: Path, *more: str, answer: str = "y\n") -> Result:
        options = ["--items", str(tmp_path / "items.csv"), "--out", str(tmp_path / "out"), *more]
        return CliRunner().invoke(
            judgments, [str(path), *options], input=answer, catch_exceptions=False
        )

    return run


TIMED = [
    (file("jspsych_json"), "jsPsych"), (file("jspsych_csv"), "jsPsych"),
    (jspsych_both, "jsPsych"), (file("ibex_results"), "Ibex"),
    (file("ibex_results_simple"), "Ibex"), (jatos_archive, "JATOS"),
    (jatos_archive_of_data, "JATOS"), (jatos_text, "JATOS"), (jatos_text_of_csv, "jsPsych"),
    (file("otree_choices.csv"), "oTree"), (file("otree_all_apps_wide.csv"), "oTree"),
    (file("psiturk_trialdata.csv"), "psiTurk"), (file("gorilla_task_builder_1.csv"), "Gorilla"),
    (file("gorilla_task_builder_2.csv"), "Gorilla"), (file("qualtrics.csv"), "Qualtrics"),
    (file("eprime"), "E-Prime"),
]  # fmt: skip
UNTIMED = [
    (file("pcibex_results.csv"), "PCIbex"),
    (file("mturk_batch_crowd_form.csv"), "MTurk batch results"),
    (file("mturk_batch_html_form.csv"), "MTurk batch results"),
]


@pytest.mark.parametrize(("write", "name"), TIMED + UNTIMED)
def test_format_mapping_and_judgments_are_found_without_a_word(write, name, imported, tmp_path):
    path = write(tmp_path)
    done = imported(path)
    assert done.exit_code == 0, done.output
    assert f"read as {name}," in done.output
    assert "the expected version was chosen in 87.5%." in done.output
    found = pd.read_csv(tmp_path / "out" / "judgments.csv")
    truth = {(person, item): right for person, item, _, right, _ in JUDGED}
    people = {"p1": "Ann", "p2": "Ben"}
    read = {
        (people[row["participant"]], row["item"]): row["chosen"] == "good"
        for row in found.to_dict("records")
    }
    assert len(found) == len(JUDGED)
    assert read == truth
    if (write, name) in TIMED:
        times = {
            (people[r["participant"]], r["item"]): r["rt_ms"] for r in found.to_dict("records")
        }
        assert times == {(person, item): rt for person, item, _, _, rt in JUDGED}

    # The mapping that was found reads the file again the same.
    first = (tmp_path / "out" / "judgments.csv").read_text()
    mapping = tmp_path / "mine.toml"
    mapping.write_text((tmp_path / "out" / "mapping.toml").read_text())
    read_mapping(mapping)
    done = imported(path, "--mapping", str(mapping))
    assert done.exit_code == 0, done.output
    assert (tmp_path / "out" / "judgments.csv").read_text() == first


def test_nothing_is_written_without_a_yes(imported, tmp_path):
    done = imported(FILES / "jspsych_json", answer="n\n")
    assert done.exit_code == 1
    assert "Write these judgments? [y/N]" in done.output
    assert not (tmp_path / "out").exists()


def test_yes_can_be_said_beforehand(imported, tmp_path):
    assert imported(FILES / "jspsych_json", "--yes", answer="").exit_code == 0
    assert (tmp_path / "out" / "judgments.csv").is_file()


def test_sides_taken_for_versions_stop_loudly_and_nothing_is_written(imported, tmp_path):
    # 17 of 20 choices are right; the good version stood left in every other trial.
    wrong = {0, 2, 5}
    rows = ["participant,item,pick"]
    for trial in range(20):
        side = chosen_side("right" if trial % 2 else "left", trial not in wrong)
        rows.append(f"p{trial // 3},{['s-1', 's-2', 'p-1'][trial % 3]},{side}")
    (tmp_path / "sides.csv").write_text("\n".join(rows))
    mapping = tmp_path / "sides.toml"
    mapping.write_text(
        '[columns]\nchosen = "pick"\n[values.chosen]\nleft = "good"\nright = "bad"\n'
    )
    with pytest.raises(AnalysisError) as raised:
        imported(tmp_path / "sides.csv", "--mapping", str(mapping))
    assert "in .45 of 20 judgments, which is near chance" in str(raised.value)
    assert "it would be .55, no mirror image of a high accuracy" in str(raised.value)
    assert "--accept-low-accuracy" in str(raised.value)
    assert not (tmp_path / "out").exists()


def swapped(tmp_path: Path) -> tuple[Path, Path]:
    path, mapping = tmp_path / "swapped.csv", tmp_path / "swapped.toml"
    rows = [
        "who,item,pick",
        *(f"{p},{i},{'B' if r else 'A'}" for p, i, _, r, _ in JUDGED if i != "p-2"),
    ]
    path.write_text("\n".join(rows))
    mapping.write_text(
        '[columns]\nparticipant = "who"\nchosen = "pick"\n[values.chosen]\nA = "good"\nB = "bad"\n'
    )
    return path, mapping


def test_swapped_values_are_called_a_mirror_image(imported, tmp_path):
    path, mapping = swapped(tmp_path)
    with pytest.raises(AnalysisError) as raised:
        imported(path, "--mapping", str(mapping))
    assert "in .17 of 6 judgments, which is below chance" in str(raised.value)
    assert "with the coding swapped it would be .83, the mirror image" in str(raised.value)


def test_a_low_accuracy_passes_by_an_explicit_word_alone(imported, tmp_path):
    path, mapping = swapped(tmp_path)
    with pytest.raises(AnalysisError):
        imported(path, "--mapping", str(mapping), "--yes")
    done = imported(path, "--mapping", str(mapping), "--accept-low-accuracy")
    assert done.exit_code == 0, done.output


def test_a_file_without_a_choice_names_its_columns(imported, tmp_path):
    path = tmp_path / "odd.csv"
    path.write_text("who,sentence,colour\nAnn,s-1,red\nBen,s-2,blue\n")
    with pytest.raises(AnalysisError, match="lacks a column that holds the choice") as raised:
        imported(path)
    assert "They are who, sentence, colour" in str(raised.value)


def test_seconds_taken_for_milliseconds_are_refused(imported, tmp_path):
    path, mapping = FILES / "otree_choices.csv", tmp_path / "seconds.toml"
    imported(path)
    guessed = (tmp_path / "out" / "mapping.toml").read_text()
    mapping.write_text(guessed.replace('rt_unit = "s"\n', ""))
    assert mapping.read_text() != guessed
    with pytest.raises(AnalysisError, match=r"median reaction time is 1\.35 ms"):
        imported(path, "--mapping", str(mapping))


def test_a_folder_of_several_programs_files_is_refused(imported, tmp_path):
    folder = tmp_path / "results"
    folder.mkdir()
    with pytest.raises(AnalysisError, match="the folder holds no files"):
        imported(folder)
    for name in ("qualtrics.csv", "ibex_results"):
        (folder / name).write_bytes((FILES / name).read_bytes())
    with pytest.raises(AnalysisError, match="files are read as Ibex and Qualtrics"):
        imported(folder)


def test_a_trial_without_an_answer_is_no_wrong_answer(imported, tmp_path):
    rows = pd.read_csv(FILES / "jspsych_csv" / "data_b.csv", keep_default_na=False)
    path = tmp_path / "data.csv"
    # Without the expected key, only "correct" tells; it is false where time ran out.
    rows.drop(columns="correct_response").to_csv(path, index=False)
    assert "4 judgments of 1 participant" in imported(path).output
    mapping = (tmp_path / "out" / "mapping.toml").read_text()
    assert mapping.count("drop_trials") == 1


def test_single_trials_one_after_the_other_are_not_a_person_each(imported, tmp_path):
    path = tmp_path / "trials.json"
    rows = [{"item": item, "chosen": "good" if right else "bad"} for _, item, _, right, _ in JUDGED]
    rows[-1]["chosen"] = "distractor"
    path.write_text("\n".join(json.dumps(row) for row in rows))
    with pytest.raises(AnalysisError, match="no column says who judged"):
        imported(path)
    done = imported(path, "--unknown-participants")
    assert "8 judgments of unknown participants" in done.output


def test_what_psiturk_recorded_as_a_list_is_read_with_a_mapping(imported, tmp_path):
    path, mapping = tmp_path / "trialdata.csv", tmp_path / "mapping.toml"
    rows = [
        [f"{person}:HIT", 0, 1795252800000, json.dumps(["TEST", item, right, rt])]
        for person, item, _, right, rt in JUDGED
    ]
    pd.DataFrame(rows).to_csv(path, header=False, index=False)
    mapping.write_text('[columns]\nparticipant = "uniqueid"\nitem = "data_2"\ncorrect = "data_3"\n')
    done = imported(path, "--mapping", str(mapping))
    assert "8 judgments of 2 participants" in done.output
    assert "87.5%" in done.output


def test_a_table_without_headers_or_on_another_sheet_is_read_as_named(imported, tmp_path):
    path, again = tmp_path / "data.csv", tmp_path / "again"
    rows = [(who, item, "good" if right else "bad", rt) for who, item, _, right, rt in JUDGED]
    pd.DataFrame(rows).to_csv(path, header=False, index=False)
    names = "participant,item,chosen,rt_ms"
    assert "8 judgments of 2 participants" in imported(path, "--columns", names).output
    written = pd.read_csv(tmp_path / "out" / "judgments.csv")
    assert list(written["chosen"]) == [chosen for _, _, chosen, _ in rows]
    assert list(written["rt_ms"]) == [rt for *_, rt in rows]
    # The mapping keeps the names, so that it reads the table alone.
    mapping = str(tmp_path / "out" / "mapping.toml")
    imported(path, "--mapping", mapping, "--out", str(again))
    assert (again / "judgments.csv").read_bytes() == (tmp_path / "out/judgments.csv").read_bytes()
    with pytest.raises(MaterialsError, match="2 columns are named, but the row has 4 cells"):
        imported(path, "--columns", "participant,item")
    pd.DataFrame(rows).to_excel(tmp_path / "data.xlsx", header=False, index=False)
    assert "8 judgments of 2" in imported(tmp_path / "data.xlsx", "--columns", names).output
    with pd.ExcelWriter(tmp_path / "sheets.xlsx") as book:
        pd.DataFrame(["Codes of the laboratory"]).to_excel(book, sheet_name="Codes", index=False)
        pd.DataFrame(rows, columns=names.split(",")).to_excel(book, sheet_name="D", index=False)
    assert "8 judgments of 2" in imported(tmp_path / "sheets.xlsx", "--sheet", "D").output
    with pytest.raises(
        MaterialsError, match=r'the workbook has no sheet "E"\. Expected one of: Codes, D'
    ):
        imported(tmp_path / "sheets.xlsx", "--sheet", "E")
    with pytest.raises(MaterialsError, match="the file has no sheets"):
        imported(path, "--sheet", "D", "--columns", names)
    path.with_suffix(".json").write_text("[]")
    with pytest.raises(MaterialsError, match="each value of the file has a name already"):
        imported(path.with_suffix(".json"), "--columns", names)
