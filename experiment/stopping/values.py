"""One value for each participant: the comparison's difference in this person's answers alone."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import log
from statistics import fmean

from experiment.comparisons.contrast import Contrast
from experiment.comparisons.planned import (
    EXPECTED,
    OTHER,
    VERSION,
    PlannedComparison,
    construction_designs,
)
from experiment.errors import StudyError
from experiment.records import Item, Kind, Variant
from experiment.responses.answer import Balance
from experiment.responses.base import ResponseType
from experiment.responses.rating.rating import PREFIX
from experiment.responses.registry import response_of
from experiment.stopping.betting import Bounds
from experiment.studies.analysis_plan import D_PRIME, NUMBER_OF, SHARE_OF, Analysis, is_count
from experiment.studies.study import Study

LOG_RT = "log_rt"
# A row of an exported table: of responses, or of the readings of words and regions.
Row = Mapping[str, object]
Cell = tuple[str, ...]
_DIFFERENCE = (
    "a difference between levels of accuracy, rating, yes, a share of an option, log_rt or a "
    "number of entries"
)
_ROUNDING = 1e-9
_COLUMNS = {"accuracy": "chose_good", "yes": "said_yes"}


@dataclass(frozen=True, slots=True)
class ComparedValues:
    """How a comparison's value follows from the answers of one participant.

    The value is such that its mean over lists is the comparison's difference, also where a list
    holds only some of the compared conditions.

    Attributes:
        measure: The measure.
        column: The column of the answers' table with the measured values.
        weights: The weight of each cell in the value of a participant of a list, by list; lists
            that hold no compared condition are left out.
        bounds: The least and the largest value; None if the measure is unbounded.
        groups: How many participants of a list see all of its items in all versions.
    """

    measure: str
    column: str
    weights: Mapping[int, Mapping[Cell, float]]
    bounds: Bounds | None
    groups: int
    _middle: float
    _cell_of: Mapping[tuple[int, str, str], Cell]
    _regions: Sequence[int]
    _times_ms: tuple[float, float]

    @property
    def n_groups(self) -> int:
        """How many participants make a complete block."""
        return len(self.weights) * self.groups

    def group_of(self, list_: int, place: int) -> tuple[int, int] | None:
        """Return the group of a participant in its block; None if the list is not compared."""
        return (list_, place % self.groups) if list_ in self.weights else None

    def coefficients(self, list_: int, rows: Sequence[Row]) -> list[float]:
        """Return how much each answer of a participant adds to the value, if it is complete.

        Args:
            list_: The participant's list.
            rows: One row for each answer, with item_id and version.
        """
        cells = [self._find_cell(list_, row) for row in rows]
        numbers, weights = Counter(cells), self.weights.get(list_, {})
        return [0.0 if cell is None else weights[cell] / numbers[cell] for cell in cells]

    def constant(self, list_: int) -> float:
        """Return what is subtracted from a participant's weighted sum of answers."""
        return self._middle * sum(self.weights.get(list_, {}).values())

    def value_of(self, list_: int, rows: Iterable[Row]) -> float | None:
        """Return a participant's value; None if there is no answer in one of the list's cells.

        Args:
            list_: The participant's list.
            rows: The participant's rows of the exported table of responses; for reading times, of
                readings.
        """
        measured: dict[Cell, list[float]] = {}
        of_answers = self._times(rows) if self.measure == LOG_RT else self._answers(rows)
        for row, value in of_answers:
            cell = self._find_cell(list_, row)
            if cell is not None and value is not None:
                measured.setdefault(cell, []).append(value)
        weights = self.weights[list_]
        if not measured.keys() >= weights.keys():
            return None
        return sum(
            weight * (fmean(measured[cell]) - self._middle) for cell, weight in weights.items()
        )

    def _find_cell(self, list_: int, row: Row) -> Cell | None:
        item, cells = str(row["item_id"]), self._cell_of
        return cells.get((list_, item, "")) or cells.get((list_, item, str(row.get("version"))))

    def _answers(self, rows: Iterable[Row]) -> Iterator[tuple[Row, float | None]]:
        for row in rows:
            if self.measure.startswith(SHARE_OF):
                yield row, float(row["version"] == self.measure.removeprefix(SHARE_OF))
            else:
                value = row.get(self.column)
                yield row, float(value) if isinstance(value, bool | int | float) else None

    def _times(self, rows: Iterable[Row]) -> Iterator[tuple[Row, float]]:
        """Yield the logarithm of each trial's time in the compared regions, if it is complete."""
        by_trial: dict[object, list[Row]] = {}
        for row in rows:
            by_trial.setdefault(row["position"], []).append(row)
        least, most = self._times_ms
        for trial in by_trial.values():
            regions = {row.get("relative_region") for row in trial} - {None, ""}
            wanted = {*(self._regions or (0,))} if regions else None
            read = [row for row in trial if wanted is None or row.get("relative_region") in wanted]
            times = [float(str(row["rt_ms"])) for row in read if row["rt_ms"] not in (None, "")]
            is_complete = len(times) == len(read) > 0 and all(least <= ms <= most for ms in times)
            if wanted is not None:
                is_complete &= {row.get("relative_region") for row in read} == wanted
            if is_complete:
                yield trial[0], log(sum(times))


def compared_values(
    study: Study,
    items: Sequence[Item],
    planned: PlannedComparison,
    lists: Mapping[int, Collection[str]],
    scale: str = "",
) -> ComparedValues:
    """Return how a comparison's values follow from answers.

    Args:
        study: The study.
        items: Its items.
        planned: The comparison.
        lists: The ids of each list's items.
        scale: The scale, if trials have several.

    Raises:
        StudyError: The comparison has no value in the answers of one participant.
    """
    compared = _require_contrast(planned)
    designs = [
        design
        for design in construction_designs(study, items, own_code=False)
        if design.construction in planned.constructions
        and {*compared.named_factors} <= {*design.factors}
    ]
    weights: dict[Cell, float] = {}
    for design in designs:
        cells = {"\n".join(levels): levels for levels in product(*design.factors.values())}
        for text, weight in compared.weights(design.factors, cells).items():
            weights[(design.construction, *cells[text])] = weight / len(designs)
    cell_of: dict[tuple[int, str, str], Cell] = {}
    by_name = {design.construction: design for design in designs}
    targets = {
        item.item_id: item
        for item in items
        if item.kind is Kind.TARGET and item.construction in by_name
    }
    response = response_of(study, own_code=False)
    for list_, ids in lists.items():
        of_list = study.design.levels(list_) if study.design.factors else {}
        for item in (targets[name] for name in ids if name in targets):
            design = by_name[item.construction]
            levels = {**design.conditions[item.condition], **of_list}
            shown = response.of_item(item).versions(item) if VERSION in design.factors else ("",)
            for version in shown:
                levels[VERSION] = EXPECTED if version == Variant.GOOD else OTHER
                cell = (item.construction, *(levels[factor] for factor in design.factors))
                if cell in weights:
                    cell_of[list_, item.item_id, version] = cell
    return _weigh_cells(
        study, planned, response.of_item(next(iter(targets.values()))), weights, cell_of, scale
    )


def _require_contrast(planned: PlannedComparison) -> Contrast:
    """Return what a comparison compares, if each participant has a difference of their own."""
    name, expected = planned.declaration.name, f"{_DIFFERENCE}, without covariates"
    if not isinstance(planned.compared, Contrast):
        raise StudyError(
            f'the comparison "{name}" ({planned.compared.text}) is not a difference '
            "between the answers of one participant",
            expected=expected,
        )
    if planned.measure == D_PRIME or planned.declaration.covariates:
        held = "d'" if planned.measure == D_PRIME else "covariates"
        raise StudyError(
            f'the comparison "{name}" with {held} pools the answers of all participants',
            expected=expected,
        )
    return planned.compared


def _weigh_cells(
    study: Study,
    planned: PlannedComparison,
    type_: ResponseType,
    weights: Mapping[Cell, float],
    cell_of: Mapping[tuple[int, str, str], Cell],
    scale: str,
) -> ComparedValues:
    measure, plan = planned.measure, study.analysis
    is_typed_share = measure.startswith(SHARE_OF) and type_.family == "typed"
    if is_typed_share or measure.startswith(NUMBER_OF):
        raise StudyError(
            f'the comparison "{planned.declaration.name}" is about a category of typed answers, '
            "and people give categories only after the run",
            expected='a comparison of accepted words, of = "accuracy"'
            if is_typed_share
            else 'a comparison of all entries, of = "different_entries" or "entries"',
        )
    of_list: dict[int, set[Cell]] = {}
    for (list_, _, _), cell in cell_of.items():
        of_list.setdefault(list_, set()).add(cell)
    n_with = Counter(cell for cells in of_list.values() for cell in cells)
    by_list = {
        list_: {cell: weights[cell] * len(of_list) / n_with[cell] for cell in sorted(cells)}
        for list_, cells in of_list.items()
    }
    if measure == LOG_RT or is_count(measure):
        _refuse_unbounded(planned, plan, by_list.values())
        half, middle = None, 0.0
    elif measure == "rating":
        n_points = type_.named_scales.get(scale)
        lowest, highest = (1.0, float(n_points)) if n_points else type_.rating_ends
        half, middle = (highest - lowest) / 2, (highest + lowest) / 2
    else:
        half, middle = 0.5, 0.5
    largest = max(sum(abs(weight) for weight in cells.values()) for cells in by_list.values())
    return ComparedValues(
        measure=measure,
        column=f"{PREFIX}{scale}" if scale else _COLUMNS.get(measure, measure),
        weights=by_list,
        bounds=None if half is None else Bounds(-largest * half, largest * half),
        groups=type_.balanced_over if type_.balance is Balance.VERSIONS else 1,
        _middle=middle,
        _cell_of=cell_of,
        _regions=planned.declaration.regions,
        _times_ms=(plan.least_rt_ms, plan.most_rt_ms),
    )


def _refuse_unbounded(
    planned: PlannedComparison, plan: Analysis, by_list: Iterable[Mapping[Cell, float]]
) -> None:
    """Refuse times and numbers without bounds that are not compared within each list.

    Raises:
        StudyError: They are of different lists, or depend on the participant's other times.
    """
    name, reads = planned.declaration.name, planned.measure == LOG_RT
    if reads and (plan.most_sds is not None or plan.residual_on_length):
        raise StudyError(
            f'the comparison "{name}" uses reading times that depend on the participant\'s other '
            "times",
            expected="neither most_sds nor residual_on_length in [analysis]",
        )
    if any(abs(sum(cells.values())) > _ROUNDING for cells in by_list):
        what = "reading times" if reads else "numbers of entries"
        raise StudyError(
            f'the comparison "{name}" compares {what} from different lists, which have no bounds',
            expected=f"a difference of {what} within each list",
        )
