"""Trials as browsers record them in JSON: jsPsych, psiTurk, lines of texts, JATOS's archives."""

import csv
import json
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from io import StringIO
from pathlib import Path, PurePosixPath
from typing import Any, TypeGuard

import pandas as pd

# psiTurk's trialdata.csv has no header; what the experiment recorded stands in the last column.
_PSITURK = ("uniqueid", "current_trial", "recorded_ms", "data")
RESULT = "result"
_STUDY_RESULT = re.compile(r"study_result_(\d+)")
# What the archive's description says of a study result, under the names it uses.
_DESCRIBED = ("workerId", "studyState")


def as_text(trials: Iterable[Mapping[Any, object]]) -> pd.DataFrame:
    """Return trials as a table of texts, a missing value as empty text.

    What is nested is named by its path: ``{"response": {"Q0": "a"}}`` has the column
    ``response.Q0``.
    """
    rows = [dict(_flat(trial)) for trial in trials]
    # As objects: whole numbers next to missing ones would become decimals, "1" in one file and
    # "1.0" in the next.
    table = pd.DataFrame(rows, dtype=object)
    return table.map(lambda value: "" if _missing(value) else _text(value))


def _flat(trial: Mapping[Any, object], before: str = "") -> Iterator[tuple[str, object]]:
    for key, value in trial.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{key}.")
        else:
            yield f"{before}{key}", value


def _missing(value: object) -> bool:
    return value is None or value != value


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list) else str(value)


def read_json(text: str) -> tuple[pd.DataFrame, bool]:
    """Return the trials of JSON, and whether there were several results, one below the other.

    A result is a list of trials, a trial, or an object that holds the list under ``trials`` or
    ``data``. JATOS writes one result after the other, each on lines of its own; the column
    ``result`` numbers them. Single trials, one after the other, are not numbered.
    """
    results = list(_documents(text))
    single = [one for one in results if _is_trial(one)]
    if 1 < len(single) == len(results):
        # Whose trials they are, their order does not tell.
        return as_text(single), False
    return numbered(results), len(results) > 1


def _is_trial(document: object) -> TypeGuard[dict[str, object]]:
    return isinstance(document, dict) and not any(_is_trials(one) for one in document.values())


def numbered(results: Iterable[object]) -> pd.DataFrame:
    """Return the trials of several results, with the column ``result`` from 1."""
    return as_text(
        {RESULT: number} | trial
        for number, one in enumerate(results, start=1)
        for trial in trials_of(one)
    )


def trials_of(result: object) -> Iterator[dict[str, object]]:
    """Yield the trials of a result, whichever list or object holds them.

    Raises:
        ValueError: It holds something else.
    """
    if isinstance(result, list):
        for one in result:
            yield from trials_of(one)
    elif isinstance(result, dict):
        held = next(
            (result[key] for key in ("trials", "data") if _is_trials(result.get(key))), None
        )
        if held is None:
            yield result
            return
        shared = {key: value for key, value in result.items() if value is not held}
        for trial in trials_of(held):
            yield {**shared, **trial}
    else:
        raise ValueError(f"a trial must be a JSON object, not {str(result)[:40]}")


def _is_trials(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)


def _documents(text: str) -> Iterator[object]:
    decoder, place = json.JSONDecoder(), 0
    while rest := text[place:].lstrip():
        place = len(text) - len(rest)
        found, place = decoder.raw_decode(text, place)
        yield found


def is_psiturk(text: str) -> bool:
    """Return whether a text is psiTurk's trial data: four columns, JSON in the last."""
    first = next(csv.reader(StringIO(text)), [])
    return len(first) == len(_PSITURK) and first[-1].startswith(("{", "["))


def psiturk(text: str) -> pd.DataFrame:
    """Return psiTurk's trials: its own columns, then what the experiment recorded of each.

    What was recorded as a list has the columns ``data_1``, ``data_2`` and so on.
    """
    rows = [dict(zip(_PSITURK, row, strict=True)) for row in csv.reader(StringIO(text)) if row]
    return as_text([row | _recorded(json.loads(row.pop("data"))) for row in rows])


def _recorded(data: object) -> dict[str, object]:
    if isinstance(data, dict):
        return data
    values = data if isinstance(data, list) else [data]
    return {f"data_{number}": value for number, value in enumerate(values, start=1)}


def read_archive(path: Path) -> pd.DataFrame:
    """Return the trials of every component result of an archive.

    ``study_result`` tells the participants apart; ``workerId`` and ``studyState`` stand next to it
    where the archive describes its results.

    Raises:
        ValueError: The archive holds no result, or one that is neither JSON nor CSV.
    """
    trials: list[dict[str, object]] = []
    with zipfile.ZipFile(path) as archive:
        described = _described(archive)
        for name in sorted(archive.namelist(), key=_by_numbers):
            result = _STUDY_RESULT.search(name)
            if result and PurePosixPath(name).name == "data.txt":
                about = {"study_result": result[1], **described.get(result[1], {})}
                text = archive.read(name).decode("utf-8-sig")
                trials += [about | trial for trial in _trials(text, name)]
    if not trials:
        raise ValueError("the archive holds no study_result_.../.../data.txt with trials")
    return as_text(trials)


def _by_numbers(name: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", name)]


def _trials(text: str, name: str) -> Iterator[dict[str, object]]:
    if not text.strip():
        return
    if text.lstrip().startswith(("[", "{")):
        decoder, place = json.JSONDecoder(), 0
        # A component may have appended several texts.
        while rest := text[place:].lstrip():
            found, place = decoder.raw_decode(text, len(text) - len(rest))
            yield from trials_of(found)
    elif "," in text.split("\n", 1)[0]:
        frame = pd.read_csv(StringIO(text), dtype=str, keep_default_na=False)
        yield from frame.rename(columns=str).to_dict("records")  # type: ignore[misc]
    else:
        raise ValueError(f"{name} holds neither JSON nor CSV")


def _described(archive: zipfile.ZipFile) -> Mapping[str, dict[str, object]]:
    """Return what metadata.json says of each study result, by its number."""
    if "metadata.json" not in archive.namelist():
        return {}
    content = json.loads(archive.read("metadata.json"))
    results = [one for study in content.get("data", []) for one in study.get("studyResults", [])]
    return {str(one["id"]): {k: one[k] for k in _DESCRIBED if k in one} for one in results}
