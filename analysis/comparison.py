"""From a run and models' scores to everything that a report shows, without files."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from analysis.data.join import Joined, join
from analysis.data.load import ExportedRun, Scores
from analysis.data.participant_flow import flow
from analysis.data.several_options import chance
from analysis.errors import AnalysisError
from analysis.findings.curves import curves
from analysis.findings.differences import difference_findings
from analysis.findings.findings import Context, Findings
from analysis.findings.human_model_agreement import human_model_agreement
from analysis.findings.intervals import interval_findings
from analysis.findings.lexical import lexical_findings
from analysis.findings.metrics_table import metrics_findings
from analysis.findings.mixed import mixed_findings
from analysis.findings.multiverse import MOST_RESPONSES, multiverse_findings
from analysis.findings.option_shares import option_findings
from analysis.findings.people import people_findings
from analysis.findings.selection import selection, with_selection
from analysis.parallel import in_second_process
from analysis.rating_comparison import compare_ratings, is_rated
from analysis.report.figure_list import comparison_drawings
from analysis.result import Comparison
from analysis.scores.metrics import FULL, with_metric
from analysis.statistics.accuracy import bootstrap_accuracy, model_accuracy, people_accuracy
from analysis.statistics.paired import MARGIN
from analysis.statistics.resample import numpy_generator
from analysis.tables.accuracy_table import Table
from analysis.tables.accuracy_tables import accuracy_tables
from analysis.tables.provenance import ModelFacts, Provenance

CONSTRUCTION = ("construction",)
CONDITION = ("construction", "condition")


@dataclass(frozen=True, slots=True)
class ComparisonOptions:
    """What a comparison is to hold and how it is to be computed.

    Attributes:
        resamples: How many times to resample for each interval.
        seed: The seed of the resampling.
        metric: How a model's log-probabilities become one score (see ``analysis.scores.metrics``).
        unigram: A unigram model's scores, for the metrics that weigh against them.
        corpus: How often each word occurs in the models' training text.
        curves: Whether log-probabilities are drawn word by word.
        curve_items: The ids of items to draw each by itself, in place of averages.
        formula: The mixed model's fixed and random effects; None for the usual ones.
        margin: Differences of accuracies smaller than this count as none (tests of equivalence).
    """

    resamples: int = 10_000
    seed: int = 1
    metric: str = FULL
    unigram: Scores | None = None
    corpus: Mapping[str, int] | None = None
    curves: bool = False
    curve_items: Sequence[str] = ()
    formula: str | None = None
    margin: float = MARGIN


def compare(
    run: ExportedRun, scores: Sequence[Scores], options: ComparisonOptions, *, code_version: str
) -> Comparison:
    """Compare the people of a run with models in every way that the report shows.

    Args:
        run: The exported run.
        scores: One entry per model, as read from the files; none for people alone.
        options: What to hold and how to compute it.
        code_version: What the tables are to say about the code that compared.

    Raises:
        AnalysisError: The scores are not of the run's items, the tables contradict each other,
            the formula cannot be used, or something of models is asked for and there are none.
    """
    if not scores:
        _refuse_of_models(options)
    by_metric = [with_metric(one, options.metric, options.unigram) for one in scores]
    if is_rated(run):
        return _of_ratings(run, by_metric, options, code_version)
    data = join(run, by_metric)
    context = Context(run.study, _provenance(run, by_metric, data, options, code_version))
    with in_second_process(
        lambda: list(_other_findings(run, scores, data, options, context)),
        room=len(run.responses) <= MOST_RESPONSES,
    ) as others:
        by_construction, by_condition = (
            _accuracies(data, by, options) for by in (CONSTRUCTION, CONDITION)
        )
        on_judged = data.on_judged_items()
        selected: dict[tuple[str, ...], pd.DataFrame] = {
            by: selection(run, frame, by)
            for by, frame in ((CONSTRUCTION, by_construction), (CONDITION, by_condition))
        }
        findings = [
            option_findings(run, on_judged.judgments, by_metric, context),
            difference_findings(on_judged, context, options.margin),
            human_model_agreement(on_judged, context),
            mixed_findings(on_judged, context, options.formula),
            people_findings(on_judged, context),
            interval_findings(by_construction, context),
            *others(),
        ]
    found = Comparison(
        study=run.study,
        provenance=context.origin,
        by_construction=by_construction,
        by_condition=by_condition,
        tables=(
            *_accuracy_tables(run, by_construction, by_condition, context.origin, selected),
            *(table for one in findings for table in one.tables),
        ),
        statistics={name: frame for one in findings for name, frame in one.statistics.items()}
        | ({"selection": selected[CONSTRUCTION]} if len(selected[CONSTRUCTION]) else {})
        | _curves(scores, data, options),
        left_out=tuple(sentence for one in findings for sentence in one.left_out),
        folders={name: write for one in findings for name, write in one.folders.items()},
    )
    return replace(found, drawings=tuple(comparison_drawings(found)))


def _of_ratings(
    run: ExportedRun, scores: Sequence[Scores], options: ComparisonOptions, code_version: str
) -> Comparison:
    return compare_ratings(
        run,
        scores,
        metric=options.metric,
        resamples=options.resamples,
        seed=options.seed,
        code=code_version,
    )


def _accuracy_tables(
    run: ExportedRun,
    by_construction: pd.DataFrame,
    by_condition: pd.DataFrame,
    origin: Provenance,
    selected: Mapping[tuple[str, ...], pd.DataFrame],
) -> Iterator[Table]:
    for table in accuracy_tables(run.study, by_construction, by_condition, origin):
        by = CONDITION if "condition" in table.frame else CONSTRUCTION
        yield with_selection(table, selected[by])


def _provenance(
    run: ExportedRun,
    scores: Sequence[Scores],
    data: Joined,
    options: ComparisonOptions,
    code_version: str,
) -> Provenance:
    return Provenance(
        run=run.facts,
        flow=flow(run),
        n_judgments=len(data.judgments),
        n_items=data.judgments["item_id"].nunique(),
        models=[_model_facts(one, data.decisions[one.facts.model]) for one in scores],
        resamples=options.resamples,
        seed=options.seed,
        code_version=code_version,
        metric=options.metric,
        chance=chance(run),
        n_repeated=_repeated(data.judgments),
    )


def _repeated(judgments: pd.DataFrame) -> int:
    known = judgments[judgments["participant"].notna()]
    return int(known.duplicated(["participant", "item_id"]).sum())


def _model_facts(scores: Scores, decisions: pd.DataFrame) -> ModelFacts:
    return ModelFacts(
        facts=scores.facts,
        n_items=len(decisions),
        n_ties=int(decisions["tie"].sum()),
        n_unknown=int(decisions["n_unknown"].sum()),
    )


def _refuse_of_models(options: ComparisonOptions) -> None:
    asked = {
        "--metric": options.metric != FULL,
        "--unigram": options.unigram is not None,
        "--curves": options.curves,
        "--curves-of": bool(options.curve_items),
    }
    for name, given in asked.items():
        if given:
            raise AnalysisError(
                f"{name} is about models, but no model is compared",
                expected="scores of at least one model",
                remedy="Give score files with --scores, or leave the option out",
            )


def _accuracies(data: Joined, by: tuple[str, ...], options: ComparisonOptions) -> pd.DataFrame:
    items = data.judgments["item_id"].unique().tolist()
    rng = numpy_generator(options.seed, "bootstrap", *by)
    check = bootstrap_accuracy(data.judgments, by, rng, options.resamples)
    people = people_accuracy(data.judgments, by).merge(check, on=list(by))
    models = [model_accuracy(frame, name, by, items) for name, frame in data.decisions.items()]
    return pd.concat([people, *models], ignore_index=True)


def _other_findings(
    run: ExportedRun,
    scores: Sequence[Scores],
    data: Joined,
    options: ComparisonOptions,
    context: Context,
) -> Iterator[Findings]:
    """Yield what takes long and can be found meanwhile; ``scores`` without a metric."""
    yield multiverse_findings(run, data, context)
    yield lexical_findings(data, context, options.corpus)
    yield metrics_findings(data, context, scores, options.unigram)


def _curves(
    scores: Sequence[Scores], data: Joined, options: ComparisonOptions
) -> dict[str, pd.DataFrame]:
    """Return log-probabilities word by word under "curves"; nothing where none were asked for."""
    if not (options.curves or options.curve_items):
        return {}
    found = []
    for one in scores:
        for item in options.curve_items:
            alone = curves(one, data.items, [item])
            found.append(alone.assign(condition=f"{alone['condition'].iloc[0]}, {item}"))
        if not options.curve_items:
            found.append(curves(one, data.items, data.judgments["item_id"]))
    return {"curves": pd.concat(found)}
