"""JATOS: an archive of results, each in JSON or CSV."""

import json
import re
import zipfile
from collections.abc import Iterator, Mapping
from io import StringIO
from pathlib import Path, PurePosixPath

import pandas as pd

from analysis.readers.json_trials import extract_trials, trials_as_text
from analysis.readers.program import Program
from analysis.readers.programs.jspsych import empty_null_cells

_STUDY_RESULT = re.compile(r"study_result_(\d+)")
# The fields of a study result in the archive's description.
_FIELDS = ("workerId", "studyState")


def _read_archive(path: Path) -> pd.DataFrame:
    """Return the trials of all component results in an archive.

    ``study_result`` identifies the participant; ``workerId`` and ``studyState`` are added if the
    archive describes its results.

    Raises:
        ValueError: The archive has no result, or a result that is neither JSON nor CSV.
    """
    trials: list[dict[str, object]] = []
    with zipfile.ZipFile(path) as archive:
        fields_by_result = _read_result_fields(archive)
        for name in sorted(archive.namelist(), key=_numbers_in_name):
            result = _STUDY_RESULT.search(name)
            if result and PurePosixPath(name).name == "data.txt":
                about = {"study_result": result[1], **fields_by_result.get(result[1], {})}
                text = archive.read(name).decode("utf-8-sig")
                trials += [about | trial for trial in _parse_trials(text, name)]
    if not trials:
        raise ValueError("the archive holds no study_result_.../.../data.txt with trials")
    return empty_null_cells(trials_as_text(trials))


def _numbers_in_name(name: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", name)]


def _parse_trials(text: str, name: str) -> Iterator[dict[str, object]]:
    if not text.strip():
        return
    if text.lstrip().startswith(("[", "{")):
        decoder, place = json.JSONDecoder(), 0
        # A component may have written several texts in a row.
        while remaining := text[place:].lstrip():
            document, place = decoder.raw_decode(text, len(text) - len(remaining))
            yield from extract_trials(document)
    elif "," in text.split("\n", 1)[0]:
        frame = pd.read_csv(StringIO(text), dtype=str, keep_default_na=False)
        yield from frame.rename(columns=str).to_dict("records")  # type: ignore[misc]
    else:
        raise ValueError(f"{name} holds neither JSON nor CSV")


def _read_result_fields(archive: zipfile.ZipFile) -> Mapping[str, dict[str, object]]:
    """Return the fields of each study result in metadata.json, by the result's number."""
    if "metadata.json" not in archive.namelist():
        return {}
    content = json.loads(archive.read("metadata.json"))
    results = [
        study_result
        for study in content.get("data", [])
        for study_result in study.get("studyResults", [])
    ]
    return {str(result["id"]): {k: result[k] for k in _FIELDS if k in result} for result in results}


PROGRAM = Program(
    name="JATOS",
    documentation="| JATOS 3 | a results archive (`.jrzip`, `.zip`), where `study_result` "
    "identifies participants; or plain text (`.txt`) with one result after the other (JSON or "
    "CSV), numbered in `result` |",
    suffixes=(".zip", ".jrzip"),
    read_file=_read_archive,
)
