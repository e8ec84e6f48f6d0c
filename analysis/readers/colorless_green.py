"""Gulordava et al. (2018): published per-sentence model scores and human judgment counts.

Gulordava, K., Bojanowski, P., Grave, E., Linzen, T., & Baroni, M. (2018). Colorless green
recurrent networks dream hierarchically. NAACL 2018. Each sentence has two rows, one per form.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.errors import AnalysisError
from experiment.records import Item, Kind, Variant

COLUMNS = (
    "pattern", "constr_id", "sent_id", "correct_number", "form", "class", "type", "prefix",
    "n_attr", "freq", "sent",
)  # fmt: skip
_COUNT_COLUMN, _ID_COLUMN = "mturk_count", "full_id"
UNIGRAM = "unigram"


@dataclass(frozen=True, slots=True)
class Published:
    """The published table, converted.

    Attributes:
        items: One per sentence; the construction is the pattern, the condition original or
            generated; features ``attractors`` and ``number``.
        long: One row per judgment: ``item``, ``construction``, ``condition``, ``chosen``;
            participants were not published. No rows if the table has no judgment counts.
        logprobs: Log-probabilities of the form given the prefix, in nats: rows ``item``,
            ``variant``, and a column for each model of the table; ``unigram``, the paper's
            baseline, orders the forms by frequency in the training text.
    """

    items: list[Item]
    long: pd.DataFrame
    logprobs: pd.DataFrame


def with_published_headers(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose published columns have their published names, in lower case."""
    own = {*COLUMNS, _COUNT_COLUMN, _ID_COLUMN}
    return table.rename(columns=lambda name: name.lower() if name.lower() in own else name)


def read_colorless_green(table: pd.DataFrame, path: Path) -> Published:
    """Return the published table as items, judgments and models' log-probabilities.

    Args:
        table: The table, values as text.
        path: The file of the table.

    Raises:
        AnalysisError: A column is missing, a sentence lacks its one right and one wrong form, or a
            count is not a number.
    """
    if missing := [name for name in COLUMNS if name not in table]:
        raise AnalysisError(
            f"the table of Gulordava et al. (2018) has no column {', '.join(missing)}",
            where=str(path),
            expected=f"the columns {', '.join(COLUMNS)}",
            remedy="Give the column its published name again",
        )
    sentences = _name_sentences(table)
    good = sentences[sentences["class"] == "correct"].set_index(_ID_COLUMN)
    bad = sentences[sentences["class"] == "wrong"].set_index(_ID_COLUMN)
    if not (good.index.is_unique and bad.index.is_unique and set(good.index) == set(bad.index)):
        raise AnalysisError(
            "a sentence has not exactly one correct and one wrong form",
            where=str(path),
            expected="two rows for each sentence, class correct and wrong",
        )
    bad = bad.reindex(good.index)
    items = list(_make_items(good, bad))
    counts = pd.concat(
        [_count_choices(good, Variant.GOOD, path), _count_choices(bad, Variant.BAD, path)],
        ignore_index=True,
    )
    long_rows = counts.loc[counts.index.repeat(counts["n"])].drop(columns="n")
    return Published(items, long_rows.reset_index(drop=True), _stack_logprobs(good, bad))


def _name_sentences(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with a name for each sentence, generating missing names."""
    if _ID_COLUMN in table:
        return table
    keys = table["pattern"] + "-" + table["constr_id"] + "-" + table["sent_id"]
    return table.assign(**{_ID_COLUMN: keys})


def _make_items(good: pd.DataFrame, bad: pd.DataFrame) -> Iterator[Item]:
    for (full_id, row), bad_form in zip(good.iterrows(), bad["form"], strict=True):
        yield Item(
            item_id=str(full_id),
            kind=Kind.TARGET,
            construction=row["pattern"],
            condition=row["type"],
            template=row["pattern"],
            features=f"attractors={row['n_attr']} number={row['correct_number']}",
            frame="",
            context=row["prefix"],
            good=row["form"],
            bad=bad_form,
            distractor="",
            contrast=Variant.BAD,
        )


def _count_choices(rows: pd.DataFrame, chosen: Variant, path: Path) -> pd.DataFrame:
    counts = rows[_COUNT_COLUMN] if _COUNT_COLUMN in rows else pd.Series("0", rows.index)
    try:
        n = counts.astype(float).astype(int)
    except ValueError as error:
        raise AnalysisError(
            f'the column "mturk_count" holds a value that is not a number ({error})',
            where=str(path),
            expected="how many people chose the form",
        ) from error
    return pd.DataFrame(
        {
            "item": rows.index,
            "construction": rows["pattern"].to_numpy(),
            "condition": rows["type"].to_numpy(),
            "chosen": chosen.value,
            "n": n.to_numpy(),
        }
    )


def _are_logprobs(cells: "pd.Series[str]") -> bool:
    """Return whether a column, wherever it is, holds log-probabilities: numbers of at most 0."""
    numbers = pd.to_numeric(cells, errors="coerce")
    return bool((numbers <= 0).all() and (numbers < 0).any())


def _stack_logprobs(good: pd.DataFrame, bad: pd.DataFrame) -> pd.DataFrame:
    own = {*COLUMNS, _COUNT_COLUMN, _ID_COLUMN}
    both = pd.concat([good, bad])
    models = [name for name in both if name not in own and _are_logprobs(both[name])]
    greatest_frequency = max(float(rows["freq"].astype(float).max()) for rows in (good, bad))
    sides = [
        rows[models]
        .astype(float)
        .assign(
            **{UNIGRAM: np.log1p(rows["freq"].astype(float)) - np.log1p(greatest_frequency)},
            variant=variant.value,
        )
        for rows, variant in ((good, Variant.GOOD), (bad, Variant.BAD))
    ]
    return pd.concat(sides).rename_axis("item").reset_index()
