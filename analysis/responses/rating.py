"""Ratings: one version at a time, on a scale."""

from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from analysis.data.join import Joined, check_same_items, items_hash, judgments
from analysis.data.load import ExportedRun, Scores
from analysis.findings.finding import Given
from analysis.responses.base import ResponseAnalysis


def _join(run: ExportedRun, scores: Sequence[Scores]) -> Joined:
    """Return the ratings; a model decides nothing where nothing is chosen."""
    rated = judgments(run)
    items = rated["item_id"].unique().tolist()
    for one in scores:
        check_same_items(run, one, items, lambda: items_hash(run))
    return Joined(rated, {}, run.items)


def _summary(given: Given, statistics: Mapping[str, pd.DataFrame]) -> list[str]:
    return list(_sentences(given, statistics))


def _sentences(given: Given, statistics: Mapping[str, pd.DataFrame]) -> Iterator[str]:
    """Yield what a reader wants to know first."""
    titles = {one.name: one.title for one in given.run.study.constructions}
    apart = statistics["rating_differences"]
    for row in apart.to_dict("records"):
        name = titles.get(str(row["construction"]), row["construction"])
        yield (
            f"{name}: people rated the expected version {row['difference']:+.2f} points from the "
            f"other (95% interval {row['low']:+.2f} to {row['high']:+.2f}); means "
            f"{row['mean_good']:.2f} and {row['mean_other']:.2f}."
        )
    if apart.empty:
        means = statistics["ratings"]
        for row in means.to_dict("records"):
            name = titles.get(str(row["construction"]), row["construction"])
            yield f"{name}, {row['condition']}: mean rating {row['mean']:.2f}."
    together = statistics.get("ratings_and_models", pd.DataFrame())
    for row in together.to_dict("records"):
        if not pd.isna(row["spearman"]):
            yield (
                f"{row['label']}: over {row['n_items']:.0f} items its surprisal difference and "
                f"the difference of the ratings correlate by {row['spearman']:.2f} (Spearman; 95% "
                f"interval {row['spearman_low']:.2f} to {row['spearman_high']:.2f})."
            )


RATING = ResponseAnalysis("rating", "rating", _join, _summary, right_or_wrong=False)
