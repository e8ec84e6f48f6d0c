"""Simulated answers of a planned study, in the form that the analysis uses."""

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.data.own_columns import PREFIX, in_namespace
from analysis.errors import AnalysisError
from analysis.findings.contrasts import planned
from analysis.findings.design import crossed, with_units
from analysis.findings.effects import with_repeats
from analysis.power.simulated_scales import Planned
from experiment.design.counterbalancing import arrangements
from experiment.design.lists import BuiltLists, ListEntry
from experiment.errors import why_unread
from experiment.exclusion.rules import verdict
from experiment.materials.read import item_row
from experiment.records import PAIR, Judgment, Kind, Variant
from experiment.responses.base import Arrangement, Given, ResponseType
from experiment.studies.study import Study

_MEAN = "mean"
# Default means, as a share of the scale, by version.
_GOOD, _OTHER, _ALONE = 0.8, 0.2, 0.5


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers of the largest study tried.

    Attributes:
        rows: One row per answer, with participant and place (from 0), list, item, version, unit.
        items: The table of items.
        judge: Converts a row index and a point to an answer as the exclusion rules see it.
    """

    rows: pd.DataFrame
    items: pd.DataFrame
    judge: Callable[[int, int], Judgment]

    def keeps(self, study: Study) -> Callable[[NDArray[np.intp]], set[int]]:
        """Return a function from all points to the participants kept by the study's rules."""
        grouped = self.rows.groupby("participant").indices
        of_person = {int(str(person)): list(places) for person, places in grouped.items()}

        def kept(points: NDArray[np.intp]) -> set[int]:
            if not study.exclusion:
                return set(of_person)
            return {
                person for person, places in of_person.items()
                if verdict(study.exclusion, [self.judge(at, int(points[at])) for at in places]).kept
            }  # fmt: skip

        return kept


def answers_of(
    study: Study, response: ResponseType, built: BuiltLists, per_list: int, *, rated: bool
) -> Answers:
    """Return the answers of the given number of participants per list.

    Args:
        study: The study.
        response: The response type; each trial shows one version.
        built: The study's lists.
        per_list: The number of participants per list.
        rated: Whether answers are ratings; otherwise the second of two points means yes.
    """
    trials: list[tuple[ListEntry, Arrangement]] = []
    rows = []
    for list_, entries in enumerate(built.lists):
        levels = built.levels[list_] if built.levels else {}
        for place in range(per_list):
            shown = arrangements(entries, response, seed=built.seed, list_=list_, place=place)
            for entry, arranged in zip(entries, shown, strict=True):
                trials.append((entry, arranged))
                rows.append(
                    {"participant": list_ * per_list + place, "place": place, "list": list_,
                     "item_id": entry.item.item_id, "construction": entry.item.construction,
                     "condition": entry.item.condition, "kind": str(entry.kind),
                     "version": arranged.options[0]}
                    | {f"{PREFIX}{name}": value for name, value in entry.item.extra}
                    | {f"{PREFIX}{name}": level for name, level in levels.items()}
                )  # fmt: skip
    distinct = {entry.item.item_id: entry.item for entries in built.lists for entry in entries}
    items = in_namespace(pd.DataFrame([item_row(one) for one in distinct.values()]).fillna(""))

    def judge(at: int, point: int) -> Judgment:
        entry, arranged = trials[at]
        given = Given(rating=point) if rated else Given(side=PAIR[point != len(PAIR)])
        return Judgment(
            position=at + 1, item_id=entry.item.item_id, kind=entry.kind, rt_ms=None,
            construction=entry.item.construction, condition=entry.item.condition,
            extra=entry.item.extra, **response.judged(arranged, given).fields(),
        )  # fmt: skip

    return Answers(with_units(pd.DataFrame(rows), items), items, judge)


def with_means(answers: Answers, study: Study, points: int, path: Path | None) -> pd.DataFrame:
    """Add ``mean`` to answers: the expected mean from the file, or a default.

    Args:
        answers: The answers.
        study: The study.
        points: The number of points of the scale; with 2, the file has shares from 0 to 1.
        path: A table with ``mean`` and columns that identify answers: construction, condition,
            version, list, own columns, factors between participants.

    Raises:
        AnalysisError: The file cannot be read, or does not have one mean for each answer.
    """
    rows = answers.rows
    target = rows["kind"] == Kind.TARGET
    alone = ~rows["item_id"].isin(answers.items.loc[_has_two(answers.items), "item_id"])
    share = np.where(alone, _ALONE, np.where(rows["version"] == Variant.GOOD, _GOOD, _OTHER))
    means = pd.Series(1 + (points - 1) * share, rows.index)
    if path is not None:
        expected = _expected(rows[target], path)
        means[target] = 1 + expected if points == len(PAIR) else expected
    return rows.assign(mean=means)


def _has_two(items: pd.DataFrame) -> "pd.Series[bool]":
    return (items["bad"] != "") | (items["distractor"] != "")


def _expected(rows: pd.DataFrame, path: Path) -> "pd.Series[float]":
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            table = pd.DataFrame(list(csv.DictReader(file)))
        means = pd.to_numeric(table[_MEAN])
    except (OSError, UnicodeDecodeError, KeyError, ValueError) as error:
        raise AnalysisError(
            f"the expected means cannot be read ({why_unread(error)})",
            where=str(path),
            expected='a table in UTF-8 with a number in the column "mean" of every row',
        ) from error
    keys = [str(name) for name in table if name != _MEAN]
    known = {name.removeprefix(PREFIX): rows[name].astype(str) for name in map(str, rows)}
    for key in keys:
        if key not in known:
            raise AnalysisError(
                f'the study has no column "{key}"', where=str(path),
                expected="construction, condition, version, a column of your items or a factor",
            )  # fmt: skip
    given = dict(zip(table[keys].itertuples(index=False, name=None), means, strict=True))
    if len(given) < len(table):
        raise AnalysisError("two rows are about the same answers", where=str(path))
    own = list(zip(*(known[key] for key in keys), strict=True)) or [()] * len(rows)
    if lacking := next((one for one in own if one not in given), None):
        said = ", ".join(f"{key} = {value}" for key, value in zip(keys, lacking, strict=True))
        raise AnalysisError(
            f"no mean is expected of {said}", where=str(path), expected="a row for each condition"
        )
    return pd.Series([given[one] for one in own], rows.index)


def plans(
    answers: Answers, rows: pd.DataFrame, study: Study
) -> Iterator[tuple[str, Planned, "pd.Series[str]"]]:
    """Yield each construction of targets with its contrasts, and the cells of its answers.

    Args:
        answers: The answers.
        rows: The same answers with expected means.
        study: The study.
    """
    targets = rows[rows["kind"] == Kind.TARGET]
    of_items = answers.items["construction"].astype(str)
    for name, own in targets.groupby(targets["construction"], sort=False):
        found, cross = crossed(own, answers.items[of_items == name], study)
        if len(cross.cells) < len(PAIR):
            continue
        wanted = planned(cross, study.analysis)
        found = with_repeats(found, study)
        means = found.groupby(found["cell"].astype(str))[_MEAN].mean()
        truth = {
            label: float(sum(weight * means[cell] for cell, weight in weights.items()))
            for label, weights in wanted.items()
        }
        needed = [one for one in ("participant", "unit", "cell", "also", "group") if one in found]
        places = rows.index.get_indexer(found.index)
        yield str(name), Planned(places, found[needed], wanted, truth), found["cell"].astype(str)
