"""The interface of findings: a description, its inputs, and the resulting tables."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.data.join import Joined
from analysis.data.load import ExportedRun, Scores
from analysis.data.scored_readings import ScoredReadings, times_with_surprisal
from analysis.figures.drawing import Drawing
from analysis.scores.metrics import SUM
from analysis.statistics.accuracy import accuracies
from analysis.statistics.paired import MARGIN
from analysis.statistics.resample import numpy_generator
from analysis.statistics.withheld import withheld_notes
from analysis.tables.accuracy_table import Column, Table
from analysis.tables.provenance import Provenance
from analysis.tables.section import Section
from experiment.studies.publication import AboutFile
from experiment.studies.study import Study

ALL_ITEMS = "All constructions"
# Percentile intervals are stable with far fewer than 10,000 resamples; only accuracies,
# the numbers that papers print, get the requested number.
_MOST_RESAMPLES = 2000


@dataclass(frozen=True, slots=True)
class Findings:
    """Tables and the data that they are computed from.

    Attributes:
        tables: The tables, ready for typesetting.
        statistics: Long frames by name, for programs and figures.
        left_out: Expected results that are missing, with the reason, in sentences.
        folders: Further folders of the report, each name with a function that writes its files.
        drawings: The figures to draw.
        summary: Sentences for the report's first section, after those on the comparisons.
    """

    tables: tuple[Table, ...] = ()
    statistics: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    folders: Mapping[str, Callable[[Path], list[Path]]] = field(default_factory=dict)
    drawings: tuple[Drawing, ...] = ()
    summary: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Context:
    """Information that every table needs besides its numbers.

    Attributes:
        study: The study, for the constructions' titles and order.
        origin: The origin of the numbers.
        conditions: By construction and condition, the words that reports have for the condition.
    """

    study: Study
    origin: Provenance
    conditions: Mapping[tuple[str, str], str] = field(default_factory=dict)

    @property
    def resamples(self) -> int:
        """The number of resamples for all intervals except those of the main accuracies."""
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

        Rows without ``group`` have no heading; an estimate without its own ends uses ``low`` and
        ``high``.
        """
        rows = frame if "group" in frame else frame.assign(group="")
        for column in columns:
            if column.form == "estimate" and f"{column.key}_low" not in rows and "low" in rows:
                ends = {f"{column.key}_low": rows["low"], f"{column.key}_high": rows["high"]}
                rows = rows.assign(**ends).drop(columns=["low", "high"])
        estimates = [column.key for column in columns if column.form == "estimate"]
        counts_items = any(column.key == "n_items" for column in columns)
        of_items = [self.origin.items_in_words] if counts_items else []
        return Table(
            name=name,
            title=title,
            caption=f"{caption} {self.origin.warning}".strip(),
            frame=rows.reset_index(drop=True),
            columns=tuple(columns),
            notes=(*notes, *withheld_notes(rows, estimates), *filter(None, of_items)),
            origin=tuple(self.origin.sentences),
            section=section,
        )

    def name_conditions(self, rows: pd.DataFrame) -> "pd.Series[str]":
        """Return the condition of each row in the words of reports."""
        keys = zip(rows["construction"].astype(str), rows["condition"].astype(str), strict=True)
        names = [self.conditions.get(key, key[1]) for key in keys]
        return pd.Series(names, rows.index, dtype=str)

    def by_construction(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the frame in the study's order, with label and group; empty names come first."""
        constructions = {
            construction.name: construction for construction in self.study.constructions
        }
        order = ["", *constructions]
        names = frame["construction"].astype(str)
        position = names.map({name: number for number, name in enumerate(order)}).fillna(len(order))
        titles = {"": ALL_ITEMS} | {
            name: construction.title for name, construction in constructions.items()
        }
        groups = {"": ""} | {
            name: construction.group for name, construction in constructions.items()
        }
        labelled = frame.assign(
            label=[titles.get(name, name) for name in names],
            group=[groups.get(name, "") for name in names],
        )
        return labelled.iloc[position.argsort(kind="stable").to_numpy()].reset_index(drop=True)


def titles_of(study: Study) -> dict[str, str]:
    """Return the constructions' titles, by name."""
    return {construction.name: construction.title for construction in study.constructions}


def full_titles(rows: pd.DataFrame) -> "pd.Series[str]":
    """Return titles for use without a group heading (see ``by_construction``)."""
    return rows["label"].where(rows["group"] == "", rows["group"] + ": " + rows["label"])


CONSTRUCTION = ("construction",)
CONDITION = ("construction", "condition")


@dataclass(frozen=True, slots=True)
class TakerData:
    """One model participant's answers.

    Attributes:
        model: The model's name.
        tier: How much the model revealed about its answers.
        frame: One row per trial of each sitting: model, reading, context, labels, order, session,
            position, item_id, construction, condition, frame, good_side, chosen_side, chose_good
            (missing if no answer could be parsed), outcome, p_good.
        samples: The number of sampled texts that each rule read, or that are unreadable for each
            reason: model, reading, read_by, n.
        sampled_labels: The number of samples with each label: model, reading, labels, label, n.
    """

    model: str
    tier: str
    frame: pd.DataFrame
    samples: pd.DataFrame = field(default_factory=pd.DataFrame)
    sampled_labels: pd.DataFrame = field(default_factory=pd.DataFrame)


@dataclass(frozen=True, slots=True)
class ComparisonOptions:
    """The contents of a comparison, and how to compute it.

    Attributes:
        resamples: How many times to resample for each interval.
        seed: The seed of the resampling.
        metric: The metric that turns a model's log-probabilities into one score (see
            ``analysis.scores.metrics``).
        unigram: A unigram model's scores, for metrics that correct for frequency.
        corpus: Word counts of the models' training text.
        curves: Whether to draw log-probabilities word by word.
        curve_items: The ids of items to draw individually, instead of averages.
        item_map: Whether to place items, people and models on one scale.
        formula: The mixed model's fixed and random effects; None for the default.
        margin: Smaller accuracy differences count as no difference; None for the study's margin.
        takers: The answers of model participants who took the run's sessions.
        comparisons: Comparisons that the study did not plan, in the notation of study.toml.
        about: Declarations for archives and the checklist; they replace those of the study.
        surprisal: By model, the surprisals of the words read, in bits: text_id, position,
            text, surprisal_bits.
        over_time: Models' decisions during their training (``analysis.over_time.load.History``).
        ages: The age at which people master each construction.
        learners: Runs in which children or learners judged the items.
        variants: By item (empty: any item) and typed text, the answer as which it counts.
        fresh: Models' scores of items that ``parallax materials fresh`` drew, and runs in which
            people judged such items.
        completions: By model, its log-probabilities of words in the gaps of texts, as
            ``parallax lm completions`` wrote them.
        embedding: What gives vectors to typed answers (``analysis.typed.embeddings.Embedding``).
    """

    resamples: int = 10_000
    seed: int = 1
    metric: str = SUM
    unigram: Scores | None = None
    corpus: Mapping[str, int] | None = None
    curves: bool = False
    curve_items: Sequence[str] = ()
    item_map: bool = False
    formula: str | None = None
    margin: float | None = None
    takers: Sequence[TakerData] = ()
    comparisons: Sequence[str] = ()
    about: AboutFile | None = None
    surprisal: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    over_time: Sequence[Any] = ()
    ages: Mapping[str, float] = field(default_factory=dict)
    learners: Sequence[ExportedRun] = ()
    variants: Mapping[tuple[str, str], str] = field(default_factory=dict)
    completions: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    fresh: Sequence[Scores | ExportedRun] = ()
    embedding: Any = None


@dataclass(frozen=True)
class FindingInputs:
    """The inputs of findings.

    Attributes:
        run: The exported run.
        scores: One entry per model, with the chosen metric's value for each version.
        as_read: The scores as read from the files, without a metric.
        data: Participants' judgments, and models' decisions on all their scored items.
        options: The contents of the comparison and how to compute it.
        context: The study and the origin of the numbers.
    """

    run: ExportedRun
    scores: Sequence[Scores]
    as_read: Sequence[Scores]
    data: Joined
    options: ComparisonOptions
    context: Context

    @property
    def margin(self) -> float:
        """The margin below which accuracy differences count as none: option, study or default."""
        for value in (self.options.margin, self.run.study.analysis.margin):
            if value is not None:
                return value
        return MARGIN

    @cached_property
    def judged(self) -> Joined:
        """The judgments, with the models' decisions on the judged items only."""
        return self.data.on_judged_items()

    @cached_property
    def scored_readings(self) -> ScoredReadings:
        """The reading times with the surprisals of the words that every table has."""
        return times_with_surprisal(self.run, self.data.judgments, self.options.surprisal)

    @cached_property
    def by_construction(self) -> pd.DataFrame:
        """Accuracies of each construction in long form (see ``analysis.statistics.accuracy``)."""
        return self._compute_accuracies(CONSTRUCTION)

    @cached_property
    def by_condition(self) -> pd.DataFrame:
        """Accuracies of each condition of each construction, in the same form."""
        return self._compute_accuracies(CONDITION)

    def _compute_accuracies(self, by: tuple[str, ...]) -> pd.DataFrame:
        rng = numpy_generator(self.options.seed, "bootstrap", *by)
        resamples = self.options.resamples
        return accuracies(self.data.judgments, self.data.decisions, by, rng, resamples)


class Need(StrEnum):
    """Inputs that a finding requires; without them the finding is skipped."""

    MODELS = "scores of a model"
    TAKERS = "the option --takers"
    SURPRISAL = "the option --surprisal"
    COMPLETIONS = "the option --completions"
    EMBEDDING = "the option --embedding"
    ITEM_CURVES = "the option --curves or --curves-of"
    ITEM_MAP = "the option --item-map"

    def is_met(self, inputs: FindingInputs) -> bool:
        """Return whether a comparison provides the input."""
        if self is Need.MODELS:
            return bool(inputs.scores)
        if self is Need.TAKERS:
            return bool(inputs.options.takers)
        if self is Need.SURPRISAL:
            return bool(inputs.options.surprisal)
        if self is Need.COMPLETIONS:
            return bool(inputs.options.completions)
        if self is Need.EMBEDDING:
            return inputs.options.embedding is not None
        if self is Need.ITEM_MAP:
            return inputs.options.item_map
        return inputs.options.curves or bool(inputs.options.curve_items)


@dataclass(frozen=True, slots=True)
class Finding:
    """A group of statistics for the report: its description and its function.

    The analysis of a response type lists its findings (``analysis.responses``).

    Attributes:
        name: The name, unique in a report.
        section: The section of its tables and figures; details go to the supplement.
        run: Computes the finding.
        needs: The required inputs.
        slow: Whether to compute it in a second process, in parallel with the others. It must not
            use ``by_construction`` or ``by_condition``, which would be computed twice.
    """

    name: str
    section: Section
    run: Callable[[FindingInputs], Findings]
    needs: tuple[Need, ...] = ()
    slow: bool = False


@dataclass(frozen=True, slots=True)
class Comparison:
    """The comparison of participants and models.

    Attributes:
        study: The study in the export.
        provenance: The origin of the numbers.
        by_construction: Accuracies in long form (see ``analysis.statistics.accuracy``).
        by_condition: Accuracies for each condition of each construction.
        tables: Table 1, Table 2 (if the study has a published one), every condition, and the
            statistics' tables (see docs/statistics.md).
        drawings: The figures to draw.
        statistics: The data of tables and figures, in long form, by name.
        left_out: Expected results that are missing, with the reason, in sentences.
        folders: Further folders, each name with a function that writes its files.
        summary: The main results, in sentences.
        files: The written files, the report first; empty before writing.
    """

    study: Study
    provenance: Provenance
    by_construction: pd.DataFrame
    by_condition: pd.DataFrame
    tables: tuple[Table, ...]
    drawings: tuple[Drawing, ...] = ()
    statistics: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    folders: Mapping[str, Callable[[Path], list[Path]]] = field(default_factory=dict)
    summary: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()

    def table(self, name: str) -> Table:
        """Return the table of a name, such as "table_1".

        Raises:
            KeyError: The comparison has no such table.
        """
        return {table.name: table for table in self.tables}[name]
