"""Compute everything that a report shows from a run and models' scores, without files."""

import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing import get_context
from typing import TypeVar, cast

import pandas as pd
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from analysis.data.join import Joined
from analysis.data.kinds import add_kinds, keep_targets, study_of_targets
from analysis.data.load import ExportedRun, Scores
from analysis.data.n_alternatives import chance_accuracy
from analysis.data.participant_flow import count_participants
from analysis.data.scales import is_slider, rating_ends, write_ends
from analysis.errors import AnalysisError
from analysis.findings.comparison_words import comparison_sentences
from analysis.findings.design import label_conditions, missing_judgments
from analysis.findings.finding import (
    Comparison,
    ComparisonOptions,
    Context,
    Finding,
    FindingInputs,
    Findings,
)
from analysis.findings.multiverse import MOST_RESPONSES
from analysis.responses.base import ResponseAnalysis, load_analysis, select_findings
from analysis.scores.metrics import SUM, apply_metric
from analysis.tables.provenance import AskedFor, ModelFacts, Provenance

Result = TypeVar("Result")
# With fewer, the slow findings take less time than forking this process (0.2 s).
_FEWEST_FOR_PROCESS = 500
_pending_work: list[Callable[[], object]] = []


def compare(
    run: ExportedRun, scores: Sequence[Scores], options: ComparisonOptions, *, code_version: str
) -> Comparison:
    """Compare a run's participants with models in every way that the report shows.

    Args:
        run: The exported run.
        scores: One entry per model, as read from the files; none for participants alone.
        options: The contents of the comparison and how to compute it.
        code_version: The code version that the tables state.

    Raises:
        AnalysisError: The scores are not of the run's items, the tables contradict each other,
            the formula cannot be used, or an option about models is set without any model.
    """
    if not scores:
        _refuse_model_options(options)
    response = load_analysis(run)
    by_metric = [
        apply_metric(model_scores, options.metric, options.unigram) for model_scores in scores
    ]
    data = keep_targets(response.join(run, by_metric))
    origin = _provenance(run, by_metric, data, options, code_version, response)
    conditions = label_conditions(run.study, run.items)
    context = Context(study_of_targets(run.study, run.items), origin, conditions)
    inputs = FindingInputs(run, by_metric, scores, data, options, context)
    return _make_comparison(
        response, inputs, _run_findings(select_findings(response, inputs), inputs)
    )


def _run_findings(findings: Sequence[Finding], inputs: FindingInputs) -> list[Findings]:
    """Run the findings, in their order; for large runs the slow ones run in a second process."""
    slow = [finding for finding in findings if finding.slow]
    worth_it = _FEWEST_FOR_PROCESS <= len(inputs.run.responses) <= MOST_RESPONSES
    with in_second_process(
        lambda: [finding.run(inputs) for finding in slow], enough_memory=bool(slow) and worth_it
    ) as slow_results:
        results = {finding.name: finding.run(inputs) for finding in findings if not finding.slow}
        results |= dict(zip([finding.name for finding in slow], slow_results(), strict=True))
    return [results[finding.name] for finding in findings]


def _make_comparison(
    response: ResponseAnalysis, inputs: FindingInputs, findings: Sequence[Findings]
) -> Comparison:
    statistics = {name: frame for part in findings for name, frame in part.statistics.items()}
    accuracy = response.asked.decides
    return Comparison(
        study=inputs.run.study,
        provenance=inputs.context.origin,
        by_construction=inputs.by_construction if accuracy else pd.DataFrame(),
        by_condition=inputs.by_condition if accuracy else pd.DataFrame(),
        tables=tuple(table for part in findings for table in part.tables),
        drawings=tuple(drawing for part in findings for drawing in part.drawings),
        statistics=statistics,
        left_out=tuple(sentence for part in findings for sentence in part.left_out),
        folders={name: write for part in findings for name, write in part.folders.items()},
        summary=(
            *inputs.context.origin.peeked,
            *comparison_sentences(statistics),
            *response.summary(inputs, statistics),
            *(sentence for part in findings for sentence in part.summary),
            *missing_judgments(inputs),
        ),
    )


def _provenance(
    run: ExportedRun,
    scores: Sequence[Scores],
    data: Joined,
    options: ComparisonOptions,
    code_version: str,
    response: ResponseAnalysis,
) -> Provenance:
    return Provenance(
        run=run.facts,
        flow=count_participants(run),
        n_judgments=len(data.judgments),
        n_items=data.judgments["item_id"].nunique(),
        n_frames=len(data.judgments[["construction", "frame"]].drop_duplicates()),
        models=[
            _model_facts(model_scores, data.decisions.get(model_scores.facts.model))
            for model_scores in scores
        ],
        resamples=options.resamples,
        seed=options.seed,
        code_version=code_version,
        metric=options.metric,
        chance=chance_accuracy(run),
        n_repeated=_count_repeated(data.judgments),
        apart=_count_other_kinds(data),
        asked=_name_ends(response.asked, run),
        trainings=[str(history) for history in options.over_time],
        compared_with=[
            *dict.fromkeys(taker.model for taker in options.takers),
            *options.completions,
            *options.surprisal,
        ],
    )


def _name_ends(asked: AskedFor, run: ExportedRun) -> AskedFor:
    """Return the task of a slider, or of an imported scale, with its two ends."""
    if "{points}" not in asked.task or not is_slider(run):
        return asked
    return replace(asked, task=asked.task.replace("1 to {points}", write_ends(rating_ends(run))))


def _count_other_kinds(data: Joined) -> dict[str, int]:
    if data.others.empty:
        return {}
    kinds = add_kinds(data.others, data.items)["kind"].value_counts().sort_index()
    return {str(kind): int(number) for kind, number in kinds.items()}


def _count_repeated(judgments: pd.DataFrame) -> int:
    with_participant = judgments[judgments["participant"].notna()]
    return int(with_participant.duplicated(["participant", "item_id"]).sum())


def _model_facts(scores: Scores, decisions: pd.DataFrame | None) -> ModelFacts:
    """Return the facts about a model; without decisions they are counted from its scores."""
    frame = scores.frame if decisions is None else decisions
    return ModelFacts(
        facts=scores.facts,
        n_items=int(frame["item_id"].nunique()),
        n_ties=0 if decisions is None else int(decisions["tie"].sum()),
        n_unknown=int(frame["n_unknown"].sum()),
    )


def _refuse_model_options(options: ComparisonOptions) -> None:
    is_set = {
        "--metric": options.metric != SUM,
        "--unigram": options.unigram is not None,
        "--curves": options.curves,
        "--curves-of": bool(options.curve_items),
    }
    for name, value in is_set.items():
        if value:
            raise AnalysisError(
                f"{name} is about models, but no model is compared",
                expected="scores of at least one model",
                remedy="Give score files with --scores, or leave the option out",
            )


@contextmanager
def in_second_process(
    work: Callable[[], Result], *, enough_memory: bool = True
) -> Iterator[Callable[[], Result]]:
    """Start work on data in this process; the yielded function waits for its result or error.

    The forked process sees the current memory, and only the result is sent back. If forking is not
    safe, or memory is short, the work runs in this process when its result is requested.

    Args:
        work: Called once; its result and errors must be picklable.
        enough_memory: Whether memory suffices for both processes, and the work is worth a fork.
    """
    # If the libraries of both processes used every core, they would block each other.
    with threadpool_limits(1):
        if not enough_memory or sys.platform != "linux":
            yield work
            return
        # A forked process gets the initializer's arguments without pickling.
        with ProcessPoolExecutor(1, get_context("fork"), _pending_work.append, (work,)) as pool:
            yield cast(Callable[[], Result], pool.submit(_run_pending).result)


def _run_pending() -> object:
    return _pending_work.pop()()
