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
    """A mapping file: which column holds what, and how its values are written.

    Attributes:
        columns: Our column to theirs; a column that bears our name already may be left out. With
            ``wide`` numbered columns are written with ``{n}``, columns named after items with
            ``{item}``. In place of a choice, ``rating`` or ``said_yes`` is the answer to one
            sentence, and ``version`` the version that was shown, or its text.
        values: Our column to a table from their values to ours, such as "sentence A" to "good".
            ``*`` stands for any text: "1. *" to "first". What is written without it goes first.
        item_from: Columns whose texts, joined by "-", name the item, where no column does.
        item_by_texts: Columns that hold the item's two options, by which the item is found where
            nothing names it; or the one column that holds one of them.
        wide: One row holds a whole session.
        keep: Rows to take, of the table as it is: a column to the value, or values, it must have.
        drop: Rows to leave out, of the table as it is.
        keep_trials: The same among single trials, by their columns or ours.
        drop_trials: Trials to leave out.
        skip_blank: Our columns; trials where one of them is empty are no judgments.
        rt_unit: The unit of the reaction times, "ms" or "s".
        duplicates: What to do with copies of a judgment: "keep" or "drop" them; without it copies
            stop the import.
        unrelated: Columns that look like whether the choice was right, or like the item's texts,
            or bear one of our names, and are something else.
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
        """Return the mapping as a file of it is written, without what it does not say."""
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
