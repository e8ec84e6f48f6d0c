"""Dependence of model participants' results on reading, order and labels."""

from collections.abc import Iterator, Mapping
from itertools import combinations

import numpy as np
import pandas as pd

from analysis.statistics.accuracy import people_accuracy
from analysis.statistics.paired import adjusted, people_against_models

LEVEL = 0.05
_WHO = ["model", "reading"]


def by_reading(judgments: pd.DataFrame, taken: pd.DataFrame, margin: float) -> pd.DataFrame:
    """Return participants' minus the model's accuracy by reading, on items answered by both.

    A model's answer to an item is the share of good choices among its sessions with a valid answer.
    Intervals are those of ``people_against_models``.

    Args:
        judgments: Human participants' judgments.
        taken: Model participants' answers, as in ``Taken.frame``.
        margin: Smaller differences count as no difference.

    Returns:
        model, reading, construction (empty: all), people, accuracy (the model's), model_low,
        model_high, difference (people minus model), low, high, p, p_holm and p_fdr (over the
        constructions and readings of one model), n_items, n_sittings, unread (a share), n_left_out
        (judged items left out because the model answered none of their trials).
    """
    found = []
    for (model, reading), own in taken.groupby(_WHO, sort=False):
        read = own[own["chose_good"].notna()]
        if read.empty:
            continue
        correct = read.groupby("item_id", sort=False)["chose_good"].mean().rename("correct")
        on_both = judgments[judgments["item_id"].isin(correct.index)]
        if on_both.empty:
            continue
        rows = people_against_models(
            on_both, {str(reading): correct.reset_index()}, ["construction"], margin
        )
        rows = rows.rename(columns={"model": "accuracy", "judge": "reading"})
        alone = _alone(read)
        rows = rows.merge(alone, "left", on="construction")
        rows["unread"] = own["chose_good"].isna().mean()
        rows["n_sittings"] = own["participant"].nunique()
        rows["n_left_out"] = judgments["item_id"].nunique() - on_both["item_id"].nunique()
        found.append(rows.assign(model=str(model)))
    if not found:
        return pd.DataFrame()
    together = pd.concat(found, ignore_index=True)
    parts = [adjusted(rows) for _, rows in together.groupby("model", sort=False)]
    return pd.concat(parts, ignore_index=True)


def _alone(read: pd.DataFrame) -> pd.DataFrame:
    """Return the model's own intervals, clustered by session and frame."""
    rows = read.assign(participant=read["session"].astype(str))
    whole = people_accuracy(rows.assign(construction=""), ["construction"])
    parts = people_accuracy(rows, ["construction"])
    found = pd.concat([whole, parts], ignore_index=True)
    named = {"low": "model_low", "high": "model_high"}
    return found.rename(columns=named)[["construction", *named.values()]]


def conclusions(
    found: pd.DataFrame, chance: float, attraction: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Return the number of readings that support each conclusion.

    Args:
        found: The result of ``by_reading``.
        chance: The accuracy of guessing.
        attraction: The result of ``attraction_by_reading``, if items can show attraction.

    Returns:
        model, construction, conclusion, holds and opposite (numbers of readings with an interval
        on that side, or on the other), n_readings, readings (those where it holds).
    """
    rows = []
    for (model, construction), own in found.groupby(["model", "construction"], sort=False):
        better = own["model_low"] > chance, own["model_high"] < chance
        people = own["low"] > 0, own["high"] < 0
        adjusted_people = (
            people[0] & (own["p_holm"] < LEVEL),
            people[1] & (own["p_holm"] < LEVEL),
        )
        for name, (holds, opposite) in {
            "better than chance": better,
            "people better": people,
            "people better, Holm": adjusted_people,
        }.items():
            rows.append(
                _conclusion(str(model), str(construction), name, own["reading"], holds, opposite)
            )
    return pd.DataFrame([*rows, *_attracted(attraction), *_ranks(found)])


def _attracted(attraction: pd.DataFrame | None) -> Iterator[dict[str, object]]:
    if attraction is None or attraction.empty:
        return
    for (model, construction), own in attraction.groupby(["model", "construction"], sort=False):
        sides = own["low"] > 0, own["high"] < 0
        name = "attraction: fewer right where features differ"
        yield _conclusion(str(model), str(construction), name, own["reading"], *sides)


def _ranks(found: pd.DataFrame) -> list[dict[str, object]]:
    """Return for each two models the number of readings in which one is more accurate."""
    wide = found.pivot_table("accuracy", ["construction", "reading"], "model", sort=False)
    rows = []
    for first, second in combinations(wide.columns, 2):
        for construction, own in wide.groupby(level=0, sort=False):
            both = own[[first, second]].dropna()
            holds, opposite = both[first] > both[second], both[first] < both[second]
            names = pd.Series(both.index.get_level_values(1), index=both.index)
            label = f"more accurate than {second}"
            rows.append(_conclusion(str(first), str(construction), label, names, holds, opposite))
    return rows


def _conclusion(
    model: str,
    construction: str,
    name: str,
    readings: "pd.Series[str]",
    holds: "pd.Series[bool]",
    opposite: "pd.Series[bool]",
) -> dict[str, object]:
    return {
        "model": model,
        "construction": construction,
        "conclusion": name,
        "holds": int(holds.sum()),
        "opposite": int(opposite.sum()),
        "n_readings": len(readings),
        "readings": ", ".join(readings[holds]),
    }


def consistency(taken: pd.DataFrame, judgments: pd.DataFrame) -> pd.DataFrame:
    """Return the agreement of a model's answers to an item, compared with that of participants.

    Returns:
        judge, reading, between (orders, labels, sessions, readings; human participants: people),
        agreement (the share of equal pairs of answers), n_pairs.
    """
    read = taken[taken["chose_good"].notna()]
    same: Mapping[str, list[str]] = {
        "orders": ["context", "labels", "session", "item_id"],
        "labels": ["context", "order", "session", "item_id"],
        "sessions": ["context", "labels", "order", "item_id"],
    }
    rows = []
    for (model, reading), own in read.groupby(_WHO, sort=False):
        for name, keys in same.items():
            rows.append({"judge": model, "reading": reading, "between": name, **_alike(own, keys)})
    means = read.groupby(["model", "item_id", "reading"], sort=False)["chose_good"].mean()
    majority = means.round().rename("chose_good").reset_index()
    for model, own in majority.groupby("model", sort=False):
        alike = _alike(own, ["item_id"])
        rows.append({"judge": model, "reading": "", "between": "readings", **alike})
    people = judgments.assign(chose_good=judgments["chose_good"].astype(float))
    alike = _alike(people, ["item_id"])
    rows.append({"judge": "people", "reading": "", "between": "people", **alike})
    found = pd.DataFrame(rows)
    return found[found["n_pairs"] > 0].reset_index(drop=True)


def _alike(rows: pd.DataFrame, keys: list[str]) -> dict[str, float]:
    """Return the share of equal choices among pairs of rows with equal keys."""
    grouped = rows.groupby(keys, sort=False, observed=True)["chose_good"].agg(["sum", "size"])
    right, n = grouped["sum"].to_numpy(float), grouped["size"].to_numpy(float)
    alike = right * (right - 1) / 2 + (n - right) * (n - right - 1) / 2
    pairs = float((n * (n - 1) / 2).sum())
    return {"agreement": float(alike.sum()) / pairs if pairs else np.nan, "n_pairs": pairs}
