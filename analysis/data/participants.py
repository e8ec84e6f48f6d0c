"""What the study's design knows of participants: factors between them, answers it chose."""

import pandas as pd

from analysis.data.load import ExportedRun
from analysis.data.own_columns import PREFIX
from experiment.studies.study import Study


def columns_of_participants(study: Study) -> tuple[str, ...]:
    """Return the columns of judgments that are the same in all of a participant's."""
    asked = {question.name for question in study.questionnaire}
    chosen = [name for name in study.analysis.covariates if name in asked]
    return tuple(f"{PREFIX}{name}" for name in (*study.design.factors, *chosen))


def with_participants(judgments: pd.DataFrame, run: ExportedRun) -> pd.DataFrame:
    """Return judgments with the levels of factors between participants, and chosen answers.

    Each is called ``own_`` and its name, as own columns of items are; answers are numbers where
    every one is. A level is empty where nobody knows the participant's list.
    """
    found = {}
    for name in run.study.design.factors:
        lists = judgments["list"].dropna().unique().tolist()
        levels = {one: run.study.design.levels(int(one))[name] for one in lists}
        found[f"{PREFIX}{name}"] = judgments["list"].map(levels).fillna("").astype("category")
    people = judgments["participant"].astype(str)
    for column in columns_of_participants(run.study)[len(found) :]:
        answers = _answers(run, column.removeprefix(PREFIX))
        values = people.map(answers)
        numbers = pd.to_numeric(values, errors="coerce")
        known = values.notna() & (values != "")
        whole = bool(numbers[known].notna().all())
        found[column] = numbers if whole else values.fillna("").astype("category")
    return judgments.assign(**found)


def _answers(run: ExportedRun, field: str) -> dict[str, str]:
    if run.answers is None:
        return {}
    rows = run.answers[run.answers["field"] == field]
    return dict(zip(rows["participant"].astype(str), rows["value"].astype(str), strict=True))
