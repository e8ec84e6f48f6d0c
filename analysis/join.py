"""People's judgments and models' decisions, one row each, about the same items or not at all."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.errors import AnalysisError
from analysis.load import ExportedRun, Scores
from experiment.records import Variant

_SHOWN = 10
_JUDGMENT_COLUMNS = [
    "participant",
    "list",
    "position",
    "item_id",
    "kind",
    "construction",
    "condition",
    "good_side",
    "chosen_side",
    "chose_good",
    "rt_ms",
    "input_method",
]


def judgments(run: ExportedRun) -> pd.DataFrame:
    """Return the kept participants' judgments.

    Returns:
        One row per judgment: participant, list, position, item_id, kind (in that list),
        construction, condition, good_side, chosen_side, chose_good, rt_ms, input_method.

    Raises:
        AnalysisError: The tables contradict each other, or nothing was kept.
    """
    shown = run.responses.merge(
        run.trials, "left", on=["participant", "position"], suffixes=("", "_shown"), indicator=True
    )
    _refuse(run, shown, shown["_merge"] != "both", "answer a trial that was never to be shown")
    _refuse(run, shown, shown["item_id"] != shown["item_id_shown"], "name another item")
    right = shown["chosen_side"] == shown["good_side"]
    _refuse(run, shown, shown["chose_good"] != right, "contradict the sides of their trial")
    unknown = ~shown["item_id"].isin(run.items["item_id"])
    _refuse(run, shown, unknown, "are about items that the table items lacks")
    stranger = ~shown["participant"].isin(run.participants["participant"])
    _refuse(run, shown, stranger, "are of somebody whom the table participants lacks")
    kept = run.verdicts.loc[run.verdicts["kept"], ["participant"]]
    rows = (
        shown.merge(kept, on="participant")
        .merge(run.participants[["participant", "list"]], on="participant")
        .merge(run.items[["item_id", "construction", "condition"]], on="item_id")
    )
    if rows.empty:
        raise AnalysisError(
            "no judgment is left to analyse: no participant with answers has a verdict of kept",
            where=str(run.folder),
            remedy="Apply the exclusion rules with `parallax exclude RUN` and export again",
        )
    return rows.sort_values(["participant", "position"], ignore_index=True)[_JUDGMENT_COLUMNS]


def _refuse(run: ExportedRun, rows: pd.DataFrame, wrong: "pd.Series[bool]", what: str) -> None:
    if wrong.any():
        pairs = rows.loc[wrong, ["participant", "position"]].head(_SHOWN).itertuples(index=False)
        listed = ", ".join(f"{participant} {position}" for participant, position in pairs)
        raise AnalysisError(
            f"{int(wrong.sum())} responses {what}; the first (participant, position): {listed}",
            where=str(run.folder),
            remedy="The tables are not from one export: export the run again",
        )


def decisions(scores: Scores) -> pd.DataFrame:
    """Return what a model chooses on each item: the version with the higher log-probability.

    Returns:
        One row per item, in the file's order: item_id, construction, condition, logprob_good_nats,
        logprob_contrast_nats, correct, tie, n_unknown. A tie is not correct.

    Raises:
        AnalysisError: A version of an item was not scored, or a score is not a number.
    """
    frame = scores.frame
    _refuse_scores(scores, frame.loc[frame["logprob_nats"].isna(), "item_id"], "are not numbers")
    number, items = pd.factorize(frame["item_id"])
    is_good = (frame["variant"] == Variant.GOOD).to_numpy()
    is_against = (frame["variant"] == frame["contrast"]).to_numpy()
    good, against = (
        _placed(frame["logprob_nats"], number, rows, len(items)) for rows in (is_good, is_against)
    )
    lacking = items[np.isnan(good) | np.isnan(against)]
    _refuse_scores(scores, lacking, "lack the good version or the one against it")
    unknown = frame["n_unknown"].where(is_good | is_against, 0)
    described = frame.loc[is_good, ["item_id", "construction", "condition"]]
    order = number[is_good]
    return described.reset_index(drop=True).assign(
        logprob_good_nats=good[order],
        logprob_contrast_nats=against[order],
        correct=(good > against)[order],
        tie=(good == against)[order],
        n_unknown=np.bincount(number, unknown).astype(int)[order],
    )


def _placed(
    values: "pd.Series[float]", number: NDArray[np.intp], rows: NDArray[np.bool_], n: int
) -> NDArray[np.float64]:
    """Return the values of some rows, each at its item's place; NaN where an item has none."""
    placed = np.full(n, np.nan)
    placed[number[rows]] = values.to_numpy()[rows]
    return placed


def _refuse_scores(scores: Scores, items: Iterable[str], what: str) -> None:
    if wrong := list(dict.fromkeys(items)):
        raise AnalysisError(
            f"the scores of {len(wrong)} item(s) {what}; the first: {_first(wrong)}",
            where=str(scores.path),
            remedy="Score the materials again with `parallax lm score`",
        )


def check_same_items(
    run: ExportedRun, scores: Scores, judged: Sequence[str], items_hash: Callable[[], str]
) -> None:
    """Raise unless the scores are of the run's materials and cover every judged item.

    Args:
        run: The exported run.
        scores: One model's scores.
        judged: The ids of the judged items.
        items_hash: Gives the hash of the run's own items, for scores of just those.

    Raises:
        AnalysisError: Another study or version, another materials hash, or items not scored.
    """
    seen, facts = scores.facts, run.facts
    where = f"{run.folder} and {scores.path}"
    scored = scores.frame.loc[scores.frame["item_id"].isin(judged), "item_id"]
    if missing := sorted(set(judged) - set(scored)):
        raise AnalysisError(
            f"{len(missing)} judged item(s) have no scores; the first: {_first(missing)}",
            where=where,
            expected="a score for every item of the run",
            remedy=f"Score the materials of {facts.study} {facts.study_version} again",
        )
    if seen.study and (seen.study, seen.study_version) != (facts.study, facts.study_version):
        raise AnalysisError(
            f"the run is of {facts.study} {facts.study_version}, the scores are of "
            f"{seen.study} {seen.study_version}",
            where=where,
            expected="one study in one version",
        )
    if seen.materials_hash != facts.materials_hash and seen.materials_hash != items_hash():
        raise AnalysisError(
            f"the run's materials have the hash {facts.materials_hash[:12]}, those scored "
            f"{seen.materials_hash[:12]}",
            where=where,
            expected="the same materials",
            remedy="Score the study's materials again with `parallax lm score`",
        )


def _first(ids: list[str]) -> str:
    return ", ".join(ids[:_SHOWN])
