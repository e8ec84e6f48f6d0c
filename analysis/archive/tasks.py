"""Write the judged items as tasks for two evaluation programs, with participants' choices.

The task for lm-evaluation-harness compares two log-likelihoods; the task for Inspect is a prompt.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml

from analysis.archive.metadata import Metadata
from analysis.archive.shown import JudgedItem

DATA = "items.jsonl"
# The fields about participants in each item of both tasks.
_INSPECT = '''\
"""The items of {name} as a task of Inspect: inspect eval {name}.py --model MODEL.

Each sample's metadata have `human_share`, the share of people who chose the expected option,
`human_n`, and `human_ceiling`, the share with which a judge of one answer can agree at most.
"""
# Licences: {licences!r}

from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import FieldSpec, json_dataset
from inspect_ai.scorer import choice
from inspect_ai.solver import multiple_choice

HERE = Path(__file__).parent


@task
def {name}() -> Task:
    fields = FieldSpec(
        id="item_id",
        metadata=[
            "construction", "condition", "human_share", "human_n", "human_ceiling", "simulated"
        ],
    )
    return Task(
        dataset=json_dataset(str(HERE / "{data}"), fields),
        solver=multiple_choice(),
        scorer=choice(),
    )
'''


def write_tasks(items: Sequence[JudgedItem], about: Metadata, folder: Path) -> None:
    """Write both tasks with their data, each into its own folder."""
    simulated = bool(about.provenance["simulated"])
    _write_lm_eval(items, about, folder / "lm_eval", simulated=simulated)
    _write_inspect(items, about, folder / "inspect", simulated=simulated)


def _human_fields(item: JudgedItem, *, simulated: bool) -> dict[str, object]:
    return {
        "item_id": item.item_id,
        "construction": item.construction,
        "condition": item.condition,
        "human_share": round(item.share, 6),
        "human_n": item.n,
        "human_ceiling": round(item.ceiling, 6),
        "simulated": simulated,
    }


def _write_lm_eval(
    items: Sequence[JudgedItem], about: Metadata, folder: Path, *, simulated: bool
) -> None:
    folder.mkdir()
    name = about.study.name
    # The expected option comes second: if scores are equal, the harness takes the first
    # option, so a tie counts as wrong, as in Parallax.
    rows = [
        {
            **_human_fields(item, simulated=simulated),
            "context": item.context,
            "choices": [item.other, item.good],
        }
        for item in items
    ]
    _write_lines(rows, folder / DATA)
    task = {
        "task": name,
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": DATA}},
        "test_split": "test",
        "output_type": "multiple_choice",
        "doc_to_text": "{{context}}",
        "doc_to_choice": "choices",
        "doc_to_target": 1,
        "target_delimiter": " " if any(item.context for item in items) else "",
        "num_fewshot": 0,
        "metric_list": [{"metric": "acc", "aggregation": "mean", "higher_is_better": True}],
        "metadata": {"version": 1.0, "licences": _name_licences(about)},
    }
    text = yaml.safe_dump(task, sort_keys=False, allow_unicode=True)
    head = (
        "# lm_eval --tasks " + name + " --include_path THIS_FOLDER, started in this folder.\n"
        "# human_share, human_n and human_ceiling of each item stand in " + DATA + ".\n"
    )
    (folder / f"{name}.yaml").write_text(head + text, "utf-8", newline="\n")


def _write_inspect(
    items: Sequence[JudgedItem], about: Metadata, folder: Path, *, simulated: bool
) -> None:
    folder.mkdir()
    question = f"{about.study.study.title}\n\nAnswer by the letter of one option."
    rows = []
    for item in items:
        # In half of the items, selected by id, the expected option comes first.
        good_first = hashlib.sha256(item.item_id.encode()).digest()[0] % 2 == 0
        choices = [item.good, item.other] if good_first else [item.other, item.good]
        context_line = f"{item.context} ...\n\n" if item.context else ""
        rows.append(
            {
                **_human_fields(item, simulated=simulated),
                "input": f"{context_line}{question}",
                "choices": choices,
                "target": "A" if good_first else "B",
            }
        )
    _write_lines(rows, folder / DATA)
    name = about.study.name
    code = _INSPECT.format(name=name, data=DATA, licences=_name_licences(about))
    (folder / f"{name}.py").write_text(code, "utf-8", newline="\n")


def _name_licences(about: Metadata) -> str:
    return about.statements.get("Licences", about.about.license)


def _write_lines(rows: Sequence[Mapping[str, object]], path: Path) -> None:
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
    path.write_text("".join(lines), "utf-8", newline="\n")
