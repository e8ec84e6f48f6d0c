"""The whole comparison: accuracies, statistics, and what else a reader of the report asks for."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

import pandas as pd

from analysis.comparison import Comparison, analyse, provenance_of
from analysis.drawings import all_drawings, curve_drawings
from analysis.findings.curves import curves
from analysis.findings.lexical import words_tables
from analysis.findings.multiverse import MOST_JUDGMENTS, multiverse_table
from analysis.findings.sensitivity import sensitivity_table
from analysis.join import Joined, join
from analysis.load import ExportedRun, Scores
from analysis.provenance import Provenance
from analysis.scores.metrics import FULL, with_metric
from analysis.second_process import in_second_process
from analysis.side_by_side import Table
from experiment.materials.read import item_from_row, load_items
from experiment.records import Item


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a comparison is to hold and how it is to be computed.

    Attributes:
        resamples: How many times to resample for each interval.
        seed: The seed of the resampling.
        metric: How a model's log-probabilities become one score.
        unigram: A unigram model's scores, for the metrics that weigh against them.
        corpus: How often each word occurs in the models' training text.
        curves: Whether log-probabilities are drawn word by word.
        curve_items: The ids of items to draw each by itself, in place of averages.
        formula: The mixed model's formula; None for the usual one.
    """

    resamples: int
    seed: int
    metric: str = FULL
    unigram: Scores | None = None
    corpus: Mapping[str, int] | None = None
    curves: bool = False
    curve_items: Sequence[str] = ()
    formula: str | None = None


def compare_whole(
    run: ExportedRun, scores: Sequence[Scores], wanted: Wanted, *, code_version: str
) -> Comparison:
    """Compare the people of a run with models in every way that the report shows.

    Args:
        run: The exported run.
        scores: One entry per model, as read from the files.
        wanted: What to hold.
        code_version: What the tables are to say about the code that compared.

    Raises:
        AnalysisError: The scores are not of the run's items, or the tables contradict each other.
    """
    weighed = [with_metric(one, wanted.metric, wanted.unigram) for one in scores]
    joined = join(run, weighed)
    origin = provenance_of(
        run,
        weighed,
        joined,
        resamples=wanted.resamples,
        seed=wanted.seed,
        code_version=code_version,
        metric=wanted.metric,
    )
    with in_second_process(
        lambda: list(_more_tables(run, scores, joined, origin, wanted)),
        room=len(run.responses) <= MOST_JUDGMENTS,
    ) as more:
        found = analyse(
            run,
            weighed,
            joined,
            resamples=wanted.resamples,
            seed=wanted.seed,
            code_version=code_version,
            metric=wanted.metric,
            formula=wanted.formula,
        )
        tables = [*found.tables, *more()]
    drawings = [*found.drawings, *all_drawings(found)]
    statistics = dict(found.statistics)
    if wanted.curves or wanted.curve_items:
        places = pd.concat(_curves(run, scores, joined, wanted))
        statistics["curves"] = places
        drawings += curve_drawings(places, found)
    left_out = (*found.left_out, *_too_many(run))
    return replace(
        found,
        tables=tuple(tables),
        drawings=tuple(drawings),
        statistics=statistics,
        left_out=left_out,
    )


def _curves(
    run: ExportedRun, scores: Sequence[Scores], joined: Joined, wanted: Wanted
) -> Iterator[pd.DataFrame]:
    for one in scores:
        for item in wanted.curve_items:
            found = curves(one, run.items, [item])
            yield found.assign(condition=f"{found['condition'].iloc[0]}, {item}")
        if not wanted.curve_items:
            yield curves(one, run.items, joined.judged["item_id"])


def _too_many(run: ExportedRun) -> Iterator[str]:
    if run.study.exclusion and len(run.responses) > MOST_JUDGMENTS:
        yield (
            f"The table of other thresholds was left out: the rules are applied to one participant "
            f"at a time, which {len(run.responses):,} responses make too slow (at most "
            f"{MOST_JUDGMENTS:,})."
        )


def _more_tables(
    run: ExportedRun,
    scores: Sequence[Scores],
    joined: Joined,
    origin: Provenance,
    wanted: Wanted,
) -> Iterator[Table]:
    drawn = {"resamples": wanted.resamples, "seed": wanted.seed}
    if multiverse := multiverse_table(run, joined.decided, origin, **drawn):
        yield multiverse
    items = _scored_items(run, joined.decided)
    judged, decided = joined.judged, joined.decided
    yield from words_tables(judged, decided, items, origin, corpus=wanted.corpus, **drawn)
    yield sensitivity_table(judged, scores, wanted.unigram, origin)


def _scored_items(run: ExportedRun, decided: Mapping[str, pd.DataFrame]) -> list[Item]:
    """Return the study's items if they hold the run's and a model scored more, else the run's."""
    most = max((len(frame) for frame in decided.values()), default=0)
    if most > len(run.items) and run.study.grammar_path.is_file():
        generated = list(load_items(run.study))
        if set(run.items["item_id"]) <= {item.item_id for item in generated}:
            return generated
    rows = cast(list[dict[str, object]], run.items.to_dict("records"))
    return [item_from_row(row) for row in rows]
