"""Ratings of single versions on a scale."""

from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from analysis.data.join import Joined, check_same_items, hash_items, judgments
from analysis.data.load import ExportedRun, Scores
from analysis.findings.comparison_words import has_primary
from analysis.findings.design import with_units
from analysis.findings.design_model import RATING_MODEL
from analysis.findings.finding import Context, FindingInputs, titles_of
from analysis.findings.flow import FLOW
from analysis.findings.links import LINK_FUNCTIONS
from analysis.findings.measures import RATING_EFFECTS
from analysis.findings.other_answers import OTHER_RATED
from analysis.findings.ratings import RATING_MODELS, RATINGS
from analysis.report.summary import ceiling_phrase, note_equal_scores
from analysis.responses.base import ResponseAnalysis
from analysis.statistics.contrasts import add_z_scores
from analysis.tables.provenance import AskedFor


def _join_ratings(run: ExportedRun, scores: Sequence[Scores]) -> Joined:
    """Return the ratings; models have no decisions, since there is no choice."""
    rated = judgments(run)
    items = rated["item_id"].unique().tolist()
    for model_scores in scores:
        check_same_items(run, model_scores, items, lambda: hash_items(run))
    return Joined(add_z_scores(with_units(rated, run.items)), {}, run.items)


def _summarise_ratings(inputs: FindingInputs, statistics: Mapping[str, pd.DataFrame]) -> list[str]:
    return list(_write_sentences(inputs, statistics))


def _write_sentences(
    inputs: FindingInputs, statistics: Mapping[str, pd.DataFrame]
) -> Iterator[str]:
    """Yield the main results in sentences."""
    titles = titles_of(inputs.context.study)
    differences = statistics["rating_differences"]
    for row in differences.to_dict("records"):
        name = titles.get(str(row["construction"]), row["construction"])
        interval = "too few ratings, participants or frames for a conclusion"
        if not pd.isna(row["low"]):
            interval = f"95% interval {row['low']:+z.2f} to {row['high']:+z.2f}"
        yield (
            f"{name}: people's ratings of the expected version differ from those of the other by "
            f"{row['difference']:+z.2f} points ({interval}); means "
            f"{row['mean_good']:.2f} and {row['mean_other']:.2f}."
        )
    if differences.empty and not has_primary(statistics):
        yield from _condition_sentences(statistics, inputs.context)
    yield from _model_sentences(statistics, titles)


def _condition_sentences(statistics: Mapping[str, pd.DataFrame], context: Context) -> Iterator[str]:
    """Yield the means of each construction's conditions."""
    means, titles = statistics["ratings"], titles_of(context.study)
    for name, rows in means.groupby("construction", sort=False):
        cells = zip(context.name_conditions(rows), rows["mean"], strict=True)
        means_in_words = ", ".join(f"{condition} {mean:.2f}" for condition, mean in cells)
        yield f"{titles.get(str(name), str(name))}: mean ratings {means_in_words}."


def _model_sentences(
    statistics: Mapping[str, pd.DataFrame], titles: Mapping[str, str]
) -> Iterator[str]:
    correlations = statistics.get("ratings_and_models", pd.DataFrame())
    for row in correlations.to_dict("records"):
        if row.get("measure") == "mean" and row["n_scores"] == 1 < row["n_items"]:
            title = titles.get(str(row["construction"]), row["construction"]) or "All constructions"
            yield f"{title}: {note_equal_scores(str(row['judge']), int(row['n_items']))}"
        if pd.isna(row["spearman"]):
            continue
        ends = f"95% interval {row['spearman_low']:z.2f} to {row['spearman_high']:z.2f}"
        if "measure" not in row:
            yield (
                f"{row['label']}: over {row['n_items']:.0f} items its surprisal difference and "
                f"the difference of the ratings have Spearman's rho = {row['spearman']:z.2f} "
                f"({ends})."
            )
        elif row["measure"] == "mean":
            title = titles.get(str(row["construction"]), row["construction"]) or "All constructions"
            remark = ceiling_phrase(row["spearman"], row["ceiling"])
            yield (
                f"{title}: over {row['n_items']:.0f} sentences {row['judge']}'s log-probability "
                "per "
                f"token and the mean rating have Spearman's rho = {row['spearman']:z.2f} ({ends})"
                f"{remark}."
            )


_RATING_WORDS = AskedFor(
    shown="one sentence",
    task="rated it on a scale from 1 to {points}",
    answer="rating",
    measured="ratings",
    unit="frame",
    methods=(
        "The interval of a mean rating is Student's, with a variance that counts participants and "
        "frames as clusters (Cameron, Gelbach & Miller, 2011).",
        "No rating counts as right or wrong.",
    ),
    decides=False,
)
RATING = ResponseAnalysis(
    "rating",
    _RATING_WORDS,
    _join_ratings,
    _summarise_ratings,
    (FLOW, RATINGS, RATING_EFFECTS, RATING_MODEL, RATING_MODELS, LINK_FUNCTIONS, OTHER_RATED),
)
