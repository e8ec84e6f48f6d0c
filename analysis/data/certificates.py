"""Plausibility certificates of the sessions of an exported run."""

from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.data.frames import read_exported_table
from experiment.integrity.certificate import Certificate
from experiment.tables.observation_tables import INTEGRITY

# Exports lack these fields, and no rule needs them: the exported score is computed from them.
_NOT_EXPORTED = ("counting", "methods", "types", "is_measured")
_FIELDS = tuple(
    name for name in Certificate.__dataclass_fields__ if name not in ("signals", *_NOT_EXPORTED)
)


def read_certificates(folder: Path) -> dict[str, Certificate]:
    """Return an export's certificates by participant; empty if the export has none.

    Raises:
        TableError: The table does not fit its schema.
    """
    if not any((folder / f"{INTEGRITY.name}{suffix}").exists() for suffix in (".parquet", ".csv")):
        return {}
    table = read_exported_table(INTEGRITY, folder, INTEGRITY.column_names)
    return {row["participant"]: _parse_certificate(row) for row in table.to_dict("records")}


def _parse_certificate(row: Mapping[Hashable, Any]) -> Certificate:
    fields: dict[str, Any] = {n: None if pd.isna(row[n]) else row[n] for n in _FIELDS}
    return Certificate(
        **fields,
        is_measured=False,
        counting=(),
        methods=(),
        types=(),
        signals=_parse_signals(row["signals"]),
    )


def _parse_signals(text: str) -> tuple[tuple[str, float], ...]:
    pairs = (signal.partition("=") for signal in text.split())
    return tuple((name, float(nats)) for name, _, nats in pairs)
