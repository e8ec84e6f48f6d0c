"""Peculiarities of the tables of crowdsourcing and survey platforms, corrected."""

import json
import re
from collections.abc import Iterator

import pandas as pd

_ANSWERS = "Answer.taskAnswers"
_OPTION = re.compile(r"(Answer\..+)\.([^.]+)")
_PREVIEW = "preview"
_OTREE_ROUND = re.compile(r"(.+)\.(\d+)\.(player|group|subsession)\.(.+)")


def qualtrics(table: pd.DataFrame) -> pd.DataFrame:
    """Return the responses: below the names stand the questions' texts and ids, and previews."""
    ids = table["ResponseId"].str.contains("ImportId", regex=False)
    first = int(ids.to_numpy().argmax()) + 1 if ids.any() else 0
    found = table.iloc[first:]
    # What its own author clicked through: the status is written in the author's language.
    if "DistributionChannel" in found:
        found = found[found["DistributionChannel"] != _PREVIEW]
    if "Status" in found:
        found = found[~found["Status"].isin(["Survey Preview", "1"])]
    return found.reset_index(drop=True)


def jspsych(table: pd.DataFrame) -> pd.DataFrame:
    """Return the trials with empty cells where nobody answered; its CSV writes "null" there."""
    return table.replace("null", "") if "trial_type" in table else table


def gorilla(table: pd.DataFrame) -> pd.DataFrame:
    """Return the events, without the line that ends the file."""
    return table[table.iloc[:, 0] != "END OF FILE"].reset_index(drop=True)


def mturk(table: pd.DataFrame) -> pd.DataFrame:
    """Return the assignments with a column for each answer.

    Forms of crowd elements give one JSON text for all answers, radio buttons one column of true
    and false for each option: both become ``Answer.NAME`` with the option's value.
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


def otree(table: pd.DataFrame) -> pd.DataFrame:
    """Return one row per player and round; the table of all apps has one row per participant."""
    if any(name.startswith("player.") for name in table.columns):
        return table
    rounds: dict[tuple[str, int], dict[str, str]] = {}
    for column in table.columns:
        if named := _OTREE_ROUND.fullmatch(column):
            app, number, model, field = named.groups()
            rounds.setdefault((app, int(number)), {})[column] = f"{model}.{field}"
    shared = [name for name in table.columns if name.startswith(("participant.", "session."))]
    blocks = [
        table[[*shared, *columns]].rename(columns=columns).assign(app=app)
        for (app, _), columns in rounds.items()
    ]
    return pd.concat(blocks, ignore_index=True).fillna("") if blocks else table
