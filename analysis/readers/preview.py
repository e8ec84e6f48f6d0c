"""Preview the result of a mapping before anything is written."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.data.categorical import codes_in, take
from analysis.data.load import ExportedRun
from analysis.readers.judgments import Imported
from analysis.readers.mapping import Meaning
from analysis.readers.single_answers import RATING, SAID_YES, answer_of
from analysis.readers.sources import Source
from analysis.tables.provenance import counted
from experiment.records import Side, Variant

_SHOWN = 5
_WIDEST, _TWO = 28, 2


def judgments_table(run: ExportedRun) -> pd.DataFrame:
    """Return a run's judgments in the long form, for writing and re-reading."""
    rows = run.responses
    codes = codes_in(rows["item_id"], pd.Index(run.items["item_id"]))
    contrast = take(run.items["contrast"], codes)
    first = run.trials["good_side"].to_numpy() == Side.FIRST.value
    person = rows["participant"]
    columns = {
        "participant": person,
        "item": rows["item_id"],
        "option_first": _good_or(contrast, first),
        "chosen": _good_or(contrast, rows["chose_good"].fillna(value=False).to_numpy(dtype=bool)),
        "rt_ms": rows["rt_ms"].round(3),
        "list": person.map(run.participants.set_index("participant")["list"]),
        "kept": person.map(run.verdicts.set_index("participant")["kept"]),
    }
    if answer := answer_of(rows):
        for name in ("option_first", "chosen"):
            del columns[name]
        columns |= {"version": rows["version"], answer: rows[answer]}
    table = pd.DataFrame(columns)
    if not answer and not (~first).any():
        # Judgments without sides are read as if all expected versions came first.
        table = table.drop(columns="option_first")
    if table["list"].nunique() < _TWO:
        table = table.drop(columns="list")
    # Omit columns that the source lacks.
    return table.dropna(axis=1, how="all")


def _good_or(other: pd.Categorical, good: NDArray[np.bool_]) -> pd.Categorical:
    """Return the good version where True, else the alternative."""
    versions = pd.Index([Variant.GOOD.value, *other.categories])
    return pd.Categorical.from_codes(np.where(good, 0, other.codes + 1), versions)


def _said(run: ExportedRun) -> str:
    """Return a summary of the answers, in words."""
    rows = run.responses
    if answer_of(rows) == RATING:
        counts = rows[RATING].value_counts().sort_index()
        listed = ", ".join(f"{point}: {n:,}" for point, n in counts.items())
        return f"ratings {listed}; mean {rows[RATING].mean():.2f}"
    if answer_of(rows):
        return f"yes was said to {rows[SAID_YES].mean():.1%}"
    return f"the expected version was chosen in {rows['chose_good'].mean():.1%}"


def preview(source: Source, mapping: Meaning, found: Imported) -> str:
    """Return the format, the mapping, the first judgments and the accounting, as text."""
    run = found.run
    table = judgments_table(run)
    people = int(run.responses["participant"].nunique())
    shown = table.head(_SHOWN).map(lambda value: str(value)[:_WIDEST])
    lines = [
        f"{source.path}: read as {source.format}, {counted(len(source.table), 'row')}.",
        "",
        "Mapping:",
        *(f"  {line}" if line else "" for line in mapping.to_toml().splitlines()),
        "",
        "The first judgments:",
        *(f"  {line}" for line in shown.to_string(index=False).splitlines()),
        "",
        f"{counted(len(table), 'judgment')} of "
        f"{counted(people, 'participant') if people else 'unknown participants'} on "
        f"{counted(run.responses['item_id'].nunique(), 'item')} of {len(run.items):,}; "
        f"{_said(run)}.",
    ]
    times = run.responses["rt_ms"].dropna()
    if len(times):
        lines.append(f"Median reaction time: {times.median():,.0f} ms.")
    lines += ["", "Reconciliation:", *(f"  {line}" for line in found.account.lines())]
    return "\n".join(lines)
