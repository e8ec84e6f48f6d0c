"""Files in the formats that experiment programs write, all of the same eight judgments.

The files are made by hand. Seen in the tools' own sources or in published result files: how PCIbex
and Ibex results begin, the paths within a JATOS archive, and the column names of oTree, psiTurk,
Gorilla, Qualtrics and MTurk. From knowledge of the tools alone: jsPsych's plugin data, oTree's unit
of time (whatever a page's script sent; seconds in its own examples), and the rows of Gorilla and
Qualtrics. No published data set is among them.
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
from experiment.tables.files import write_table
from experiment.tables.schemas import ITEMS
from tests.analysis import small_run

OPTIONS = {
    row[0]: (row[3], row[5] if row[6] == "distractor" else row[4]) for row in small_run.ITEM_ROWS
}
# Who judged, what, which side the good one was on, whether it was chosen, and in how many ms.
JUDGED = [
    ("Ann", "s-1", "left", True, 1200), ("Ann", "s-2", "right", True, 1300),
    ("Ann", "p-1", "left", False, 900), ("Ann", "p-2", "right", True, 1100),
    ("Ben", "s-1", "right", True, 1500), ("Ben", "s-2", "left", True, 1600),
    ("Ben", "p-1", "right", True, 1400), ("Ben", "p-2", "left", True, 1700),
]  # fmt: skip
SWAP = {"left": "right", "right": "left"}


def chosen_text(item: str, right: bool) -> str:
    return OPTIONS[item][0 if right else 1]


def chosen_side(good_side: str, right: bool) -> str:
    return good_side if right else SWAP[good_side]


def jspsych_trials(person: str) -> list[dict[str, object]]:
    """What jsPsych 8 records: the index of the button pressed, and the data of the trial."""
    trials: list[dict[str, object]] = [
        {"rt": 4210, "stimulus": "<p>Welcome</p>", "response": 0, "trial_type":
         "html-button-response", "trial_index": 0, "plugin_version": "2.1.0", "time_elapsed": 4215,
         "subject": person},
    ]  # fmt: skip
    for name, item, good_side, right, rt in JUDGED:
        if name == person:
            good = ("left", "right").index(good_side)
            trials.append(
                {"rt": rt, "stimulus": "", "response": good if right else 1 - good,
                 "trial_type": "html-button-response", "trial_index": len(trials),
                 "plugin_version": "2.1.0", "time_elapsed": 9000, "subject": person,
                 "item_id": item, "correct_response": good, "correct": right}
            )  # fmt: skip
    return trials


def jspsych_json(folder: Path) -> Path:
    path = folder / "data.json"
    path.write_text(json.dumps([jspsych_trials("Ann"), jspsych_trials("Ben")]))
    return path


def jspsych_csv(folder: Path) -> Path:
    frame = pd.DataFrame([*jspsych_trials("Ann"), *jspsych_trials("Ben")])
    frame["correct"] = frame["correct"].map({True: "true", False: "false"})
    for column in ("response", "correct_response"):
        frame[column] = frame[column].astype("Int64")
    path = folder / "data.csv"
    frame.to_csv(path, index=False, quoting=1)
    return path


PCIBEX_HEAD = """#
# Results on Saturday November 21 2026 10:00:00 UTC
# USER AGENT: Mozilla/5.0 (X11; Linux x86_64)
# Design number was non-random = 0
#
# Columns below this comment are as follows:
# 1. Results reception time.
# 2. MD5 hash of participant's IP address.
# 3. Controller name.
# 4. Order number of item.
# 5. Inner element number.
# 6. Label.
# 7. Latin Square Group.
# 8. PennElementType.
# 9. PennElementName.
# 10. Parameter.
# 11. Value.
# 12. EventTime.
# 13. item.
# 14. Comments.
"""


def pcibex(folder: Path) -> Path:
    lines = []
    for number, (person, item, _, right, rt) in enumerate(JUDGED):
        head = f"1795252800,{person},PennController,{number},0,trial,NULL"
        text = chosen_text(item, right).replace(",", "%2C")
        lines += [
            f"{head},PennController,{number},_Trial_,Start,1795252800000,{item},NULL",
            f"{head},Selector,choice,Selection,{text},{1795252800000 + rt},{item},NULL",
            f"{head},PennController,{number},_Trial_,End,1795252809000,{item},NULL",
        ]
    path = folder / "results_prod.csv"
    path.write_text(PCIBEX_HEAD + "\n".join(lines) + "\n")
    return path


def pcibex_farm(folder: Path) -> Path:
    """The same as the Farm gives it without an account, with older names of columns."""
    path = pcibex(folder)
    text = path.read_text().replace("Results reception time", "Time results were received")
    path.write_text("# Last submission only; create an account for full results file\n" + text)
    return path


IBEX_FLASH = """# Columns below this comment are as follows:
# 1. Time results were received.
# 2. MD5 hash of participant's IP address.
# 3. Controller name.
# 4. Item number.
# 5. Element number.
# 6. Type.
# 7. Group.
"""


def ibex(folder: Path) -> Path:
    """Ibex 0.3: a question with two answers, and whether the answer was the correct one."""
    text = "#\n# Results on Saturday November 21 2026 10:00:00 UTC.\n# USER AGENT: Mozilla/5.0\n"
    text += "# Design number was random = 1\n#\n" + IBEX_FLASH
    text += "# 8. Sentence (or sentence MD5).\n1795252800,Ann,Message,0,0,intro,NULL,Welcome\n"
    for number, (person, item, _, right, rt) in enumerate(JUDGED):
        head = f"1795252800,{person},Question,{number},0,{item},NULL"
        text += "# 8. Question (NULL if none).\n# 9. Answer.\n"
        text += "# 10. Whether or not answer was correct (NULL if N/A).\n"
        text += "# 11. Time taken to answer.\n"
        text += f"{head},Which is better?,{chosen_text(item, right)},{int(right)},{rt}\n"
    path = folder / "results"
    path.write_text(text)
    return path


def jatos_zip(folder: Path) -> Path:
    """A results archive of JATOS 3.9: a folder for each study result, described in metadata."""
    path = folder / "jatos_results_20261121100000.jrzip"
    results = []
    with zipfile.ZipFile(path, "w") as archive:
        for number, person in ((41, "Ann"), (42, "Ben")):
            trials = [
                {key: value for key, value in trial.items() if key != "subject"}
                for trial in jspsych_trials(person)
            ]
            name = f"study_result_{number}/comp-result_{number + 20}/data.txt"
            archive.writestr(name, json.dumps(trials))
            results.append({"id": number, "studyState": "FINISHED", "workerId": number + 100})
        described = {"apiVersion": "1.0.1", "data": [{"studyId": 1, "studyResults": results}]}
        archive.writestr("metadata.json", json.dumps(described))
    return path


def jatos_txt(folder: Path) -> Path:
    path = folder / "jatos_results_data_20261121100000.txt"
    path.write_text("\n".join(json.dumps(jspsych_trials(one)) for one in ("Ann", "Ben")) + "\n")
    return path


def otree(folder: Path) -> Path:
    """oTree 5's table of one app; its pages measured seconds, and one participant was a bot."""
    rows = [
        {"participant.id_in_session": 1, "participant.code": person, "participant.label": "",
         "participant._is_bot": 0, "participant._index_in_pages": 6, "player.id_in_group": 1,
         "player.role": "", "player.payoff": 0.0, "player.item": item, "player.good_side":
         good_side, "player.choice": chosen_side(good_side, right), "player.response_time":
         rt / 1000, "group.id_in_subsession": 1, "subsession.round_number": number % 4 + 1,
         "session.code": "x1y2z3"}
        for number, (person, item, good_side, right, rt) in enumerate(JUDGED)
    ]  # fmt: skip
    bots = [row | {"participant.code": "bot", "participant._is_bot": 1} for row in rows[:4]]
    path = folder / "choices_2026-11-21.csv"
    pd.DataFrame(rows + bots).to_csv(path, index=False)
    return path


def otree_all_apps(folder: Path) -> Path:
    rows = []
    for person in ("Ann", "Ben"):
        row: dict[str, object] = {
            "participant.id_in_session": 1, "participant.code": person, "participant._is_bot": 0,
            "session.code": "x1y2z3", "survey.1.player.age": 30,
        }  # fmt: skip
        own = [one for one in JUDGED if one[0] == person]
        for number, (_, item, good_side, right, rt) in enumerate(own, start=1):
            player = f"choices.{number}.player"
            row |= {
                f"{player}.id_in_group": 1, f"{player}.item": item, f"{player}.good_side":
                good_side, f"{player}.choice": chosen_side(good_side, right),
                f"{player}.response_time": rt / 1000, f"choices.{number}.subsession.round_number":
                number,
            }  # fmt: skip
        rows.append(row)
    path = folder / "all_apps_wide.csv"
    pd.DataFrame(rows).to_csv(path, index=False)
    return path


def psiturk(folder: Path) -> Path:
    lines = []
    for number, (person, item, good_side, right, rt) in enumerate(JUDGED):
        data = {"phase": "TEST", "sentence": item, "good_side": good_side, "rt": rt,
                "response": chosen_side(good_side, right), "hit": right}  # fmt: skip
        lines.append([f"{person}:HIT{person}", number, 1795252800000, json.dumps(data)])
    path = folder / "trialdata.csv"
    pd.DataFrame(lines).to_csv(path, header=False, index=False)
    return path


def gorilla(folder: Path) -> Path:
    """Gorilla's task data: a row for each screen's event, the spreadsheet's columns last."""
    rows = []
    for number, (person, item, good_side, right, rt) in enumerate(JUDGED, start=1):
        shared = {"Event Index": number, "UTC Timestamp": 1795252800000, "Experiment ID": 9,
                  "Tree Node Key": "task-1", "Participant Public ID": "BLIND",
                  "Participant Private ID": f"70{person}", "Participant Status": "complete",
                  "Task Name": "choices", "Trial Number": number}  # fmt: skip
        good, other = OPTIONS[item]
        shown = {"item": item, "left": good if good_side == "left" else other}
        rows += [
            shared | {"Screen Name": "fixation", "Zone Type": "timelimit_screen",
                      "Reaction Time": 500.1, "Response": "", "Correct": ""} | shown,
            shared | {"Screen Name": "choice", "Zone Type": "response_button_text", "Reaction Time":
                      rt, "Response": chosen_text(item, right), "Correct": int(right)} | shown,
            shared | {"Screen Name": "next", "Zone Type": "continue_button", "Reaction Time": 300.5,
                      "Response": "Next", "Correct": ""} | shown,
        ]  # fmt: skip
    rows.append({"Event Index": "END OF FILE"})
    path = folder / "data_exp_9-v1_task-abcd.csv"
    pd.DataFrame(rows).to_csv(path, index=False)
    return path


def qualtrics(folder: Path) -> Path:
    """Qualtrics' table: names, texts and import ids above the responses; pages timed in seconds."""
    items = list(OPTIONS)
    of_items = [name for item in items for name in (item, f"{item}_time_Page Submit")]
    columns = ["StartDate", "Status", "Progress", "Finished", "ResponseId", *of_items]
    texts = ["Start Date", "Response Type", "Progress", "Finished", "Response ID",
             *("Which sentence is better?" for _ in range(2 * len(items)))]  # fmt: skip
    ids = [json.dumps({"ImportId": name}) for name in columns]
    rows = []
    for code, person, status in (
        ("R_0test", "Ben", "Survey Preview"),
        ("R_1a", "Ann", "IP Address"),
        ("R_2b", "Ben", "IP Address"),
    ):
        own = {one[1]: one for one in JUDGED if one[0] == person}
        cells = ["2026-11-21 10:00:00", status, "100", "True", code]
        for item in items:
            _, _, _, right, rt = own[item]
            cells += [chosen_text(item, right), str(rt / 1000)]
        rows.append(cells)
    path = folder / "survey.csv"
    pd.DataFrame([texts, ids, *rows], columns=columns).to_csv(path, index=False)
    return path


def mturk(folder: Path) -> Path:
    """A batch of MTurk: the items of an assignment are numbered, its answers one JSON text."""
    rows = []
    for person in ("Ann", "Ben", "Rob"):
        row = {"HITId": "3X", "HITTypeId": "3T", "Title": "Choose", "AssignmentId": f"3A{person}",
               "WorkerId": person, "AssignmentStatus": "Rejected" if person == "Rob" else
               "Approved", "WorkTimeInSeconds": "90"}  # fmt: skip
        answers: dict[str, object] = {}
        own = [one for one in JUDGED if one[0] == ("Ben" if person == "Rob" else person)]
        for number, (_, item, good_side, right, _) in enumerate(own, start=1):
            good, other = OPTIONS[item]
            row |= {f"Input.item{number}": item,
                    f"Input.left{number}": good if good_side == "left" else other,
                    f"Input.right{number}": other if good_side == "left" else good}  # fmt: skip
            side = chosen_side(good_side, right)
            answers[f"choice{number}"] = {"left": side == "left", "right": side == "right"}
        row["Answer.taskAnswers"] = json.dumps([answers])
        rows.append(row)
    path = folder / "Batch_123_batch_results.csv"
    pd.DataFrame(rows).to_csv(path, index=False, quoting=1)
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
    (jspsych_json, "jsPsych"), (jspsych_csv, "jsPsych"), (ibex, "Ibex"),
    (jatos_zip, "JATOS"), (jatos_txt, "JATOS"), (otree, "oTree"), (otree_all_apps, "oTree"),
    (psiturk, "psiTurk"), (gorilla, "Gorilla"), (qualtrics, "Qualtrics"),
]  # fmt: skip
UNTIMED = [(pcibex, "PCIbex"), (pcibex_farm, "PCIbex"), (mturk, "MTurk batch results")]


@pytest.mark.parametrize(("write", "name"), TIMED + UNTIMED)
def test_format_mapping_and_judgments_are_found_without_a_word(write, name, imported, tmp_path):
    done = imported(write(tmp_path))
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


@pytest.mark.parametrize("write", [one for one, _ in TIMED + UNTIMED])
def test_the_mapping_that_was_found_reads_the_file_again_the_same(write, imported, tmp_path):
    path = write(tmp_path)
    imported(path)
    first = (tmp_path / "out" / "judgments.csv").read_text()
    mapping = tmp_path / "mine.toml"
    mapping.write_text((tmp_path / "out" / "mapping.toml").read_text())
    read_mapping(mapping)
    done = imported(path, "--mapping", str(mapping))
    assert done.exit_code == 0, done.output
    assert (tmp_path / "out" / "judgments.csv").read_text() == first


def test_nothing_is_written_without_a_yes(imported, tmp_path):
    done = imported(jspsych_json(tmp_path), answer="n\n")
    assert done.exit_code == 1
    assert "Write these judgments? [y/N]" in done.output
    assert not (tmp_path / "out").exists()


def test_yes_can_be_said_beforehand(imported, tmp_path):
    assert imported(jspsych_json(tmp_path), "--yes", answer="").exit_code == 0
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
    path, mapping = otree(tmp_path), tmp_path / "seconds.toml"
    imported(path)
    guessed = (tmp_path / "out" / "mapping.toml").read_text()
    mapping.write_text(guessed.replace('rt_unit = "s"\n', ""))
    assert mapping.read_text() != guessed
    with pytest.raises(AnalysisError, match=r"median reaction time is 1\.35 ms"):
        imported(path, "--mapping", str(mapping))
