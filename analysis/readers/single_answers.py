"""Ratings, yes-or-no and typed answers to single sentences, read from other sources' files.

A mapping names the column of answers ``rating``, ``said_yes`` or ``typed``, and with ``version``
the column that says which version of its item was shown, by name or by its text. Where every item
has one version, no such column is needed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from analysis.data.load import ExportedRun
from analysis.errors import AnalysisError
from analysis.readers.accounting import Accounting
from analysis.readers.mapping import TableMap, parse_truth
from analysis.readers.rating_scale import MOST_POINTS, RATING, read_ratings
from analysis.readers.texts import Options
from experiment.materials.formats.words import BAD_WORDS, GOOD_WORDS
from experiment.records import Item, Side, Variant
from experiment.studies.study import Trials

SAID_YES, VERSION = "said_yes", "version"
TYPED, NO_ANSWER = "typed", "no_answer"
ANSWERS = (RATING, SAID_YES, TYPED)
_NAMES = {variant.value for variant in Variant}


def answer_column(long: pd.DataFrame) -> str:
    """Return the kind of answer in long-form judgments; empty for choices."""
    return next((name for name in ANSWERS if name in long), "")


def find_shown_versions(long: pd.DataFrame, items: Sequence[Item], path: Path) -> list[str]:
    """Return the version of the item that each answer refers to.

    Raises:
        AnalysisError: The version is unknown, or a text matches no version of its item.
    """
    items_by_id = {item.item_id: item for item in items}
    if VERSION not in long:
        with_alternative = [
            item_id
            for item_id in long["item"]
            if item_id in items_by_id and items_by_id[item_id].alternative
        ]
        if with_alternative:
            raise AnalysisError(
                f"the item {with_alternative[0]} has two versions, and no column says which one "
                "was shown",
                where=str(path),
                expected="a column with the version's name (good or bad) or its text",
                remedy='Name it in the mapping: [columns] version = "HEADER"',
            )
        return [Variant.GOOD.value] * len(long)
    texts = {name: Options(item) for name, item in items_by_id.items()}
    versions = []
    for item, value in zip(long["item"], long[VERSION].fillna("").astype(str), strict=True):
        version = value if value in _NAMES else texts[item].version(value)
        if version is None:
            raise AnalysisError(
                f'"{value[:60]}" is not a version of the item {item}',
                where=f'{path}, the column "{VERSION}"',
                expected='"good", "bad" or "distractor", or the text that was shown',
                remedy="Translate the values below [values.version] in the mapping",
            )
        versions.append(str(version))
    return versions


def settle_typed_answers(
    rows: pd.DataFrame, mapping: TableMap, account: Accounting, path: Path
) -> pd.DataFrame:
    """Return rows in which typed answers that mean "I cannot think of any" are marked.

    Rows without a text are left out, unless they or the mapping say that it means no answer.

    Args:
        rows: The judgments in the long form, with or without typed answers.
        mapping: Says which texts mean no answer, and whether only the first word counts.
        account: What is left out or cut is added to it.
        path: The file, for messages.
    """
    if TYPED not in rows:
        return rows
    typed = rows[TYPED].fillna("").astype(str)
    is_none = typed.isin(mapping.no_answer)
    if NO_ANSWER in rows:
        is_none |= parse_truth(rows[NO_ANSWER], NO_ANSWER, path).fillna(value=False)
    rows = rows.assign(**{TYPED: typed.mask(is_none, ""), NO_ANSWER: is_none.map(str)})
    is_answered = is_none | (typed != "")
    if n_empty := int((~is_answered).sum()):
        account.trials_dropped[f"{TYPED} is empty"] = n_empty
    rows = rows[is_answered]
    if mapping.first_word:
        first = rows[TYPED].str.split().str[0].fillna("")
        n_cut = int((first != rows[TYPED]).sum())
        account.checks.append(f"Answers of several words, of which the first is kept: {n_cut:,}")
        rows = rows.assign(**{TYPED: first})
    return rows


def add_answers(
    run: ExportedRun, long: pd.DataFrame, items: Sequence[Item], account: Accounting, path: Path
) -> ExportedRun:
    """Return a run whose answers are ratings, yes-or-no answers or typed texts.

    Args:
        run: The same judgments as a run of choices; its choices are ignored.
        long: The judgments in the long form, in the same order as in the run.
        items: The items.
        account: The accounting of the source; assumptions are added to it.
        path: The file of the judgments.

    Raises:
        AnalysisError: An answer is not a rating, or neither yes nor no.
    """
    version = np.array(find_shown_versions(long, items, path), object)
    if answer_column(long) == RATING:
        scale = read_ratings(long, path)
        (account.checks if scale.is_stated else account.attention).append(scale.evidence)
        points = scale.ratings.astype(int) if scale.are_whole else scale.ratings
        return _replace_response(
            run if scale.is_points else replace(run, rating_ends=scale.ends),
            "rating",
            {"points": int(scale.ends[1]) if scale.is_points else MOST_POINTS},
            {"chosen_side": None, "chose_good": None, VERSION: version, RATING: points},
            [
                Side.FIRST.value if shown_version == Variant.GOOD.value else None
                for shown_version in version
            ],
        )
    if answer_column(long) == TYPED:
        none = parse_truth(long[NO_ANSWER], NO_ANSWER, path).to_numpy(dtype=bool)
        typed = long[TYPED].reset_index(drop=True)
        words = "many" if typed.str.strip().str.contains(r"\s").any() else "one"
        columns = {VERSION: version, TYPED: typed.mask(none), NO_ANSWER: none}
        return _replace_response(
            run,
            TYPED,
            {"words": words},
            {"chosen_side": None, "chose_good": None, **columns},
            [None] * len(long),
        )
    yes = _parse_yes_no(long[SAID_YES], path)
    single_version_ids = {item.item_id for item in items if not item.alternative}
    # A sentence without a second version has no expected answer.
    has_alternative = ~long["item"].isin(single_version_ids).to_numpy()
    expected = version == Variant.GOOD.value
    right = pd.array(np.where(has_alternative, yes == expected, False), "boolean")
    right[~has_alternative] = pd.NA
    sides = np.where(yes, Side.FIRST.value, Side.SECOND.value)
    good_side = [
        None if not is_known else Side.FIRST.value if yes_expected else Side.SECOND.value
        for is_known, yes_expected in zip(has_alternative, expected, strict=True)
    ]
    chosen = {"chosen_side": sides, "chose_good": right, VERSION: version, SAID_YES: yes}
    return _replace_response(run, "yes_no", {}, chosen, good_side)


def _replace_response(
    run: ExportedRun,
    response: str,
    parameters: Mapping[str, object],
    columns: Mapping[str, Any],
    good_side: Sequence[str | None],
) -> ExportedRun:
    trials = Trials(parameters=dict(parameters))
    return replace(
        run,
        study=run.study.model_copy(update={"response": response, "trial": trials}),
        trials=run.trials.assign(good_side=pd.Series(good_side, run.trials.index, object)),
        responses=run.responses.assign(**columns),
    )


def _parse_yes_no(
    values: "pd.Series[str]", path: Path
) -> "np.ndarray[tuple[int, ...], np.dtype[np.bool_]]":
    lower = values.fillna("").astype(str).str.strip().str.lower()
    strange = lower[~lower.isin(GOOD_WORDS | BAD_WORDS)]
    if len(strange):
        raise AnalysisError(
            f"{len(strange):,} of {len(lower):,} answers are neither yes nor no; the first is "
            f'"{strange.iloc[0]}"',
            where=f'{path}, the column "{SAID_YES}"',
            expected="yes or no, 1 or 0, true or false",
            remedy=f"Translate them below [values.{SAID_YES}] in the mapping; leave unanswered "
            f'trials out with skip_blank = ["{SAID_YES}"]',
        )
    is_yes: np.ndarray[tuple[int, ...], np.dtype[np.bool_]] = lower.isin(GOOD_WORDS).to_numpy()
    return is_yes
