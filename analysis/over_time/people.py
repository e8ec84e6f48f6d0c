"""The people with whom models over time are compared: the run's own, and groups of learners."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import pandas as pd

from analysis.data.join import join
from analysis.data.kinds import keep_targets
from analysis.data.load import ExportedRun
from analysis.errors import AnalysisError
from analysis.findings.finding import FindingInputs
from analysis.over_time.crossing import (
    FEWEST_ITEMS,
    AccuracyCurve,
    Crossing,
    Fall,
    added_variance,
    find_crossing,
    resample_people,
)
from analysis.statistics.accuracy import people_accuracy
from analysis.statistics.resample import codes, numpy_generator
from analysis.tables.accuracy_table import Column, Table
from analysis.tables.section import Section

_COLUMNS = ("accuracy", "low", "high", "n_items", "n_judgments", "n_participants")


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """People who judged the items.

    Attributes:
        name: The learners' name; empty for the run's own participants.
        judgments: Their choices on target trials.
    """

    name: str
    judgments: pd.DataFrame

    @property
    def column(self) -> str:
        """The table's column of the times at which models reach their accuracy."""
        return f"reaches {self.name}".strip()

    @classmethod
    def of_run(cls, inputs: FindingInputs) -> Self:
        """Return the run's own participants."""
        return cls("", inputs.data.judgments)

    @classmethod
    def of_learners(cls, run: ExportedRun, item_ids: "pd.Series[str]") -> Self:
        """Return learners' choices on the items that the run's participants judged.

        Raises:
            AnalysisError: They judged none of these items, or their answers are no choices.
        """
        judgments = keep_targets(join(run, [])).judgments
        if "chose_good" not in judgments or judgments["chose_good"].isna().any():
            raise AnalysisError(
                "the answers of these learners are no choices between versions",
                where=str(run.folder),
                expected="an export of choices, like those of the run",
            )
        shared = judgments["item_id"].astype(str).isin(item_ids)
        if not shared.any():
            raise AnalysisError(
                "these learners judged none of the items that the run's participants judged",
                where=str(run.folder),
                expected="an export of the same study, or judgments of its items",
            )
        return cls(run.folder.name, judgments[shared])

    def describe(self, construction: str) -> "pd.Series[float] | None":
        """Return the accuracy with its interval; None if they judged too few items.

        Args:
            construction: The construction; empty for all items.
        """
        chosen = self.judgments
        if construction:
            chosen = chosen[chosen["construction"].astype(str) == construction]
        if chosen.empty or (self.name and chosen["item_id"].nunique() < FEWEST_ITEMS):
            return None
        row = people_accuracy(chosen.assign(construction=construction), ["construction"]).iloc[0]
        return row[list(_COLUMNS)]

    def find_reached(
        self,
        inputs: FindingInputs,
        item_ids: "pd.Series[str]",
        curves: AccuracyCurve,
        fall: Fall | None,
    ) -> Crossing | None:
        """Return when a curve reaches their accuracy; None if learners judged too few items."""
        ids = pd.Index(item_ids)
        judged = self.judgments[self.judgments["item_id"].isin(ids)]
        if self.name and judged["item_id"].nunique() < FEWEST_ITEMS:
            return None
        item = ids.get_indexer(pd.Index(judged["item_id"].astype(str)))
        right = judged["chose_good"].to_numpy(float)
        people = judged["participant"]
        variance = 0.0 if people.isna().any() else added_variance(right, codes(people)[0])
        name = " ".join(("people over time", self.name)).strip()
        drawn = resample_people(
            np.bincount(item, right, len(ids)).astype(float),
            np.bincount(item, minlength=len(ids)).astype(float),
            curves.weights,
            variance,
            numpy_generator(inputs.context.seed, name, str(len(ids))),
        )
        return find_crossing(curves, float(right.mean()), drawn, fall)


def tabulate_learners(
    inputs: FindingInputs, learners: Sequence[Group], constructions: Sequence[str]
) -> tuple[Table, pd.DataFrame]:
    """Return each group's accuracy in each construction of which it judged enough items."""
    described = {(g.name, name): g.describe(name) for g in learners for name in constructions}
    rows = pd.DataFrame(
        {"learners": name, "construction": construction, **row.to_dict()}
        for (name, construction), row in described.items()
        if row is not None
    )
    table = inputs.context.table(
        "learners",
        "Learners",
        "Accuracy of learners on the items that the run's participants judged.",
        inputs.context.by_construction(rows).assign(group=rows["learners"].to_numpy()),
        (
            Column("label", "", "text"),
            Column("accuracy", "Accuracy", "estimate"),
            Column("n_participants", "Participants", "count"),
            Column("n_judgments", "Judgments", "count"),
        ),
        (f"Constructions of which learners judged fewer than {FEWEST_ITEMS} items are left out.",),
        Section.OVER_TIME,
    )
    return table, rows
