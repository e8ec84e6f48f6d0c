"""Runs small enough to compute every number of a finding by hand, ready for ``Finding.run``."""

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from analysis.data.join import Joined
from analysis.data.own_columns import PREFIX
from analysis.data.participant_flow import count_participants
from analysis.findings.finding import ComparisonOptions, Context, FindingInputs, Findings
from analysis.tables.provenance import Provenance
from tests.analysis.rated_study import island_run

RUN = island_run(n_people=4, frames=4)


def given_of(
    judgments: pd.DataFrame,
    *,
    conditions: Sequence[str] = ("a", "b"),
    readings: pd.DataFrame | None = None,
) -> FindingInputs:
    """Return what findings are made from, for a study whose answers these are.

    Args:
        judgments: One row per answer, with item_id, construction, condition and frame.
        conditions: The items' conditions, in their order.
        readings: The times of what was read.
    """
    columns = ["item_id", "construction", "condition", "frame"]
    own = [name for name in judgments if name.startswith(PREFIX)]
    items = judgments[[*columns, *own]].drop_duplicates()
    items = items.assign(features="", kind="target")
    order = {name: place for place, name in enumerate(conditions)}
    items = items.sort_values("condition", key=lambda one: one.map(order), kind="stable")
    run = replace(RUN, items=items.reset_index(drop=True), readings=readings)
    origin = Provenance(
        run=run.facts, flow=count_participants(RUN), n_judgments=len(judgments),
        n_items=len(items), n_frames=items["frame"].nunique(), models=[],
        resamples=100, seed=1, code_version="v9",
    )  # fmt: skip
    data = Joined(judgments, {}, run.items)
    return FindingInputs(run, [], [], data, ComparisonOptions(), Context(run.study, origin))


def frame_of(findings: Findings, name: str) -> pd.DataFrame:
    """Return the rows of a table."""
    return next(table.frame for table in findings.tables if table.name == name)


def with_others(given: FindingInputs, others: pd.DataFrame) -> FindingInputs:
    """Return the same with answers to fillers and catch trials, whose items the run has too."""
    columns = ["item_id", "construction", "condition", "frame", "kind"]
    items = pd.concat([given.run.items, others[columns].drop_duplicates()], ignore_index=True)
    data = replace(given.data, others=others.reset_index(drop=True), items=items)
    return replace(given, data=data, run=replace(given.run, items=items))


def with_options(given: FindingInputs, options: ComparisonOptions) -> FindingInputs:
    """Return the same with what a comparison was asked for."""
    return replace(given, options=options)
