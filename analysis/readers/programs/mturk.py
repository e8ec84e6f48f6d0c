"""Mechanical Turk batch results: one row per assignment."""

import json
import re
from collections.abc import Iterator

import pandas as pd

from analysis.readers.program import Program

_ANSWERS_COLUMN = "Answer.taskAnswers"
_OPTION = re.compile(r"(Answer\..+)\.([^.]+)")


def _tidy_assignments(table: pd.DataFrame) -> pd.DataFrame:
    """Return the assignments, with one column per answer.

    Crowd-element forms give one JSON text for all answers; radio buttons give one true/false column
    per option. Both become ``Answer.NAME`` with the option's value.
    """
    assignments = table
    if _ANSWERS_COLUMN in assignments:
        answers = pd.DataFrame(
            [dict(_parse_answers(text)) for text in assignments[_ANSWERS_COLUMN]], assignments.index
        )
        assignments = assignments.drop(columns=_ANSWERS_COLUMN).join(answers.fillna(""))
    options: dict[str, list[tuple[str, str]]] = {}
    for column in assignments.columns:
        if (option_match := _OPTION.fullmatch(column)) and _is_truth_column(assignments[column]):
            options.setdefault(option_match[1], []).append((option_match[2], column))
    for answer, several in options.items():
        assignments[answer] = ""
        for option, column in several:
            assignments.loc[assignments[column].str.lower() == "true", answer] = option
        assignments = assignments.drop(columns=[column for _, column in several])
    return assignments


def _is_truth_column(values: "pd.Series[str]") -> bool:
    return set(values.str.lower()) <= {"true", "false", ""}


def _parse_answers(text: str) -> Iterator[tuple[str, str]]:
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
    tidy=_tidy_assignments,
)
