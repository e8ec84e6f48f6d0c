"""What native speakers said of the sentences: their agreement, and which items they approve."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.errors import AnalysisError
from analysis.natives.page import versions_of
from analysis.statistics.agreement import cohen_kappa
from experiment.materials.formats.raw import read_raw
from experiment.records import Item, Variant

RIGHT, WRONG = "right", "wrong"
FEWEST_NATIVES = 2
_COLUMNS = ("sentence", "verdict", "better", "reviewer")


@dataclass(frozen=True, slots=True)
class Verdicts:
    """One native speaker's verdicts.

    Attributes:
        name: Their name or initials, or else the file's name.
        verdicts: ``right`` or ``wrong``, by sentence.
        better: A better form, by sentence, where they wrote one.
    """

    name: str
    verdicts: Mapping[str, str]
    better: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Pair:
    """The agreement of two native speakers.

    Attributes:
        names: Their names.
        n_sentences: How many sentences both judged.
        share: The share with equal verdicts.
        kappa: Cohen's kappa; NaN if both gave all sentences one verdict.
    """

    names: tuple[str, str]
    n_sentences: int
    share: float
    kappa: float


def read_verdicts(path: Path, sentences: set[str]) -> Verdicts:
    """Read the table that a native speaker saved.

    Args:
        path: The table.
        sentences: The sentences of the items.

    Raises:
        AnalysisError: There is no table; or it lacks a column, or has another verdict or sentence,
            or one twice.
    """
    if not path.is_file():
        raise AnalysisError(
            "there is no table of verdicts",
            where=str(path),
            expected="a table that a native speaker saved on the page",
        )
    table = read_raw(path)
    if missing := [name for name in _COLUMNS[:2] if name not in table.columns]:
        raise AnalysisError(
            f'the column "{missing[0]}" is missing',
            where=str(path),
            expected=f"the columns {', '.join(_COLUMNS)}, as the page saves them",
        )
    verdicts: dict[str, str] = {}
    better: dict[str, str] = {}
    name = ""
    for raw in table.rows:
        row, where = raw.values, raw.place
        text = row["sentence"]
        verdict = row["verdict"].strip().lower()
        if verdict not in (RIGHT, WRONG):
            raise AnalysisError(
                f'the verdict "{row["verdict"]}" is neither "{RIGHT}" nor "{WRONG}"', where=where,
                expected="what the page saves",
            )  # fmt: skip
        if text not in sentences:
            raise AnalysisError(
                f'the items do not have the sentence "{text}"', where=where,
                expected="verdicts on these items, with the same --rendering",
                remedy="If the items changed since, let native speakers check them again",
            )  # fmt: skip
        if text in verdicts:
            raise AnalysisError(f'the sentence "{text}" has two verdicts', where=where)
        verdicts[text] = verdict
        name = name or row.get("reviewer", "").strip()
        if form := row.get("better", "").strip():
            better[text] = form
    return Verdicts(name or path.stem, verdicts, better)


def compare_natives(natives: Sequence[Verdicts]) -> list[Pair]:
    """Return the agreement of every two native speakers."""
    pairs = []
    for first, second in combinations(natives, 2):
        both = [text for text in first.verdicts if text in second.verdicts]
        table = np.zeros((2, 2))
        for text in both:
            place = (int(native.verdicts[text] == WRONG) for native in (first, second))
            table[tuple(place)] += 1
        n = len(both)
        share = float(np.trace(table) / n) if n else float("nan")
        kappa = cohen_kappa(table) if n else float("nan")
        pairs.append(Pair((first.name, second.name), n, share, kappa))
    return pairs


def approve(
    items: Sequence[Item], natives: Sequence[Verdicts], rendering: Callable[[str], str]
) -> tuple[list[Item], pd.DataFrame]:
    """Return the items that all native speakers approve, and why others are not approved.

    An item is approved if each native speaker says that its expected version is right and all
    others are wrong. Items of which nobody judged any sentence were not on the page.

    Returns:
        The approved items; and for each sentence that stops an item: item_id, version, sentence,
        reason, the verdict of each native speaker, and better forms.
    """
    approved, findings = [], []
    for item in items:
        problems, texts = [], versions_of(item, rendering)
        if not any(text in native.verdicts for native in natives for text in texts.values()):
            continue
        for version, text in texts.items():
            wanted = RIGHT if version == Variant.GOOD else WRONG
            given = {native.name: native.verdicts.get(text, "") for native in natives}
            if all(verdict == wanted for verdict in given.values()):
                continue
            reason = "not judged by all"
            if all(given.values()):
                is_split = len(set(given.values())) > 1
                reason = (
                    "disagreement" if is_split else f"judged {RIGHT if wanted == WRONG else WRONG}"
                )
            better = "; ".join(native.better[text] for native in natives if text in native.better)
            problems.append(
                {
                    "item_id": item.item_id, "version": version, "sentence": text,
                    "reason": reason, **given, "better": better,
                }
            )  # fmt: skip
        findings += problems
        if not problems:
            approved.append(item)
    return approved, pd.DataFrame(findings)
