"""The table of a study's primary or exploratory comparisons."""

from collections.abc import Hashable, Iterator, Mapping
from typing import Any

import pandas as pd

from analysis.findings.comparison_words import NAME, words_of
from analysis.findings.finding import Context
from analysis.tables.accuracy_table import Column, Table
from analysis.tables.section import Section


def comparisons_table(context: Context, rows: pd.DataFrame, role: str) -> Table:
    """Return the table of the primary or of the exploratory comparisons.

    Args:
        context: The study and the origin of the numbers.
        rows: The comparisons of this role, from ``comparisons.answered``.
        role: ``primary`` or ``exploratory``.
    """
    is_primary = role == "primary"
    family = int(rows["n_in_family"].max())
    corrected = "Intervals: 95%, of each comparison by itself; nothing is corrected."
    if family > 1:
        of = "the {} primary comparisons" if is_primary else "the {} models of one comparison"
        corrected = (
            f"Intervals and p are corrected for {of.format(family)} (Bonferroni): an interval "
            "excludes 0 exactly when p is below .05."
        )
        corrected += "" if is_primary else " Other exploratory comparisons are not corrected."
    scaled = rows.assign(
        group=[f"{words_of(name).subject}, in {words_of(name).unit}" for name in rows["measure"]],
        label=[_write_label(row) for row in rows.to_dict("records")],
        **{
            end: [
                words_of(name).scale(value)
                for name, value in zip(rows["measure"], rows[end], strict=True)
            ]
            for end in ("estimate", "low", "high")
        },
        unit=[words_of(name).unit for name in rows["measure"]],
        p_shown=rows["p_corrected"],
    )
    return context.table(
        NAME if is_primary else f"{NAME}_exploratory",
        _write_title(rows, is_primary=is_primary),
        _write_caption(rows),
        scaled,
        (
            Column("label", "", "text"),
            Column("estimate", "Difference", "estimate"),
            Column("p_shown", "p" if family == 1 else "p (corrected)", "p"),
            Column("n_observations", "Answers", "count"),
        ),
        (
            corrected,
            "Variances are clustered by participant and by frame.",
            *_equivalence_notes(rows),
        ),
        Section.COMPARISONS,
    )


def _write_label(row: Mapping[Hashable, Any]) -> str:
    """Return a comparison's name, and which side the difference is taken from."""
    name = row["name"] if row["is_planned"] else f"{row['name']} (not planned)"
    if row["if_equivalent"]:
        sides = f"{row['compared'].split(' - ')[0]} minus {row['judge']}"
    else:
        sides = row["sides"] or row["judge"]
    return name if not sides or sides in name else f"{name}: {sides}"


def _equivalence_notes(rows: pd.DataFrame) -> Iterator[str]:
    """Yield a note on each comparison whose difference is smaller than is of interest."""
    for row in rows[rows["is_equivalent"].eq(other=True)].to_dict("records"):
        words = words_of(row["measure"])
        low, high = (words.amount(row[f"equivalence_{end}"]) for end in ("low", "high"))
        smallest = words.amount(row["smallest_effect"], signed=False)
        yield (
            f"{row['name']}: equivalent, because the interval of two one-sided tests, {low} to "
            f"{high}, lies within \N{PLUS-MINUS SIGN}{smallest} {words.unit}."
        )


def _write_title(rows: pd.DataFrame, *, is_primary: bool) -> str:
    planned = rows[rows["is_planned"]]
    if is_primary and not planned.empty and not planned["is_declared"].any():
        return "Comparisons of the design"
    return "Primary comparisons" if is_primary else "Exploratory comparisons"


def _write_caption(rows: pd.DataFrame) -> str:
    planned = rows[rows["is_planned"]]
    if planned.empty:
        return "Comparisons that the study did not plan."
    if planned["is_declared"].all():
        return "The study's questions, declared before the data."
    return "The study declared no comparisons; these follow from its design."
