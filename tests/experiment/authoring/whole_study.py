"""A study folder with everything a study can have, to spoil in one place at a time."""

import shutil
from pathlib import Path

from experiment.studies.load import STUDIES_FOLDER

STUDY = """\
response = "sentence_pair"

[study]
name = "whole"
title = "Which sentence sounds better?"
version = "1.0"
language = "en"

[materials]
items = "items.tsv"
shown_to_people = "as_written"
given_to_models = "lower_case_tokens"

[design]
lists = 2
participants_per_list = 4
trials_per_list = 10
lease_minutes = 60
separate = "construction"

[[design.squares]]
templates = ["agreement"]
frames = 4

[[design.squares]]
templates = ["question"]
frames = 4

[[design.squares]]
templates = ["filler"]
frames = 4
catch_trials = 2

[trial]
keys = ["f", "j"]
lockout_ms = 150
break_every = 5
practice = "practice.toml"

[[exclusion]]
rule = "max_errors"
construction = "filler"
max_errors = 0

[[exclusion]]
rule = "max_error_rate"
construction = "agreement"
max_error_rate = 0.5

[[questionnaire]]
name = "native_language"
label = "What is your native language?"
type = "choice"
options = ["English", "another one"]
required = true

[[questionnaire]]
name = "age"
label = "How old are you?"
type = "number"

[simulation]
mix = { accurate = 0.9, guessing = 0.1 }
median_rt_ms = 3000

[recruitment]
description = "Choose the better sentence of each pair."
reward = "0.50"
median_minutes = 2
duration_minutes = 30
countries = ["US", "GB"]
min_approval_percent = 95
require = ["AAA"]

[payment]
bonus = "per_correct_catch_trial"
bonus_amount = "0.01"

[[constructions]]
name = "agreement"
title = "Agreement"
group = "Targets"

[[constructions]]
name = "question"
title = "Questions"

[[constructions]]
name = "filler"
title = "Fillers"
"""

PRACTICE = """\
[[practice]]
good = "The dog barks."
bad = "The dog bark."
feedback = "One dog barks."
"""

PUBLISHED = """\
table,construction,condition,judge,accuracy,source,note
1,agreement,,people,0.95,me,
1,question,sg,people,0.9,me,
1,question,pl,people,0.9,me,
1,filler,,people,0.99,me,
"""

_HEADER = (
    "item_id", "kind", "construction", "condition", "template", "features", "frame", "context",
    "good", "bad", "distractor", "contrast", "zipf",
)  # fmt: skip


def _rows() -> list[list[str]]:
    rows = []
    for n in range(1, 5):
        for condition, verb, wrong in (("sg", "sleeps", "sleep"), ("pl", "sleep", "sleeps")):
            noun = f"noun{'s' if condition == 'pl' else ''}"
            rows.append([f"agreement-{n}-{condition}", "target", "agreement", condition,
                         "agreement", f"number={condition}", f"N=n{n}", "",
                         f"The {noun} {n} {verb}.", f"The {noun} {n} {wrong}.", "", "bad",
                         "4.1"])  # fmt: skip
            rows.append([f"question-{n}-{condition}", "target", "question", condition, "question",
                         f"number={condition}", f"N=n{n}", "", f"Which {noun} {verb} in {n}?",
                         f"Which {noun} {wrong} in {n}?", "", "bad", "4.1"])  # fmt: skip
        rows.append([f"filler-{n}", "filler", "filler", "all", "filler", "condition=all", f"N=n{n}",
                     "", f"It rains in {n}.", f"Rains it in {n}.", "", "bad", "4.1"])  # fmt: skip
    return rows


def write_whole_study(folder: Path) -> Path:
    """Write the study and return its folder."""
    texts = folder / "texts" / "en"
    texts.mkdir(parents=True)
    for page in ("consent", "instructions", "debrief"):
        (texts / f"{page}.md").write_text(f"# {page}\n\nA text.\n", encoding="utf-8")
    shutil.copy(STUDIES_FOLDER / "minimal/texts/en/consent.md", texts)
    (folder / "study.toml").write_text(STUDY, encoding="utf-8")
    (folder / "practice.toml").write_text(PRACTICE, encoding="utf-8")
    (folder / "published.csv").write_text(PUBLISHED, encoding="utf-8")
    lines = ["\t".join(row) for row in (list(_HEADER), *_rows())]
    (folder / "items.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder
