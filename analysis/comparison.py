"""Compute everything that a report shows from a run and models' scores, without files."""

import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from typing import TypeVar, cast

import pandas as pd
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from analysis.data.join import Joined
from analysis.data.kinds import study_of_targets, targets_alone, with_kinds
from analysis.data.load import ExportedRun, Scores
from analysis.data.n_alternatives import chance
from analysis.data.participant_flow import flow
from analysis.errors import AnalysisError
from analysis.findings.design import missing_judgments
from analysis.findings.finding import ComparisonOptions, Context, Finding, Findings, Given
from analysis.findings.multiverse import MOST_RESPONSES
from analysis.responses.base import ResponseAnalysis, analysis_of, findings_of
from analysis.result import Comparison
from analysis.scores.metrics import FULL, with_metric
from analysis.tables.provenance import ModelFacts, Provenance

Result = TypeVar("Result")
# With fewer, the slow findings take less time than forking this process (0.2 s).
_WORTH_A_PROCESS = 500
_pending: list[Callable[[], object]] = []


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
        _refuse_of_models(options)
    response = analysis_of(run)
    by_metric = [with_metric(one, options.metric, options.unigram) for one in scores]
    data = targets_alone(response.join(run, by_metric))
    origin = _provenance(run, by_metric, data, options, code_version, response)
    context = Context(study_of_targets(run.study, run.items), origin)
    given = Given(run, by_metric, scores, data, options, context)
    return _compared(response, given, _found(findings_of(response, given), given))


def _found(findings: Sequence[Finding], given: Given) -> list[Findings]:
    """Run the findings, in their order; for large runs the slow ones run in a second process."""
    slow = [one for one in findings if one.slow]
    worth_it = _WORTH_A_PROCESS <= len(given.run.responses) <= MOST_RESPONSES
    with in_second_process(
        lambda: [one.run(given) for one in slow], room=bool(slow) and worth_it
    ) as others:
        found = {one.name: one.run(given) for one in findings if not one.slow}
        found |= dict(zip([one.name for one in slow], others(), strict=True))
    return [found[one.name] for one in findings]


def _compared(response: ResponseAnalysis, given: Given, findings: Sequence[Findings]) -> Comparison:
    statistics = {name: frame for one in findings for name, frame in one.statistics.items()}
    accuracy = response.asked.decides
    return Comparison(
        study=given.run.study,
        provenance=given.context.origin,
        by_construction=given.by_construction if accuracy else pd.DataFrame(),
        by_condition=given.by_condition if accuracy else pd.DataFrame(),
        tables=tuple(table for one in findings for table in one.tables),
        drawings=tuple(drawing for one in findings for drawing in one.drawings),
        statistics=statistics,
        left_out=tuple(sentence for one in findings for sentence in one.left_out),
        folders={name: write for one in findings for name, write in one.folders.items()},
        summary=(
            *given.context.origin.peeked,
            *response.summary(given, statistics),
            *missing_judgments(given),
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
        flow=flow(run),
        n_judgments=len(data.judgments),
        n_items=data.judgments["item_id"].nunique(),
        models=[_model_facts(one, data.decisions.get(one.facts.model)) for one in scores],
        resamples=options.resamples,
        seed=options.seed,
        code_version=code_version,
        metric=options.metric,
        chance=chance(run),
        n_repeated=_repeated(data.judgments),
        apart=_apart(data),
        asked=response.asked,
    )


def _apart(data: Joined) -> dict[str, int]:
    if data.others.empty:
        return {}
    kinds = with_kinds(data.others, data.items)["kind"].value_counts().sort_index()
    return {str(kind): int(number) for kind, number in kinds.items()}


def _repeated(judgments: pd.DataFrame) -> int:
    known = judgments[judgments["participant"].notna()]
    return int(known.duplicated(["participant", "item_id"]).sum())


def _model_facts(scores: Scores, decisions: pd.DataFrame | None) -> ModelFacts:
    """Return the facts about a model; without decisions they are counted from its scores."""
    counted = scores.frame if decisions is None else decisions
    return ModelFacts(
        facts=scores.facts,
        n_items=int(counted["item_id"].nunique()),
        n_ties=0 if decisions is None else int(decisions["tie"].sum()),
        n_unknown=int(counted["n_unknown"].sum()),
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


@contextmanager
def in_second_process(
    work: Callable[[], Result], *, room: bool = True
) -> Iterator[Callable[[], Result]]:
    """Start work on data in this process; the yielded function waits for its result or error.

    The forked process sees the current memory, and only the result is sent back. If forking is not
    safe, or memory is short, the work runs in this process when its result is requested.

    Args:
        work: Called once; its result and errors must be picklable.
        room: Whether memory suffices for both processes, and the work is worth a fork.
    """
    # If the libraries of both processes used every core, they would block each other.
    with threadpool_limits(1):
        if not room or sys.platform != "linux":
            yield work
            return
        # A forked process gets the initializer's arguments without pickling.
        with ProcessPoolExecutor(1, get_context("fork"), _pending.append, (work,)) as pool:
            yield cast(Callable[[], Result], pool.submit(_run_pending).result)


def _run_pending() -> object:
    return _pending.pop()()
