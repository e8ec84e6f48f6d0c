"""Predictions of the BabyLM evaluation: the texts that a model preferred, without scores."""

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from analysis.errors import AnalysisError

_PACKED = b"\x1f\x8b"
_LARGEST_BYTES = 64 * 1024 * 1024
_KEY = "predictions"


def refuse_predictions(path: Path) -> None:
    """Refuse a file of predictions by task and subtask: nothing in it can be scored.

    Raises:
        AnalysisError: The file holds such predictions.
    """
    subtasks = Counter(_list_tasks(_read_json(path)))
    if not subtasks:
        return
    listed = ", ".join(f"{task} ({n})" for task, n in subtasks.items())
    raise AnalysisError(
        "the file holds predictions of the BabyLM evaluation: of each item the text that the model "
        f"preferred, or the label that it chose. The tasks, with their number of subtasks, are "
        f"{listed}. Missing is the "
        "log-probability of each item's two texts",
        where=str(path),
        expected="scores of both texts",
        remedy="Score the items with the model: `parallax lm benchmark ITEMS MODEL`; or import the "
        "samples that `lm_eval --log_samples` writes",
    )


def _read_json(path: Path) -> list[object]:
    """Return the objects in a file, one or one in each line; nothing if it is not JSON."""
    if path.suffix.lower() not in (".json", ".jsonl", ".gz") or not path.is_file():
        return []
    with path.open("rb") as file:
        is_packed = file.read(2) == _PACKED
    try:
        with gzip.open(path, "rb") if is_packed else path.open("rb") as file:
            content = file.read(_LARGEST_BYTES + 1)
        text = content[:_LARGEST_BYTES].decode("utf-8")
        lines = text.splitlines() if text.startswith('{"task"') else [text]
        return [json.loads(line) for line in lines if line.strip()]
    except (OSError, EOFError, ValueError, RecursionError):
        return []


def _list_tasks(objects: list[object]) -> Iterator[str]:
    """Yield the task of each subtask with predictions."""
    for content in objects:
        if not isinstance(content, dict):
            continue
        if _KEY in content and "task" in content:
            yield str(content["task"])
            continue
        for task, subtasks in content.items():
            for subtask in subtasks.values() if isinstance(subtasks, dict) else ():
                if isinstance(subtask, dict) and _KEY in subtask:
                    yield str(task)
