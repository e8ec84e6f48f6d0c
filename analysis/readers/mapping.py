"""Mapping files: the meaning of the columns in a table of judgments."""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from analysis.errors import AnalysisError
from experiment.errors import wrong_keys

LONG = (
    "judge", "participant", "list", "item", "construction", "condition",
    "option_first", "good_side", "chosen", "correct", "version", "rating", "said_yes", "rt_ms",
    "kept",
)  # fmt: skip
UNITS = {"ms": 1.0, "s": 1_000.0}
NUMBER, ITEM = "{n}", "{item}"

Rows = dict[str, str | list[str]]


class Meaning(BaseModel):
    """A mapping file: the meaning of a table's columns and values.

    Attributes:
        columns: The source's column for each Parallax column; columns that already have Parallax's
            name may be omitted. With ``wide``, numbered columns are written with ``{n}``, columns
            named after items with ``{item}``. In place of a choice, ``rating`` or ``said_yes`` is
            the answer to one sentence, and ``version`` is the version shown, or its text.
        values: For each Parallax column, a table from the source's values to Parallax's, such as
            "sentence A" to "good". ``*`` matches any text: "1. *" to "first". Entries without ``*``
            take precedence.
        item_from: Columns whose texts, joined by "-", form the item id, if no column contains the
            id.
        item_by_texts: Columns with the item's two options, which identify the item if no id exists;
            or one column with one of the options.
        wide: Whether one row contains a whole session.
        keep: Rows of the original table to keep: for each column, the required value or values.
        drop: Rows of the original table to drop.
        keep_trials: Trials to keep, by the source's or Parallax's columns.
        drop_trials: Trials to drop.
        skip_blank: Parallax columns; trials with an empty value in one of them are not judgments.
        rt_unit: The unit of the reaction times, "ms" or "s".
        duplicates: "keep" or "drop" copies of a judgment; if unset, copies stop the import.
        unrelated: Columns to ignore although they look like correctness or the item's texts, or
            have one of Parallax's names.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    columns: dict[str, str] = {}
    values: dict[str, dict[str, str]] = {}
    item_from: list[str] = []
    item_by_texts: list[str] = []
    wide: bool = False
    keep: Rows = {}
    drop: Rows = {}
    keep_trials: Rows = {}
    drop_trials: Rows = {}
    skip_blank: list[str] = []
    rt_unit: Literal["ms", "s"] = "ms"
    duplicates: Literal["", "keep", "drop"] = ""
    unrelated: list[str] = []

    def to_toml(self) -> str:
        """Return the mapping as TOML text, without unset values."""
        said = self.model_dump(exclude_defaults=True)
        plain = {key: value for key, value in said.items() if not isinstance(value, dict)}
        lines = [f"{key} = {json.dumps(value)}" for key, value in plain.items()]
        for key, table in said.items():
            if isinstance(table, dict):
                lines += _toml_table(key, table)
        return "\n".join(lines).strip() + "\n"


def _toml_table(name: str, table: Mapping[str, object]) -> list[str]:
    plain = {key: value for key, value in table.items() if not isinstance(value, dict)}
    lines = ["", f"[{name}]"] if plain else []
    lines += [
        f"{json.dumps(key, ensure_ascii=False)} = {json.dumps(value, ensure_ascii=False)}"
        for key, value in plain.items()
    ]
    for key, inner in table.items():
        if isinstance(inner, dict):
            lines += _toml_table(f"{name}.{key}", inner)
    return lines


def read_mapping(path: Path | None) -> Meaning:
    """Read a mapping file; without a file, columns must have Parallax's names.

    Raises:
        AnalysisError: The file is missing, not TOML, or has an unknown key.
    """
    if path is None:
        return Meaning()
    try:
        return Meaning.model_validate(tomllib.loads(path.read_text("utf-8")))
    except (OSError, ValueError, RecursionError, ValidationError) as error:
        reason = wrong_keys(error) if isinstance(error, ValidationError) else error
        raise AnalysisError(
            f"the mapping cannot be read ({reason})",
            where=str(path),
            expected=f"TOML with the tables {', '.join(Meaning.model_fields)}",
            remedy="docs/data_formats.md shows one",
        ) from error
