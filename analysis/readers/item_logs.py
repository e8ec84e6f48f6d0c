"""Read which items a model gets right, from lm-evaluation-harness samples or from scores."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.data.categorical import decode
from analysis.data.join import decisions
from analysis.data.load import load_scores
from analysis.errors import AnalysisError
from experiment.materials.formats.raw import json_lines, read_text

# The harness's metrics of correctness, in order of preference.
METRICS = ("acc", "exact_match", "acc_norm")
PARADIGM = "paradigm"


def read_item_log(path: Path, metric: str = "", by: str = "") -> pd.DataFrame:
    """Read a model's results by item: item_id, text, paradigm and correct.

    Args:
        path: A score file (.parquet), a file of samples (.jsonl), or a folder with such files, one
            for each task.
        metric: The harness's metric; the first of ``METRICS`` by default.
        by: The field of a sample's document that names its paradigm; the task by default.

    Returns:
        item_id, text (a hash of the item where the log has one, to compare), paradigm, correct.

    Raises:
        AnalysisError: The log does not exist, or has no correctness.
    """
    if path.suffix == ".parquet":
        return _of_scores(path)
    files = sorted(path.rglob("samples_*.jsonl")) if path.is_dir() else [path]
    if not files or not all(one.is_file() for one in files):
        raise AnalysisError(
            "there is no log of items",
            where=str(path),
            expected="a score file (.parquet), or samples_*.jsonl as lm_eval --log_samples writes",
        )
    frame = pd.DataFrame([row for one in files for row in _samples(one, metric, by)])
    if doubled := int(frame["item_id"].duplicated().sum()):
        raise AnalysisError(
            f"{doubled} items are there twice",
            where=str(path),
            expected="one log of each task",
            remedy="Name the folder of one evaluation",
        )
    return frame


def _of_scores(path: Path) -> pd.DataFrame:
    found = decode(decisions(load_scores(path))[["item_id", "construction", "correct"]])
    return found.rename(columns={"construction": PARADIGM}).assign(text="")


def _samples(path: Path, metric: str, by: str) -> list[dict[str, object]]:
    task = path.stem.removeprefix("samples_").split("_20")[0]
    seen: dict[str, dict[str, object]] = {}
    for place, sample in json_lines(read_text(path)[0], path):
        number = str(sample.get("doc_id", len(seen)))
        # If several filters answered an item, the first one counts.
        if number not in seen:
            seen[number] = {
                "item_id": f"{task}/{number}",
                "text": str(sample.get("doc_hash", "")),
                PARADIGM: _paradigm(sample, by, task, place),
                "correct": _correct(sample, metric, place),
            }
    return list(seen.values())


def _paradigm(sample: Mapping[str, Any], by: str, task: str, place: str) -> str:
    if not by:
        return task
    document = sample.get("doc")
    if not isinstance(document, dict) or by not in document:
        raise AnalysisError(
            f'the sample\'s document has no "{by}"',
            where=place,
            expected=f"one of: {', '.join(document) if isinstance(document, dict) else 'none'}",
        )
    return str(document[by])


def _correct(sample: Mapping[str, Any], metric: str, place: str) -> bool:
    names: Sequence[str] = (metric,) if metric else METRICS
    name = next((one for one in names if one in sample), "")
    value = sample.get(name)
    if not isinstance(value, int | float) or value not in (0, 1):
        raise AnalysisError(
            f"the sample does not say whether it is right ({name or 'no metric'}: "
            f"{json.dumps(value)})",
            where=place,
            expected=f"1 or 0 under {' or '.join(names)}",
            remedy="Name the metric of the log with --metric",
        )
    return bool(value)


def same_items(logs: Mapping[str, pd.DataFrame]) -> None:
    """Raise an AnalysisError if two logs use one name for different items, or share no item."""
    (first, own), *others = logs.items()
    for name, log in others:
        both = own.merge(log, on="item_id", suffixes=("", "_other"))
        if both.empty:
            raise AnalysisError(
                f"{first} and {name} have no item in common",
                expected="logs of one benchmark",
                remedy="Name files or folders of the same tasks",
            )
        known = both[(both["text"] != "") & (both["text_other"] != "")]
        wrong = known[known["text"] != known["text_other"]]
        if len(wrong):
            raise AnalysisError(
                f"{len(wrong)} items of {first} and {name} have one name and other contents, the "
                f"first {wrong['item_id'].iloc[0]}",
                expected="logs of the same version of the benchmark",
            )
