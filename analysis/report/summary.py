"""What a reader wants to know first, in sentences filled in from the numbers."""

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from analysis.data.load import PEOPLE
from analysis.statistics.accuracy import JUDGED
from experiment.studies.study import Study

_GAPS_NAMED = 3
# Two differences of accuracies that only rounding keeps apart are one and the same.
_SAME = 1e-9


def summary(
    accuracy: pd.DataFrame, study: Study, statistics: Mapping[str, pd.DataFrame]
) -> list[str]:
    """Return what people chose, and for each model how it did and where it differs from people.

    Args:
        accuracy: Accuracies by construction in long form (see ``analysis.statistics.accuracy``).
        study: The study, for the constructions' titles and order.
        statistics: The comparison's statistics by name; those of its differences and correlations
            are told where they are there.
    """
    on_judged = accuracy[accuracy["items"] == JUDGED]
    people = on_judged[on_judged["judge"] == PEOPLE].set_index("construction")
    overall = np.average(people["accuracy"], weights=people["n_judgments"].astype(float))
    found = [f"People chose the expected version in {overall:.1%} of all judgments."]
    models = on_judged[on_judged["is_model"]]
    for model, rows in models.groupby("judge", sort=False):
        own = rows.set_index("construction")
        mean = np.average(own["accuracy"], weights=own["n_items"].astype(float))
        sentences = [f"{model} gave it the higher score on {mean:.1%} of the judged items."]
        sentences += _difference(str(model), statistics)
        sentences += _differences(str(model), people["accuracy"], own["accuracy"], study)
        sentences += _correlation(str(model), statistics)
        found.append(" ".join(sentences))
    return found


def _difference(model: str, statistics: Mapping[str, pd.DataFrame]) -> Iterator[str]:
    """Yield by how much people are more often right on the same items, with its interval."""
    found = _of_all_items(statistics, "people_minus_models", model)
    if found is not None:
        yield (
            f"On the same items people minus {model} is {_points(found['difference'])} percentage "
            f"points (95% interval {_points(found['low'])} to {_points(found['high'])})."
        )


def _correlation(model: str, statistics: Mapping[str, pd.DataFrame]) -> Iterator[str]:
    """Yield how a model's preference goes with people's, and how well people's can be known."""
    found = _of_all_items(statistics, "correlations", model)
    if found is None or pd.isna(found["spearman"]):
        return
    sentence = (
        f"Over items, its log-probability difference and people's share correlate by "
        f"{_signed(found['spearman'])} (Spearman; 95% interval {_signed(found['spearman_low'])} to "
        f"{_signed(found['spearman_high'])})"
    )
    ceiling = statistics["ceiling"]["spearman_ceiling"].item() if "ceiling" in statistics else 0
    yield f"{sentence}; the noise ceiling is {ceiling:.2f}." if ceiling > 0 else f"{sentence}."


def _of_all_items(
    statistics: Mapping[str, pd.DataFrame], name: str, model: str
) -> "pd.Series[float] | None":
    if name not in statistics:
        return None
    rows = statistics[name]
    found = rows[(rows["construction"] == "") & (rows["judge"] == model)]
    return None if found.empty else found.iloc[0]


def _points(share: float) -> str:
    return f"{100 * share:+.1f}".replace("-", "\N{MINUS SIGN}")


def _signed(value: float) -> str:
    return f"{value:.2f}".replace("-", "\N{MINUS SIGN}")


def _differences(
    model: str, people: "pd.Series[float]", own: "pd.Series[float]", study: Study
) -> Iterator[str]:
    """Yield where people and a model differ most, whichever of them is the better there."""
    both = pd.DataFrame({"people": people, "model": own}).dropna()
    order = {one.name: place for place, one in enumerate(study.constructions)}
    both = both.sort_index(key=lambda names: names.map(lambda name: order.get(name, len(order))))
    apart = (both["people"] - both["model"]).abs()
    apart = apart[apart > _SAME].sort_values(ascending=False, kind="stable")
    if both.empty:
        return
    if apart.empty:
        yield f"People and {model} are equally accurate on every construction."
        return
    titles = {one.name: (one.group, one.title) for one in study.constructions}
    named = [_named(titles, str(name), both.loc[name]) for name in apart.index[:_GAPS_NAMED]]
    least = apart.iloc[len(named) - 1]
    tied = int((apart.iloc[len(named) :] >= least - _SAME).sum())
    others = f"; {tied} more are as far apart as the last of these" if tied else ""
    yield f"People and {model} are furthest apart on {'; '.join(named)}{others}."


def _named(titles: Mapping[str, tuple[str, str]], name: str, accuracy: "pd.Series[float]") -> str:
    group, title = titles.get(name, ("", name))
    heading = f"{group}: " if group else ""
    return f"{heading}{title} ({accuracy['people']:.2f} and {accuracy['model']:.2f})"
