"""What a group of statistics finds: tables to print and the frames behind them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from analysis.figures.drawing import Drawing
from analysis.statistics.withheld import reasons
from analysis.tables.accuracy_table import Column, Table
from analysis.tables.provenance import Provenance
from analysis.tables.section import Section
from experiment.studies.study import Study

ALL_ITEMS = "All constructions"
# The ends of a percentile interval are steady long before 10,000 resamples; accuracies alone,
# the numbers that papers print, get as many as were asked for.
_MOST_RESAMPLES = 2000


@dataclass(frozen=True, slots=True)
class Findings:
    """Tables and what they were made from.

    Attributes:
        tables: Ready to be set.
        statistics: Long frames by name, for programs and figures.
        left_out: What a reader would look for in vain, and why, in sentences.
        folders: Further folders of the report by name, and what writes each one's files.
        drawings: Figures to be drawn.
    """

    tables: tuple[Table, ...] = ()
    statistics: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    folders: Mapping[str, Callable[[Path], list[Path]]] = field(default_factory=dict)
    drawings: tuple[Drawing, ...] = ()


@dataclass(frozen=True, slots=True)
class Context:
    """What every table must know besides its numbers.

    Attributes:
        study: The study, for the constructions' titles and order.
        origin: Where the numbers come from.
    """

    study: Study
    origin: Provenance

    @property
    def resamples(self) -> int:
        """How many times to resample for intervals of anything but the main accuracies."""
        return min(self.origin.resamples, _MOST_RESAMPLES)

    @property
    def seed(self) -> int:
        """The seed of the resampling."""
        return self.origin.seed

    def table(
        self,
        name: str,
        title: str,
        caption: str,
        frame: pd.DataFrame,
        columns: Sequence[Column],
        notes: Sequence[str] = (),
        section: Section = Section.AGREEMENT,
    ) -> Table:
        """Return a table with its origin.

        Rows without ``group`` stand under no heading; an estimate without ends of its own takes
        ``low`` and ``high``.
        """
        rows = frame if "group" in frame else frame.assign(group="")
        for column in columns:
            if column.form == "estimate" and f"{column.key}_low" not in rows and "low" in rows:
                ends = {f"{column.key}_low": rows["low"], f"{column.key}_high": rows["high"]}
                rows = rows.assign(**ends).drop(columns=["low", "high"])
        estimates = [column.key for column in columns if column.form == "estimate"]
        return Table(
            name=name,
            title=title,
            caption=f"{caption} {self.origin.warning}".strip(),
            frame=rows.reset_index(drop=True),
            columns=tuple(columns),
            notes=(*notes, *reasons(rows, estimates)),
            origin=tuple(self.origin.sentences),
            section=section,
        )

    def by_construction(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the frame in the study's order, with label and group; empty names come first."""
        known = {one.name: one for one in self.study.constructions}
        order = ["", *known]
        names = frame["construction"].astype(str)
        place = names.map({name: number for number, name in enumerate(order)}).fillna(len(order))
        titles = {"": ALL_ITEMS} | {name: one.title for name, one in known.items()}
        groups = {"": ""} | {name: one.group for name, one in known.items()}
        labelled = frame.assign(
            label=[titles.get(name, name) for name in names],
            group=[groups.get(name, "") for name in names],
        )
        return labelled.iloc[place.argsort(kind="stable").to_numpy()].reset_index(drop=True)


def full_titles(rows: pd.DataFrame) -> "pd.Series[str]":
    """Return titles that stand without the heading of their group (see ``by_construction``)."""
    return rows["label"].where(rows["group"] == "", rows["group"] + ": " + rows["label"])
