"""From a run and models' scores to everything a comparison holds, without files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from analysis.figures.drawing import Drawing
from analysis.findings.findings import Context
from analysis.findings.mixed import intervals_table, mixed_findings
from analysis.findings.people import people_findings
from analysis.findings.same_errors import same_errors
from analysis.join import Joined, join
from analysis.load import ExportedRun, Scores
from analysis.participants import flow
from analysis.provenance import ModelFacts, Provenance
from analysis.scores.metrics import FULL
from analysis.side_by_side import Table
from analysis.statistics.accuracy import model_accuracy, people_accuracy
from analysis.statistics.resample import numpy_generator
from analysis.tables import conditions_table, table_1, table_2
from experiment.studies.published import read_published
from experiment.studies.study import Study

CONSTRUCTION = ("construction",)
CONDITION = ("construction", "condition")


@dataclass(frozen=True, slots=True)
class Comparison:
    """People beside models.

    Attributes:
        study: The study, as the export holds it.
        provenance: Where the numbers come from.
        by_construction: Accuracies in long form (see ``analysis.statistics.accuracy``).
        by_condition: The same for each condition of each construction.
        tables: Table 1, Table 2 (where the study has published one), every condition, and the
            statistics' tables (see docs/statistics.md).
        drawings: Figures to be drawn.
        statistics: What tables and figures were made from, in long form, by name.
        left_out: What a reader would look for in vain, and why, in sentences.
        files: What was written, the report first; empty before.
    """

    study: Study
    provenance: Provenance
    by_construction: pd.DataFrame
    by_condition: pd.DataFrame
    tables: tuple[Table, ...]
    drawings: tuple[Drawing, ...] = ()
    statistics: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()


def analyse(
    run: ExportedRun,
    scores: Sequence[Scores],
    joined: Joined | None = None,
    *,
    resamples: int,
    seed: int,
    code_version: str,
    metric: str = FULL,
    formula: str | None = None,
) -> Comparison:
    """Compare the people of a run with models.

    Args:
        run: The exported run.
        scores: One entry per model.
        joined: What ``analysis.join.join`` makes of both, where it was made already.
        resamples: How many times to resample for each interval.
        seed: The seed of the resampling.
        code_version: What the tables are to say about the code that compared.
        metric: The metric that the scores hold (see ``analysis.scores.metrics``).
        formula: The mixed model's fixed effects; None for the usual ones.

    Raises:
        AnalysisError: The scores are not of the run's items, the tables contradict each other, or
            the formula cannot be used.
    """
    joined = joined or join(run, scores)
    judged, decided = joined.judged, joined.decided
    provenance = provenance_of(
        run,
        scores,
        joined,
        resamples=resamples,
        seed=seed,
        code_version=code_version,
        metric=metric,
    )
    frames = [_accuracies(judged, decided, by, resamples, seed) for by in (CONSTRUCTION, CONDITION)]
    context = Context(run.study, provenance)
    chosen = joined.on_judged()
    findings = (
        same_errors(judged, chosen, run.items, context),
        mixed_findings(judged, chosen, formula, context),
        people_findings(judged, context),
    )
    accuracies = _tables(run.study, frames[0], frames[1], provenance)
    found = [table for one in findings for table in one.tables]
    return Comparison(
        study=run.study,
        provenance=provenance,
        by_construction=frames[0],
        by_condition=frames[1],
        tables=(*accuracies, *found, intervals_table(frames[0], context)),
        statistics={name: frame for one in findings for name, frame in one.statistics.items()},
        left_out=tuple(sentence for one in findings for sentence in one.left_out),
    )


def provenance_of(
    run: ExportedRun,
    scores: Sequence[Scores],
    joined: Joined,
    *,
    resamples: int,
    seed: int,
    code_version: str,
    metric: str = FULL,
) -> Provenance:
    """Return where the numbers of a comparison come from; see ``analyse``."""
    judged, decided = joined.judged, joined.decided
    return Provenance(
        run=run.facts,
        flow=flow(run),
        n_judgments=len(judged),
        n_items=judged["item_id"].nunique(),
        models=[_model_facts(one, decided[one.facts.model]) for one in scores],
        resamples=resamples,
        seed=seed,
        code_version=code_version,
        metric=metric,
    )


def _accuracies(
    judged: pd.DataFrame,
    decided: Mapping[str, pd.DataFrame],
    by: tuple[str, ...],
    resamples: int,
    seed: int,
) -> pd.DataFrame:
    items = judged["item_id"].unique().tolist()
    people = people_accuracy(judged, by, numpy_generator(seed, "bootstrap", *by), resamples)
    models = [model_accuracy(frame, name, by, items) for name, frame in decided.items()]
    return pd.concat([people, *models], ignore_index=True)


def _model_facts(scores: Scores, chosen: pd.DataFrame) -> ModelFacts:
    return ModelFacts(
        facts=scores.facts,
        n_items=len(chosen),
        n_ties=int(chosen["tie"].sum()),
        n_unknown=int(chosen["n_unknown"].sum()),
    )


def _tables(
    study: Study, by_construction: pd.DataFrame, by_condition: pd.DataFrame, origin: Provenance
) -> tuple[Table, ...]:
    published = read_published(study)
    found = (
        table_1(study, by_construction, published, origin),
        table_2(study, by_condition, published, origin),
        conditions_table(study, by_condition, published, origin),
    )
    return tuple(table for table in found if table is not None)
