"""Measures of the effects of a design: choices, ratings, yes or no, and reading times."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from analysis.data.readings import keep_right_words, select_comparable_readings, sum_by_region
from analysis.figures.designs import regions_figure
from analysis.findings.design import Crossing
from analysis.findings.effects import (
    LABEL,
    Design,
    Measure,
    clustered_by,
    effects_of,
    place_cells,
    under_headings,
    with_repeats,
)
from analysis.findings.finding import FindingInputs, Findings, titles_of
from analysis.statistics.accuracy import people_accuracy
from analysis.statistics.contrasts import cell_means, contrasts
from analysis.statistics.detection import yes_rates
from analysis.statistics.paired import add_adjusted_p
from analysis.tables.accuracy_table import Column, Table
from analysis.tables.section import Section
from experiment.studies.study import Study

_TESTS = (Column("p", "p", "p"), Column("p_holm", "Holm", "p"))
_PERCENT = 100.0


def _count_column(title: str) -> Column:
    return Column("n_observations", title, "count")


def _test_note(study: Study, family: str = "the rows of one construction") -> str:
    return (
        "Intervals: 95%, and p: Student's t with a variance clustered "
        f"{clustered_by(study)}. Holm: adjusted for {family}."
    )


class Choices(Measure):
    """The share of choices of the expected option, for constructions with declared factors."""

    name, section, value = "design_effects", Section.ACCURACY, "chose_good"
    figure = (
        "design",
        "Accuracy by the design's factors",
        "People's accuracy in each cell, with 95% intervals; lines join the levels of one factor. "
        "Lines that are not parallel suggest an interaction.",
        "accuracy",
    )

    def is_compared(self, rows: pd.DataFrame, cross: Crossing) -> bool:
        """Return whether participants are known."""
        return not rows["participant"].isna().all()

    def cells(self, answers: pd.DataFrame, compared: Sequence[Design]) -> pd.DataFrame:
        """Return participants' accuracy in each cell."""
        return _concatenate([_accuracies(design) for design in compared])

    def findings(
        self, effects: pd.DataFrame, cells: pd.DataFrame, inputs: FindingInputs
    ) -> Findings:
        """Return the tables of effects and of cells."""
        tables = (self._effects_table(effects, inputs), self._cells_table(cells, inputs))
        return Findings(tables, {self.name: effects, "design_cells": cells})

    def _effects_table(self, effects: pd.DataFrame, inputs: FindingInputs) -> Table:
        return inputs.context.table(
            self.name,
            "Effects of the design",
            "Differences of people's accuracy between the cells of each construction.",
            under_headings(effects, inputs.context).assign(label=lambda rows: rows["contrast"]),
            (
                LABEL,
                Column("estimate", "Difference", "estimate"),
                *_TESTS,
                _count_column("Judgments"),
            ),
            (
                "Shares of expected choices; all cells have equal weight. "
                f"{_test_note(inputs.run.study)} An interaction in shares is not one in "
                "logits, which the mixed model of the design estimates.",
            ),
            self.section,
        )

    def _cells_table(self, cells: pd.DataFrame, inputs: FindingInputs) -> Table:
        return inputs.context.table(
            "design_cells",
            "Cells of the design",
            "People's accuracy in each cell.",
            under_headings(cells, inputs.context).assign(label=lambda rows: rows["cell"]),
            (
                LABEL,
                Column("accuracy", "People", "estimate"),
                Column("n_judgments", "Judgments", "count"),
                Column("n_items", "Items", "count"),
                Column("n_participants", "Participants", "count"),
            ),
            (),
            self.section,
        )


def _accuracies(design: Design) -> pd.DataFrame:
    order = list(design.cross.cells)
    cells = people_accuracy(design.answers, ["cell"]).set_index("cell").reindex(order)
    cells = cells[cells["n_judgments"].notna()].reset_index()
    return place_cells(cells.assign(mean=cells["accuracy"]), design)


class Ratings(Measure):
    """The mean rating, in scale points and in each participant's standard deviations."""

    name, section, value = "rating_effects", Section.RATINGS, "rating"
    figure = (
        "ratings",
        "Ratings by condition",
        "Mean rating in each condition, in scale points, with 95% intervals; lines join the levels "
        "of one factor. Lines that are not parallel suggest an interaction.",
        "mean rating",
    )
    _z_note = (
        "z: a rating minus the participant's mean rating, divided by the participant's standard "
        "deviation, both over all of the participant's ratings. It removes differences in how high "
        "and how widely people use the scale. It does not make the scale's steps equal, removes "
        "real differences between people too, and depends on the session's other sentences."
    )

    def effects(self, design: Design) -> pd.DataFrame:
        """Return comparisons in points, and also in z-scores."""
        points, z = (
            contrasts(design.answers, value, design.comparisons) for value in ("rating", "z")
        )
        in_z = z[["estimate", "low", "high", "p", "p_holm"]].add_prefix("z_")
        renamed = points.rename(columns={"n_observations": "n_ratings"})
        return pd.concat([renamed, in_z], axis=1).assign(construction=design.construction)

    def cells(self, answers: pd.DataFrame, compared: Sequence[Design]) -> pd.DataFrame:
        """Return the mean rating of each cell."""
        return _concatenate([_mean_ratings(design) for design in compared])

    def findings(
        self, effects: pd.DataFrame, cells: pd.DataFrame, inputs: FindingInputs
    ) -> Findings:
        """Return the table of effects, and the participants without z-scores."""
        targets = inputs.data.judgments
        left_out: tuple[str, ...] = ()
        if nobody := targets.loc[targets["z"].isna(), "participant"].nunique():
            left_out = (
                f"{nobody} participant(s) rated all sentences the same: they have no z-scores "
                "and are included in points only.",
            )
        statistics = {self.name: effects, "rating_cells": cells}
        return Findings((self._table(effects, inputs),), statistics, left_out)

    def _table(self, effects: pd.DataFrame, inputs: FindingInputs) -> Table:
        ends = {"estimate": "points", "low": "points_low", "high": "points_high"}
        in_z = {"z_estimate": "in_z", "z_low": "in_z_low", "z_high": "in_z_high"}
        rows = under_headings(effects, inputs.context).assign(
            label=lambda table_rows: table_rows["contrast"]
        )
        return inputs.context.table(
            self.name,
            "Differences and interactions",
            "Differences of mean ratings between the conditions of each construction.",
            rows.rename(columns=ends | in_z),
            (
                LABEL,
                Column("points", "Points", "estimate"),
                *_TESTS,
                Column("in_z", "z-scores", "estimate"),
                Column("z_p", "p (z)", "p"),
                Column("n_ratings", "Ratings", "count"),
            ),
            (
                "Targets only; all conditions have equal weight. " + _test_note(inputs.run.study),
                self._z_note,
            ),
            self.section,
        )


def _mean_ratings(design: Design) -> pd.DataFrame:
    cells = cell_means(design.answers, "rating", ["cell"])
    renamed = cells.rename(columns={"n_observations": "n_ratings"})
    return place_cells(renamed.assign(cell=cells["cell"].astype(str)), design)


class YesNo(Measure):
    """The share of yes, whether or not an expected answer exists."""

    name, section, value = "yes_no_effects", Section.ANSWERS, "said_yes"
    figure = (
        "yes_no_design",
        "Yes by condition",
        "Shares of yes in each condition, with 95% intervals; lines join the levels of one factor. "
        "Lines that are not parallel suggest an interaction.",
        "share of yes",
    )

    def cells(self, answers: pd.DataFrame, compared: Sequence[Design]) -> pd.DataFrame:
        """Return the share of yes in each cell."""
        return _concatenate([_shares_of_yes(design) for design in compared])

    def findings(
        self, effects: pd.DataFrame, cells: pd.DataFrame, inputs: FindingInputs
    ) -> Findings:
        """Return the table of effects."""
        table = inputs.context.table(
            self.name,
            "Differences and interactions",
            "Differences of the shares of yes between the conditions of each construction.",
            under_headings(effects, inputs.context).assign(label=lambda rows: rows["contrast"]),
            (
                LABEL,
                Column("estimate", "Difference", "estimate"),
                *_TESTS,
                _count_column("Answers"),
            ),
            ("Targets only; all conditions have equal weight. " + _test_note(inputs.run.study),),
            self.section,
        )
        return Findings((table,), {self.name: effects})


def _shares_of_yes(design: Design) -> pd.DataFrame:
    names = {"yes": "mean", "yes_low": "low", "yes_high": "high"}
    return place_cells(yes_rates(design.answers, ["cell"]).rename(columns=names), design)


class ReadingTimes(Measure):
    """Log reading time of a region; means for every construction, even with a single cell."""

    name, section, value = "reading_effects", Section.READING, "log_rt"
    figure = (
        "reading_times",
        "Reading times by region",
        "Geometric mean reading time of each region in each condition, with 95% intervals "
        "clustered by participant and by frame.",
        "ms",
    )

    def answers(self, inputs: FindingInputs) -> pd.DataFrame:
        """Return the times of regions; in a Maze, only of words chosen correctly at first."""
        return sum_by_region(
            keep_right_words(select_comparable_readings(inputs.run, inputs.data.judgments).frame)
        )

    def in_cells(self, answers: pd.DataFrame, rows: pd.DataFrame, study: Study) -> pd.DataFrame:
        """Return the times, in the cells of their trials."""
        rows = with_repeats(rows, study)
        optional = [name for name in ("group", "also") if name in rows]
        trials = rows[["participant", "position", "cell", "unit", *optional]].assign(
            participant=rows["participant"].astype(str)
        )
        times = answers.drop(columns=[name for name in ("cell", "unit") if name in answers])
        return times.merge(trials, "inner", on=["participant", "position"])

    def effects(self, design: Design) -> pd.DataFrame:
        """Return comparisons by region, corrected over all regions, also in per cent."""
        regions = [
            contrasts(read, self.value, design.comparisons).assign(region=region)
            for region, read in design.answers.groupby("region", sort=True)
        ]
        if not regions:
            return pd.DataFrame()
        comparisons = pd.concat(regions, ignore_index=True).assign(construction=design.construction)
        comparisons = add_adjusted_p(comparisons.drop(columns="p_holm")).drop(columns="p_fdr")
        keys = ["construction", "region"]
        comparisons = comparisons[[*keys, *(name for name in comparisons if name not in keys)]]
        ends = {"percent": "estimate", "percent_low": "low", "percent_high": "high"}
        percents = {name: np.expm1(comparisons[end].astype(float)) for name, end in ends.items()}
        return comparisons.assign(**{name: _PERCENT * values for name, values in percents.items()})

    def cells(self, answers: pd.DataFrame, compared: Sequence[Design]) -> pd.DataFrame:
        """Return geometric means by construction, region and condition, in milliseconds."""
        by = ["construction", "region", "cell"]
        means = cell_means(answers.astype({"construction": str, "cell": str}), self.value, by)
        texts = _choose_example_texts(answers, by)
        for name in ("mean", "low", "high"):
            means[f"rt_ms{'' if name == 'mean' else f'_{name}'}"] = np.exp(means[name])
        means = means.merge(texts, "left", on=by)
        return means.sort_values(by[:2], kind="stable").reset_index(drop=True)

    def findings(
        self, effects: pd.DataFrame, cells: pd.DataFrame, inputs: FindingInputs
    ) -> Findings:
        """Return the tables of times and of effects, and the left-out times."""
        means = _sort_by_item_order(cells, inputs)
        tables, statistics = [self._means_table(means, inputs)], {"reading_times": means}
        if len(effects):
            tables.append(self._effects_table(effects, inputs))
            statistics[self.name] = effects
        left_out = select_comparable_readings(inputs.run, inputs.data.judgments).left_out
        return Findings(tuple(tables), statistics, left_out)

    def draw(
        self, cells: pd.DataFrame, compared: Sequence[Design], inputs: FindingInputs
    ) -> Figure:
        """Return the figure of times by region."""
        titles = titles_of(inputs.context.study)
        means = _sort_by_item_order(cells, inputs).groupby("construction", sort=False)
        panels = {titles.get(str(name), str(name)): rows for name, rows in means}
        return regions_figure(panels, simulated=inputs.context.origin.simulated)

    def _means_table(self, means: pd.DataFrame, inputs: FindingInputs) -> Table:
        rows = under_headings(means, inputs.context)
        label = rows["region"].astype(str) + " (" + rows["example"].astype(str) + ")"
        return inputs.context.table(
            "reading_times",
            "Reading times",
            "Geometric mean of the reading time of each region in each condition, in milliseconds.",
            rows.assign(label=label).drop(columns=["low", "high"]),
            (
                Column("label", "Region", "text"),
                Column("cell", "Condition", "text"),
                Column("rt_ms", "ms", "estimate"),
                _count_column("Readings"),
                Column("n_units", "Frames", "count"),
                Column("n_participants", "Participants", "count"),
            ),
            ("In brackets: the region in one item.",),
            self.section,
        )

    def _effects_table(self, effects: pd.DataFrame, inputs: FindingInputs) -> Table:
        rows = under_headings(effects, inputs.context)
        label = "Region " + rows["region"].astype(str) + ": " + rows["contrast"].astype(str)
        return inputs.context.table(
            self.name,
            "Differences of reading times",
            "How much longer a region is read in one condition than in another, in per cent.",
            rows.assign(label=label).drop(columns=["low", "high"]),
            (LABEL, Column("percent", "Per cent", "estimate"), *_TESTS, _count_column("Readings")),
            (
                "Differences of logarithms. "
                + _test_note(inputs.run.study, "all regions and contrasts of one construction"),
            ),
            self.section,
        )


def _choose_example_texts(answers: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return a text for each region and cell, all of one frame as far as it has the region."""
    construction = answers["construction"].astype(str)
    of_first = answers["unit"].astype(str).groupby(construction).transform("first")
    is_first = answers["unit"].astype(str) == of_first
    texts = answers.assign(is_later=~is_first, example=answers["text"].astype(str))
    texts = texts.sort_values("is_later", kind="stable").drop_duplicates(list(by))
    return texts[[*by, "example"]].astype({"construction": str, "cell": str})


def _sort_by_item_order(means: pd.DataFrame, inputs: FindingInputs) -> pd.DataFrame:
    """Return the rows of a region in the order of the items' conditions, with these in words."""
    order = list(dict.fromkeys(inputs.run.items["condition"].astype(str)))
    position = means["cell"].map(
        lambda cell: next(
            (n for n, name in enumerate(order) if cell == name or cell.startswith(f"{name},")),
            len(order),
        )
    )
    rows = means.assign(place=position).sort_values(
        ["construction", "region", "place"], kind="stable"
    )
    words = inputs.context.name_conditions(rows.rename(columns={"cell": "condition"}))
    return rows.drop(columns="place").assign(cell=words).reset_index(drop=True)


def _concatenate(cells: Sequence[pd.DataFrame]) -> pd.DataFrame:
    return pd.concat(cells, ignore_index=True) if cells else pd.DataFrame()


READING = ReadingTimes()
CHOICE_EFFECTS, RATING_EFFECTS, YES_NO_EFFECTS, READING_EFFECTS = map(
    effects_of, (Choices(), Ratings(), YesNo(), READING)
)
