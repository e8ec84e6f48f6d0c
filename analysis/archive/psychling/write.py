"""Write a PsychLing-101 folder, using the scripts that the folder contains."""

import json
import shutil
from pathlib import Path

from analysis.archive.metadata import Metadata
from analysis.archive.package import Package
from analysis.archive.psychling import generate_prompts, preprocess_data
from analysis.archive.shown import list_shown_texts
from analysis.archive.traces import Rows, escape_texts
from experiment.records import SIDES
from experiment.responses.registry import known_response
from experiment.studies.study import Study
from experiment.tables.column import Column, TableSchema
from experiment.tables.files import write_table

_COPIED_TABLES = ("items", "trials", "responses", "participants", "verdicts")
_TEXTS = TableSchema(
    "texts",
    "Each version of each item as it was shown.",
    ("item_id", "version"),
    (
        Column("item_id", "string", "the item's id within the study"),
        Column("version", "string", "the version"),
        Column("text", "string", "the text on the screen"),
    ),
)
_README = """\
# {title}

{description}

{citation}

`original_data` holds the tables of the export that the scripts need, with participants under random
references. `preprocess_data.py` makes `processed_data/exp1.csv` and `CODEBOOK.csv`,
`generate_prompts.py` makes `prompts.jsonl.zip`; both need Python alone. In prompts the options bear
letters drawn for each participant; `exp1.csv` keeps the labels of the screen.
"""


def write_psychling(package: Package, rows: Rows, about: Metadata, folder: Path) -> None:
    """Write the folder: original data, scripts, and the scripts' output."""
    original = folder / "original_data"
    original.mkdir(parents=True)
    for table in package.tables:
        if table.name in _COPIED_TABLES:
            write_table(table, escape_texts(rows)(table), original / f"{table.name}.csv")
    write_table(_TEXTS, list_shown_texts(package, about.study), original / "texts.csv")
    (original / "study.json").write_text(_study_json(about), "utf-8", newline="\n")
    for script in (preprocess_data, generate_prompts):
        source = Path(str(script.__file__))
        shutil.copyfile(source, folder / source.name)
        script.main(folder)
    text = _README.format(title=about.title, description=about.description, citation=about.citation)
    (folder / "README.md").write_text(text, "utf-8", newline="\n")


def _study_json(about: Metadata) -> str:
    study = about.study
    answers: list[str] = []
    labels = list(study.trial.keys)
    if points := _scale_points(study):
        labels = answers = [str(n) for n in range(1, points + 1)]
    elif study.response == "yes_no":
        answers = ["yes", "no"]
    content = {
        "experiment": f"{study.name}/exp1",
        "instructions": study.text("instructions").strip(),
        "labels": labels,
        "answers": answers,
        "sides": [str(side) for side in SIDES],
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _scale_points(study: Study) -> int:
    """Return the points of the scale (the first of several scales); 0 if nothing is rated."""
    return int(getattr(known_response(study), "points", 0))
