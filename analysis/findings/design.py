"""Crossed designs of constructions: the cells, their answers, and the parts without answers."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Self

import pandas as pd

from analysis.data.own_columns import PREFIX, header, list_own_columns
from analysis.findings.finding import CONDITION as CELL
from analysis.findings.finding import FindingInputs, titles_of
from analysis.statistics.attraction import feature_columns
from experiment.comparisons.contrast import condition_factors
from experiment.records import Kind
from experiment.studies.analysis_plan import Analysis
from experiment.studies.study import Study

VERSION, CONDITION = "version", "condition"
# How many missing parts a sentence names.
_MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class Crossing:
    """The cells of a construction that have answers.

    Attributes:
        factors: The factors' levels in the order of the items, with the version first if items have
            two, and between-participant factors last; a single factor "condition" if no columns
            define the conditions.
        cells: The level of every factor, by cell name.
    """

    factors: Mapping[str, tuple[str, ...]]
    cells: Mapping[str, tuple[str, ...]]

    @property
    def has_factors(self) -> bool:
        """Whether the study declares factors, not only a list of conditions."""
        return bool(set(self.factors) - {CONDITION, VERSION})

    @property
    def empty(self) -> list[tuple[str, ...]]:
        """The combinations of levels without answers."""
        filled_cells = set(self.cells.values())
        return [levels for levels in product(*self.factors.values()) if levels not in filled_cells]

    def pooled(self, factors: Collection[str]) -> tuple[dict[str, str], Self]:
        """Return the crossing of only these factors, and the cell there of each cell here."""
        places = [index for index, name in enumerate(self.factors) if name in factors]
        levels = {
            cell: tuple(values[index] for index in places) for cell, values in self.cells.items()
        }
        names = {cell: ", ".join(values) for cell, values in levels.items()}
        kept_factors = {name: values for name, values in self.factors.items() if name in factors}
        return names, type(self)(
            kept_factors, {names[cell]: values for cell, values in levels.items()}
        )

    def labelled(self, plan: Analysis) -> tuple[dict[str, str], Self]:
        """Return each cell's name in the words of reports, and the crossing with these words."""
        if not set(self.factors) & set(plan.labels):
            return {cell: cell for cell in self.cells}, self
        cells = {
            cell: tuple(map(plan.label, self.factors, levels))
            for cell, levels in self.cells.items()
        }
        names = {cell: ", ".join(levels) for cell, levels in cells.items()}
        factors = {
            factor: tuple(plan.label(factor, level) for level in levels)
            for factor, levels in self.factors.items()
        }
        return names, type(self)(factors, {names[cell]: cells[cell] for cell in cells})

    def without_empty_levels(self) -> Self:
        """Return the crossing without levels that lack answers, and without one-level factors."""
        present_levels = {
            name: tuple(level for level in levels if level in {values[index] for values in
                                                               self.cells.values()})
            for index, (name, levels) in enumerate(self.factors.items())
        }  # fmt: skip
        places = [index for index, levels in enumerate(present_levels.values()) if len(levels) > 1]
        cells = {
            cell: tuple(levels[index] for index in places) for cell, levels in self.cells.items()
        }
        return type(self)(
            {name: values for name, values in present_levels.items() if len(values) > 1}, cells
        )


def cell_names(ratings: pd.DataFrame) -> pd.Series:
    """Return each rating's cell: the condition, and the version if items have two."""
    condition = ratings["condition"].astype(str)
    version = ratings["version"].astype(str)
    several = version.groupby(ratings["construction"].astype(str)).transform("nunique") > 1
    return condition.where(~several, condition + ", " + version)


def with_units(answers: pd.DataFrame, items: pd.DataFrame) -> pd.DataFrame:
    """Add ``unit`` (repeats over conditions) and ``cell`` to answers to single versions.

    A unit is a frame within a construction; an item without a frame is its own unit.
    """
    ids = items["item_id"].astype(str)
    frame, construction = (items[name].astype(str) for name in ("frame", "construction"))
    unit = (construction + " " + frame).where(frame != "", ids)
    of_item = answers["item_id"].astype(str).map(dict(zip(ids, unit, strict=True)))
    rows = answers.assign(unit=of_item.astype("category"))
    return rows.assign(cell=cell_names(rows).astype("category"))


def crossed_designs(
    inputs: FindingInputs, *, between: bool = True
) -> Iterator[tuple[str, pd.DataFrame, Crossing]]:
    """Yield each construction of targets with its answers and their crossing.

    Constructions with a single cell are left out.

    Args:
        inputs: The inputs of findings.
        between: Whether to include between-participant factors; models have none.

    Yields:
        The construction; its answers with ``cell``, ``unit`` (repeats over conditions) and,
        with between-participant factors, ``group`` (their levels); the crossing.
    """
    rows, items = inputs.data.judgments, inputs.run.items
    study = inputs.run.study
    if "cell" not in rows:
        # Without a declared design, no column is made: there may be millions of choices.
        if not (study.comparisons or study.design.factors or study.analysis.factors
                or study.materials.items):  # fmt: skip
            return
        rows = rows.assign(cell=rows[CONDITION].astype(str), version="good", unit=rows["frame"])
    of_items = items["construction"].astype(str)
    for name, answers in rows.groupby(rows["construction"].astype(str), sort=False):
        answers, cross = cross_conditions(
            answers, items[of_items == name], inputs.run.study, between=between
        )
        names, cross = cross.without_empty_levels().labelled(study.analysis)
        if len(cross.cells) > 1:
            if study.analysis.labels:
                answers = answers.assign(cell=answers["cell"].astype(str).map(names))
            yield str(name), answers, cross


def cross_conditions(
    rows: pd.DataFrame, items: pd.DataFrame, study: Study, *, between: bool = True
) -> tuple[pd.DataFrame, Crossing]:
    """Return the answers of one construction with their cells, and the crossing of the cells."""
    rows, cross = _cells_by_factors(rows, items, study) or (rows, crossing(rows, items))
    names = [name for name in study.design.factors if between and f"{PREFIX}{name}" in rows]
    levels = rows[[f"{PREFIX}{name}" for name in names]].astype(str)
    names = [name for name in names if levels[f"{PREFIX}{name}"].nunique() > 1]
    if not names:
        return rows, cross
    group = _join_levels(levels[[f"{PREFIX}{name}" for name in names]])
    cell = rows["cell"].astype(str)
    if len(cross.cells) > 1:
        # The rest of a single cell's name carries no information.
        joined = cell + ", " + group
    else:
        cross, joined = Crossing({}, dict.fromkeys(cross.cells, ())), group
    between_levels = {name: tuple(study.design.factors[name]) for name in names}
    pairs = pd.DataFrame({"cell": cell, "joined": joined}).join(levels).drop_duplicates("joined")
    order = list(cross.cells)
    pairs = pairs.sort_values("cell", key=lambda column: column.map(order.index), kind="stable")
    cells = {
        row["joined"]: (*cross.cells[row["cell"]], *(row[f"{PREFIX}{name}"] for name in names))
        for row in pairs.to_dict("records")
    }
    return rows.assign(cell=joined, group=group), Crossing(
        {**cross.factors, **between_levels}, cells
    )


def _cells_by_factors(
    rows: pd.DataFrame, items: pd.DataFrame, study: Study
) -> tuple[pd.DataFrame, Crossing] | None:
    """Return the cells defined by the study's named factors; None if it names none."""
    columns = _factor_values(items)
    factor_names = [name for name in study.analysis.factors if name in columns.columns]
    factor_names = [name for name in factor_names if columns[name].nunique() > 1]
    if not factor_names:
        return None
    by_item = columns[factor_names].set_axis(items["item_id"].astype(str))
    levels = by_item.reindex(rows["item_id"].astype(str).tolist()).set_axis(rows.index)
    if rows["version"].astype(str).nunique() > 1:
        version = rows["version"].astype(str).eq("good").map({True: "expected", False: "other"})
        levels.insert(0, VERSION, version)
    cell = _join_levels(levels)
    distinct_cells = levels.assign(cell=cell).drop_duplicates("cell")
    order = {str(name): tuple(dict.fromkeys(levels[name])) for name in levels}
    order |= {name: tuple(dict.fromkeys(columns[name])) for name in factor_names}
    names = [str(name) for name in levels]
    distinct_cells = distinct_cells.sort_values(
        names, key=lambda column: column.map(order[str(column.name)].index)
    )
    cells = {
        str(row["cell"]): tuple(str(row[name]) for name in names)
        for row in distinct_cells.to_dict("records")
    }
    return rows.assign(cell=cell), Crossing(order, cells)


def _join_levels(levels: pd.DataFrame) -> "pd.Series[str]":
    """Return each row's levels in one text, such as "near, sg"."""
    first, *others = (levels[name].astype(str) for name in levels)
    for level in others:
        first = first + ", " + level
    return first


def _factor_values(items: pd.DataFrame, *, features: bool = True) -> pd.DataFrame:
    """Return the items' own columns by header, and the features of templates."""
    columns = {header(name): items[name].astype(str) for name in list_own_columns(items)}
    if features:
        of_templates = feature_columns(items).fillna("")
        columns |= {str(name): of_templates[name] for name in of_templates}
    return pd.DataFrame(columns, index=items.index)


def crossing(rows: pd.DataFrame, items: pd.DataFrame) -> Crossing:
    """Return the crossing of the conditions of one construction.

    Args:
        rows: The construction's answers, with cell, condition and version.
        items: The construction's items, with the study's own columns.
    """
    cells = rows[["cell", "condition", "version"]].astype(str).drop_duplicates("cell")
    order = list(dict.fromkeys(items["condition"].astype(str)))
    cells = cells.assign(
        place=cells["condition"].map(order.index), other=cells["version"] != "good"
    )
    cells = cells.sort_values(["place", "other"])
    levels = _find_levels(_factor_values(items, features=False), items)
    names = (["version"] if cells["version"].nunique() > 1 else []) + list(levels)
    of_cell = {
        row["cell"]: (
            *(["expected" if row["version"] == "good" else "other"] if VERSION in names else []),
            *(level_of[row["condition"]] for level_of in levels.values()),
        )
        for row in cells.to_dict("records")
    }
    factors = {
        name: tuple(dict.fromkeys(values[index] for values in of_cell.values()))
        for index, name in enumerate(names)
    }
    several = {name for name, values in factors.items() if len(values) > 1}
    places = [index for index, name in enumerate(names) if name in several]
    return Crossing(
        {name: factors[name] for name in names if name in several},
        {name: tuple(values[index] for index in places) for name, values in of_cell.items()},
    )


def _find_levels(
    columns: pd.DataFrame, items: pd.DataFrame, named: Sequence[str] = ()
) -> dict[str, dict[str, str]]:
    """Return each condition's level, by factor: as a plan finds them (``condition_factors``)."""
    targets = items[items["kind"].astype(str) == Kind.TARGET]
    items = items if targets.empty else targets
    rows = columns.loc[items.index].to_dict("records")
    texts = [{str(name): str(value) for name, value in row.items()} for row in rows]
    return condition_factors(zip(items["condition"].astype(str), texts, strict=True), named)


def label_conditions(study: Study, items: pd.DataFrame) -> dict[tuple[str, str], str]:
    """Return the words of each construction's conditions whose factors have labels.

    Conditions with the same levels keep their names.
    """
    plan = study.analysis
    conditions: dict[tuple[str, str], str] = {}
    for construction, rows in items.groupby("construction", sort=False) if plan.labels else ():
        columns = _factor_values(rows, features=bool(plan.factors))
        levels = _find_levels(columns, rows, plan.factors)
        if not set(levels) & set(plan.labels):
            continue
        words = {
            condition: ", ".join(plan.label(name, of_factor[condition])
                                 for name, of_factor in levels.items())
            for condition in next(iter(levels.values()))
        }  # fmt: skip
        if len({*words.values()}) == len(words):
            conditions |= {(str(construction), name): text for name, text in words.items()}
    return conditions


def missing_judgments(inputs: FindingInputs) -> Iterator[str]:
    """Yield the parts of the design that have no judgments from kept participants."""
    answers = inputs.data.judgments
    titles = titles_of(inputs.context.study)
    present = set(answers["construction"].astype(str))
    without = [title for name, title in titles.items() if name not in present]
    if without and len(without) < len(titles):
        yield f"No judgments are left on {_shorten(without)}."
    yield from _missing_conditions(inputs, titles)
    yield from _missing_levels(inputs, titles)


def _missing_conditions(inputs: FindingInputs, titles: Mapping[str, str]) -> Iterator[str]:
    """Yield conditions without judgments, in constructions that have some."""
    items, answers = inputs.run.items, inputs.data.judgments
    targets = items.loc[items["kind"].astype(str) == Kind.TARGET, [*CELL]].astype(str)
    have = set(answers[[*CELL]].drop_duplicates().astype(str).itertuples(index=False, name=None))
    judged_constructions = {construction for construction, _ in have}
    for name, rows in targets.drop_duplicates().groupby("construction", sort=False):
        absent = [
            inputs.context.conditions.get((str(name), condition), condition)
            for condition in rows["condition"]
            if (str(name), condition) not in have
        ]
        if absent and str(name) in judged_constructions:
            yield f"{titles.get(str(name), name)}: no judgments are left in {_shorten(absent)}."


def _missing_levels(inputs: FindingInputs, titles: Mapping[str, str]) -> Iterator[str]:
    """Yield between-participant levels without kept participants, and remaining empty cells."""
    answers, declared = inputs.data.judgments, inputs.run.study.design.factors
    between = {name: set(answers[f"{PREFIX}{name}"].astype(str)) for name in declared
               if f"{PREFIX}{name}" in answers}  # fmt: skip
    label = inputs.run.study.analysis.label
    for name, levels in between.items():
        absent = [label(name, level) for level in declared[name] if level not in levels]
        if absent:
            yield f"No participants are left with {name} = {_shorten(absent)}."
    present = {label(name, level) for name, levels in between.items() for level in levels}
    for name, _, cross in crossed_designs(inputs) if between else ():
        empty = [", ".join(levels) for levels in cross.empty if present & set(levels)]
        if empty:
            yield (
                f"{titles.get(name, name)}: no judgments are left in {_shorten(empty)}; "
                "contrasts that need these cells are left out."
            )


def _shorten(names: list[str]) -> str:
    n_more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {n_more} more" if n_more > 0 else "")
