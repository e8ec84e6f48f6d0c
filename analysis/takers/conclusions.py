"""In how many readings each conclusion on a model that took the sessions holds."""

from collections.abc import Iterator
from itertools import combinations

import pandas as pd

# The level of tests, adjusted for all constructions and readings of one model.
_LEVEL = 0.05


def count_supporting_readings(
    differences: pd.DataFrame, chance: float, attraction: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Return the number of readings that support each conclusion.

    Args:
        differences: The result of ``compare_by_elicitation``.
        chance: The accuracy of guessing.
        attraction: The result of ``attraction_by_elicitation``, if items can show attraction.

    Returns:
        model, construction, conclusion, holds and opposite (numbers of readings with an interval
        on that side, or on the other), n_readings, readings (those where it holds).
    """
    rows = []
    for (model, construction), cells in differences.groupby(["model", "construction"], sort=False):
        better = cells["model_low"] > chance, cells["model_high"] < chance
        people = cells["low"] > 0, cells["high"] < 0
        adjusted_people = (
            people[0] & (cells["p_holm"] < _LEVEL),
            people[1] & (cells["p_holm"] < _LEVEL),
        )
        for name, (holds, opposite) in {
            "better than chance": better,
            "people better": people,
            "people better, Holm": adjusted_people,
        }.items():
            rows.append(
                _conclusion_row(
                    str(model), str(construction), name, cells["reading"], holds, opposite
                )
            )
    return pd.DataFrame(
        [*rows, *_attraction_conclusions(attraction), *_rank_conclusions(differences)]
    )


def describe_conclusions(supported: pd.DataFrame) -> Iterator[str]:
    """Yield whether the conclusions on each model, over all items, depend on the reading."""
    statements = {
        "better than chance": "{} is better than chance",
        "people better, Holm": "people are better than {}",
    }
    overall = supported[
        (supported["construction"] == "") & supported["conclusion"].isin(statements)
    ]
    for row in overall.to_dict("records"):
        statement = statements[row["conclusion"]].format(row["model"])
        n, holds, opposite = row["n_readings"], row["holds"], row["opposite"]
        if n == 1:
            continue
        if not holds and not opposite:
            yield f"Whether {statement} is open in all {n} readings."
            continue
        if n in (holds, opposite):
            verdict = "holds" if holds else "is reversed"
            yield f"However the model was asked: that {statement} {verdict} in all {n} readings."
            continue
        which = f" ({row['readings']})" if holds else ""
        other = f", and the opposite in {opposite}" if opposite else ""
        yield (
            f"Whether {statement} depends on how the model was asked: it holds in "
            f"{holds or 'none'} of {n} readings{which}{other}."
        )


def _attraction_conclusions(attraction: pd.DataFrame | None) -> Iterator[dict[str, object]]:
    if attraction is None or attraction.empty:
        return
    for (model, construction), effects in attraction.groupby(["model", "construction"], sort=False):
        sides = effects["low"] > 0, effects["high"] < 0
        name = "attraction: fewer right where features differ"
        yield _conclusion_row(str(model), str(construction), name, effects["reading"], *sides)


def _rank_conclusions(differences: pd.DataFrame) -> list[dict[str, object]]:
    """Return for each two models the number of readings in which one is more accurate."""
    wide = differences.pivot_table("accuracy", ["construction", "reading"], "model", sort=False)
    rows = []
    for first_model, second_model in combinations(wide.columns, 2):
        for construction, accuracies in wide.groupby(level=0, sort=False):
            shared = accuracies[[first_model, second_model]].dropna()
            holds, opposite = (
                shared[first_model] > shared[second_model],
                shared[first_model] < shared[second_model],
            )
            names = pd.Series(shared.index.get_level_values(1), index=shared.index)
            label = f"more accurate than {second_model}"
            rows.append(
                _conclusion_row(str(first_model), str(construction), label, names, holds, opposite)
            )
    return rows


def _conclusion_row(
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
