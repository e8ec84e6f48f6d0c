"""From a run in which sentences were rated, and models' scores, to a report's contents."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pandas as pd

from analysis.data.join import check_same_items, items_hash, judgments
from analysis.data.load import ExportedRun, Scores
from analysis.data.participant_flow import flow
from analysis.findings.findings import Context, Findings
from analysis.findings.ratings import rating_findings
from analysis.report.figure_list import comparison_drawings
from analysis.result import Comparison
from analysis.tables.provenance import ModelFacts, Provenance
from experiment.trials.presentations import Arranged, load_presentation


def is_rated(run: ExportedRun) -> bool:
    """Return whether sentences were rated in a run, in place of choices among options."""
    return "rating" in run.responses


def compare_ratings(
    run: ExportedRun, scores: Sequence[Scores], *, metric: str, resamples: int, seed: int, code: str
) -> Comparison:
    """Compare the ratings of a run with models.

    Args:
        run: The exported run.
        scores: One entry per model, with the metric's one number for each version.
        metric: The metric's name.
        resamples: How many times to resample for each interval.
        seed: The seed of the resampling.
        code: What the tables are to say about the code that compared.

    Raises:
        AnalysisError: The tables contradict each other, or the scores are not of the run's items.
    """
    rated = judgments(run)
    conditions = list(dict.fromkeys(run.items["condition"].astype(str)))
    items = rated["item_id"].unique().tolist()
    for one in scores:
        check_same_items(run, one, items, lambda: items_hash(run))
    origin = Provenance(
        run=run.facts,
        flow=flow(run),
        n_judgments=len(rated),
        n_items=len(items),
        models=[_model_facts(one) for one in scores],
        resamples=resamples,
        seed=seed,
        code_version=code,
        metric=metric,
        rated=True,
    )
    found = rating_findings(rated, scores, _points(run), conditions, Context(run.study, origin))
    comparison = Comparison(
        study=run.study,
        provenance=origin,
        by_construction=pd.DataFrame(),
        by_condition=pd.DataFrame(),
        tables=found.tables,
        statistics=found.statistics,
        left_out=found.left_out,
        summary=tuple(_summary(run, found)),
    )
    return replace(comparison, drawings=tuple(comparison_drawings(comparison)))


def _points(run: ExportedRun) -> int:
    """Return the points of the scale."""
    study = run.study
    presentation = load_presentation(study.presentation, study.trial.parameters, own_code=False)
    assert isinstance(presentation, Arranged)
    assert presentation.points is not None
    return presentation.points


def _model_facts(scores: Scores) -> ModelFacts:
    frame = scores.frame
    return ModelFacts(
        facts=scores.facts,
        n_items=int(frame["item_id"].nunique()),
        n_ties=0,
        n_unknown=int(frame["n_unknown"].sum()),
    )


def _summary(run: ExportedRun, found: Findings) -> Iterator[str]:
    """Yield what a reader wants to know first."""
    titles = {one.name: one.title for one in run.study.constructions}
    apart = found.statistics["rating_differences"]
    for row in apart.to_dict("records"):
        name = titles.get(str(row["construction"]), row["construction"])
        yield (
            f"{name}: people rated the expected version {row['difference']:+.2f} points from the "
            f"other (95% interval {row['low']:+.2f} to {row['high']:+.2f}); means "
            f"{row['mean_good']:.2f} and {row['mean_other']:.2f}."
        )
    if apart.empty:
        means = found.statistics["ratings"]
        for row in means.to_dict("records"):
            name = titles.get(str(row["construction"]), row["construction"])
            yield f"{name}, {row['condition']}: mean rating {row['mean']:.2f}."
    together = found.statistics.get("ratings_and_models", pd.DataFrame())
    for row in together.to_dict("records"):
        if not pd.isna(row["spearman"]):
            yield (
                f"{row['label']}: over {row['n_items']:.0f} items its surprisal difference and "
                f"the difference of the ratings correlate by {row['spearman']:.2f} (Spearman; 95% "
                f"interval {row['spearman_low']:.2f} to {row['spearman_high']:.2f})."
            )
