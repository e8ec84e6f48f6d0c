"""What the columns of a table of reading times mean, and what is compared."""

import tomllib
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from analysis.errors import AnalysisError
from analysis.readers.mapping import Rows
from experiment.errors import wrong_keys
from experiment.studies.analysis_plan import Analysis, Comparison

NEEDED = ("participant", "item", "rt_ms")
# Columns that are taken by these names where the mapping does not name them. The others are taken
# only where it does: a "correct" or "region" of somebody else may mean anything.
USUAL = (*NEEDED, "condition", "position", "text")
ROLES = (
    *USUAL, "text_id", "construction", "trial", "region", "critical", "distractor", "correct",
    "question_correct",
)  # fmt: skip
CRITICAL = "critical"
# An item may have several texts in a condition, where a column tells them apart.
TEXT = ["construction", "item", "condition", "text_id"]
TRIAL = ["participant", *TEXT]


class TimesMapping(BaseModel):
    """What the columns of a table of reading times mean, and what is compared.

    Attributes:
        columns: The table's column for each of ours. With ``{n}`` in that of ``rt_ms`` (and of
            ``text`` or ``correct``), a row is a whole trial.
        item_columns: Columns of the table that become columns of the items: factors, predictors.
        levels: For a new column of the items, the level of each condition.
        critical: The critical region, by its number or by its name in the column ``region``; a
            table of them where it depends on the condition. Without it, the column ``critical``.
        keep: Rows to keep: for each column of the table, the value or values.
        drop: Rows to leave out.
        rt_unit: The unit of the times.
        wrong_answers: Whether trials whose question was answered wrongly count.
        analysis: As in study.toml.
        comparisons: As in study.toml.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    columns: dict[str, str] = {}
    item_columns: list[str] = []
    levels: dict[str, dict[str, str]] = {}
    critical: str | int | dict[str, str | int] = ""
    keep: Rows = {}
    drop: Rows = {}
    rt_unit: Literal["ms", "s"] = "ms"
    wrong_answers: Literal["keep", "drop"] = "keep"
    analysis: Analysis = Analysis()
    comparisons: list[Comparison] = []


def read_times_mapping(path: Path | None) -> TimesMapping:
    """Read a mapping file; without one, columns have our names.

    Raises:
        AnalysisError: The file is missing, not TOML, or has an unknown key.
    """
    if path is None:
        return TimesMapping()
    try:
        mapping = TimesMapping.model_validate(tomllib.loads(path.read_text("utf-8")))
        if unknown := [name for name in mapping.columns if name not in ROLES]:
            raise ValueError(
                f"{unknown[0]} is not known as a column of reading times, but {', '.join(ROLES)}"
            )
    except (OSError, ValueError, RecursionError, ValidationError) as error:
        reason = wrong_keys(error) if isinstance(error, ValidationError) else error
        raise AnalysisError(
            f"the mapping of reading times cannot be read ({reason})",
            where=str(path),
            expected=f"TOML with the tables {', '.join(TimesMapping.model_fields)}",
            remedy="docs/reading.md shows one",
        ) from error
    return mapping


def spoken_values(meaning: TimesMapping) -> set[str]:
    """Return the texts of the table that the mapping speaks of: they are values, and no marks."""
    critical = meaning.critical
    named = critical.values() if isinstance(critical, dict) else [critical]
    levels = [*meaning.levels.values()]
    return {*map(str, named), *(value for table in levels for value in table)}
