"""Check who answered in a run's tables: only human participants, or only models."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from analysis.errors import AnalysisError
from experiment.tables.column import JUDGE, MODEL


def of_one_kind(
    tables: Mapping[str, pd.DataFrame], folder: Path, *, models: bool
) -> dict[str, pd.DataFrame]:
    """Remove the column for the kind of judge, after checking that all rows have the expected kind.

    Args:
        tables: The run's tables by name, each with that column.
        folder: The folder of the tables, for messages.
        models: Whether to expect model participants instead of human ones.

    Raises:
        AnalysisError: A row is of another kind of judge.
    """
    by_models = {
        name: (frame[JUDGE.name] == MODEL).to_numpy(bool) for name, frame in tables.items()
    }
    for name, is_model in by_models.items():
        if is_model.any() and not is_model.all():
            raise AnalysisError(
                f'the table "{name}" mixes judges: {int(is_model.sum())} of '
                f"{len(is_model)} rows are a language model's, the others people's",
                where=str(folder),
                expected="rows of people alone, or of models alone",
                remedy="Export the run again, and keep takers' folders apart from it",
            )
    for name, is_model in by_models.items():
        if is_model.size and is_model.any() != models:
            raise _other_kind(name, folder, models=models)
    return {name: frame.drop(columns=JUDGE.name) for name, frame in tables.items()}


def _other_kind(name: str, folder: Path, *, models: bool) -> AnalysisError:
    if models:
        return AnalysisError(
            f"the table \"{name}\" holds people's answers, not a model's",
            where=str(folder),
            expected="a folder that `parallax take` wrote",
            remedy="Give people's runs with --run",
        )
    return AnalysisError(
        f"the table \"{name}\" holds a language model's answers, not people's",
        where=str(folder),
        expected="a folder that `parallax export RUN` wrote",
        remedy="Give takers' folders with --takers beside the run of people",
    )
