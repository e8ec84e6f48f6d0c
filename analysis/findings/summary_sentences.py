"""Summarise a design's differences and interactions in sentences."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from analysis.findings.finding import Context, titles_of

_LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class Unit:
    """The unit of a reported difference: name, factor from the table's unit, and decimals."""

    name: str
    scale: float
    decimals: int
    answers: str

    def say(self, value: float) -> str:
        """Return a difference with its sign."""
        return f"{self.scale * value:+z.{self.decimals}f}".replace("-", "\N{MINUS SIGN}")


SHARES = Unit("percentage points", 100, 1, "judgments")
POINTS = Unit("points", 1, 2, "ratings")
_MOST_REPORTED = 3


def effect_sentences(effects: pd.DataFrame, context: Context, unit: Unit = SHARES) -> list[str]:
    """Return sentences on each construction's interactions or, without any, its main effects.

    If a factor has several differences, the three most certain are reported, with a remark that
    there are more.

    Args:
        effects: The statistic ``design_effects``, or one with the same columns.
        context: The study, for the constructions' titles.
        unit: The unit of reported differences.
    """
    titles = titles_of(context.study)
    texts = []
    for name, rows in effects.groupby("construction", sort=False):
        crossed = rows[rows["contrast"].str.startswith("Interaction: ")]
        reported_rows = crossed if len(crossed) else rows
        title, n = titles.get(str(name), str(name)), int(rows["p_holm"].notna().sum())
        surest = (
            reported_rows.sort_values("p_holm", kind="stable").index[:_MOST_REPORTED].sort_values()
        )
        texts += [
            _write_sentence(title, row, n, unit)
            for row in reported_rows.loc[surest].to_dict("records")
        ]
        if n_more := len(reported_rows) - len(surest):
            texts.append(f"{title}: {n_more} more in the table of differences.")
    return texts


def _write_sentence(title: str, row: Mapping[Hashable, Any], n: int, unit: Unit) -> str:
    contrast, low, high = row["contrast"], row["low"], row["high"]
    if pd.isna(low):
        reason = f"too few {unit.answers}, participants or frames"
        return f"{title}: {reason} for a conclusion on {contrast}."
    verdict = correction_in_words(low, high, row["p_holm"], f"{n} contrasts tested", n)
    return (
        f"{title}: {contrast} is {unit.say(row['estimate'])} {unit.name} (95% interval "
        f"{unit.say(low)} to {unit.say(high)}; {verdict})."
    )


def correction_in_words(low: float, high: float, p_holm: float, family: str, n: int) -> str:
    """Report whether a difference remains after correction, if its own interval excludes zero.

    Args:
        low: The lower end of the difference's own 95% interval.
        high: Its upper end.
        p_holm: The p-value, corrected for the family by Holm's method.
        family: The family of tests, such as "5 contrasts tested".
        n: The size of the family.
    """
    suffix = f" after correction for the {family}" if n > 1 else ""
    if p_holm < _LEVEL:
        return f"a significant difference{suffix}"
    if n > 1 and not low <= 0 <= high:
        return f"its own interval excludes zero, but{suffix} there is no significant difference"
    return "no significant difference"
