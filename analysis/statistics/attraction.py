"""Attraction: accuracy when an intervening word differs in number from the relevant word.

The module is independent of any study: a configuration comes from the items' features, and features
with the same values (number = singular | plural of two nouns) can match or mismatch.
"""

from collections.abc import Mapping

import pandas as pd

from analysis.data.categorical import find_codes, take_values
from analysis.data.load import PEOPLE
from analysis.statistics.accuracy import (
    accuracy_difference,
    model_accuracy,
    people_accuracy,
)

MATCH, MISMATCH = "match", "mismatch"
# Only the columns that accuracies need, since there may be millions of judgments.
_JUDGMENT_COLUMNS = ["participant", "item_id", "construction", "chose_good"]


def feature_columns(items: pd.DataFrame) -> pd.DataFrame:
    """Return the features as columns, one row per row of ``items``; missing if absent.

    Args:
        items: The table items; ``features`` is name=value pairs joined by spaces.
    """
    distinct_features = {text: _parse_features(text) for text in items["features"].unique()}
    return pd.DataFrame([distinct_features[text] for text in items["features"]], index=items.index)


def _parse_features(text: str) -> dict[str, str]:
    return dict(pair.split("=", 1) for pair in text.split() if "=" in pair)


def configurations(items: pd.DataFrame) -> pd.DataFrame:
    """Return the items that can show attraction, and whether their features match.

    In each construction, the features are compared that share all their values there (two or
    more of them). Constructions with no such features are left out.

    Args:
        items: The table items: item_id, construction, features.

    Returns:
        One row per item: item_id, configuration (the compared values joined by " / "), agreement
        (``match`` where all are equal, else ``mismatch``).
    """
    keys = ["construction", "features"]
    compared = [
        _compare_features(group)
        for _, group in items[keys].drop_duplicates().groupby("construction")
    ]
    distinct_features = pd.concat(compared, ignore_index=True)
    return items[["item_id", *keys]].merge(distinct_features, on=keys).drop(columns=keys)


def _compare_features(distinct_features: pd.DataFrame) -> pd.DataFrame:
    """Return one construction's rows with configuration and agreement; empty if not comparable."""
    features = feature_columns(distinct_features).dropna(axis=1)
    feature_values = features[_find_comparable_features(features)].to_numpy(dtype=str)
    if feature_values.shape[1] == 0:
        distinct_features = distinct_features.head(0)
    rows = feature_values[: len(distinct_features)]
    return distinct_features.assign(
        configuration=pd.Series(
            [" / ".join(row) for row in rows], distinct_features.index, dtype=str
        ),
        agreement=pd.Series(
            [MATCH if len({*row}) == 1 else MISMATCH for row in rows],
            distinct_features.index,
            dtype=str,
        ),
    )


def _find_comparable_features(features: pd.DataFrame) -> list[str]:
    """Return the largest set of varying features with the same values; empty if there is none."""
    by_values: dict[frozenset[str], list[str]] = {}
    for name in features.columns:
        values = frozenset(features[name])
        if len(values) > 1:
            by_values.setdefault(values, []).append(name)
    largest = max(by_values.values(), key=len, default=[])
    return largest if len(largest) > 1 else []


def attraction_by_configuration(
    judgments: pd.DataFrame,
    decisions: Mapping[str, pd.DataFrame],
    configured: pd.DataFrame,
) -> pd.DataFrame:
    """Return accuracies by construction and configuration, in long form (``accuracy``).

    Args:
        judgments: One row per judgment, from ``analysis.data.join.judgments``.
        decisions: Each model's decisions, from ``analysis.data.join.decisions``.
        configured: One row per item, from ``configurations``.
    """
    configured_judgments = _add_configuration(judgments[_JUDGMENT_COLUMNS], configured)
    by = ("construction", "configuration")
    items = configured_judgments["item_id"].unique().tolist()
    frames = [people_accuracy(configured_judgments, by)]
    frames += [
        model_accuracy(_add_configuration(frame, configured), model, by, items)
        for model, frame in decisions.items()
    ]
    return pd.concat(frames, ignore_index=True)


def attraction(
    judgments: pd.DataFrame,
    decisions: Mapping[str, pd.DataFrame],
    configured: pd.DataFrame,
) -> pd.DataFrame:
    """Return the drop in accuracy that a mismatch causes.

    Args:
        judgments: One row per judgment, from ``analysis.data.join.judgments``.
        decisions: Each model's decisions, from ``analysis.data.join.decisions``.
        configured: One row per item, from ``configurations``.

    Returns:
        judge, construction, effect (accuracy where the features match minus where they do not),
        low, high (people: two-way clustered; models on the judged items, without interval).
    """
    configured_judgments = _add_configuration(judgments[_JUDGMENT_COLUMNS], configured)
    items = set(configured_judgments["item_id"].unique().tolist())
    effects = [_people_effects(configured_judgments)]
    for model, frame in decisions.items():
        configured_decisions = _add_configuration(frame, configured)
        effects.append(
            _model_effects(configured_decisions[configured_decisions["item_id"].isin(items)], model)
        )
    return pd.concat(effects, ignore_index=True)


def attraction_by_elicitation(
    model_answers: pd.DataFrame, configured: pd.DataFrame
) -> pd.DataFrame:
    """Return the drop in a model participant's accuracy that a mismatch causes, by reading.

    Args:
        model_answers: Model participants' answers, as in ``TakerData.frame``.
        configured: One row per item, from ``configurations``.

    Returns:
        model, reading, construction, effect, low, high (95%, sessions and frames clustered).
    """
    if configured.empty:
        return pd.DataFrame()
    valid = model_answers[model_answers["chose_good"].notna()]
    valid = valid.assign(participant=valid["session"].astype(str))
    frames = []
    for (model, reading), answers in valid.groupby(["model", "reading"], sort=False):
        effects = _people_effects(_add_configuration(answers, configured)).drop(columns="judge")
        frames.append(effects.assign(model=str(model), reading=str(reading)))
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def _add_configuration(rows: pd.DataFrame, configured: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of items that can show attraction, with configuration and agreement."""
    index = find_codes(rows["item_id"], pd.Index(configured["item_id"].tolist()))
    columns = {
        name: take_values(configured[name], index) for name in ("configuration", "agreement")
    }
    return rows.assign(**columns)[index >= 0]


def _people_effects(judgments: pd.DataFrame) -> pd.DataFrame:
    columns = ["judge", "construction", "effect", "low", "high"]
    frames = []
    for construction, group in judgments.groupby("construction", sort=False, observed=True):
        match = (group["agreement"] == MATCH).to_numpy()
        difference = accuracy_difference(group, match)
        frames.append(difference.assign(judge=PEOPLE, construction=str(construction)))
    rows = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=columns)
    return rows.rename(columns={"difference": "effect"})[columns].dropna(subset="effect")


def _model_effects(decisions: pd.DataFrame, model: str) -> pd.DataFrame:
    grouped = decisions.groupby(["construction", "agreement"], sort=False, observed=True)
    table = grouped["correct"].mean().unstack("agreement")
    table = table.reindex(columns=[MATCH, MISMATCH]).dropna()
    return pd.DataFrame(
        {
            "judge": model,
            "construction": table.index.astype(str),
            "effect": (table[MATCH] - table[MISMATCH]).to_numpy(),
        }
    )
