"""Mechanical Turk batch results: one row per assignment."""

import json
import re
from collections.abc import Iterator

import pandas as pd

from analysis.readers.program import Program

_ANSWERS = "Answer.taskAnswers"
_OPTION = re.compile(r"(Answer\..+)\.([^.]+)")


def _assignments(table: pd.DataFrame) -> pd.DataFrame:
    """Return the assignments, with one column per answer.

    Crowd-element forms give one JSON text for all answers; radio buttons give one true/false column
    per option. Both become ``Answer.NAME`` with the option's value.
    """
    found = table
    if _ANSWERS in found:
        answers = pd.DataFrame([dict(_answers(text)) for text in found[_ANSWERS]], found.index)
        found = found.drop(columns=_ANSWERS).join(answers.fillna(""))
    options: dict[str, list[tuple[str, str]]] = {}
    for column in found.columns:
        if (named := _OPTION.fullmatch(column)) and _is_truth(found[column]):
            options.setdefault(named[1], []).append((named[2], column))
    for answer, several in options.items():
        found[answer] = ""
        for option, column in several:
            found.loc[found[column].str.lower() == "true", answer] = option
        found = found.drop(columns=[column for _, column in several])
    return found


def _is_truth(values: "pd.Series[str]") -> bool:
    return set(values.str.lower()) <= {"true", "false", ""}


def _answers(text: str) -> Iterator[tuple[str, str]]:
    for answers in json.loads(text or "[]"):
        for name, value in answers.items():
            if isinstance(value, dict):
                value = next((option for option, on in value.items() if on is True), "")
            yield f"Answer.{name}", str(value)


PROGRAM = Program(
    name="MTurk batch results",
    documentation="| MTurk | batch results; `Answer.taskAnswers` and radio buttons become one "
    "column per answer; rejected assignments are left out |",
    columns=("WorkerId", "AssignmentId"),
    tidy=_assignments,
)
