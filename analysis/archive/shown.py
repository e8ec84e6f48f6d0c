"""Collect each version of each item as participants read it, and the answers to each item."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from analysis.archive.package import Package, Row
from experiment.materials.render import render, without_added_stop
from experiment.records import Variant
from experiment.studies.study import Study
from experiment.tables.column import TableSchema
from experiment.tables.schemas import ITEMS


def shown_texts(package: Package, study: Study) -> Iterator[Row]:
    """Yield item_id, version and text (with its context) for each version."""
    way = render(study.materials.shown_to_people, own_code=False)
    apart = study.response == "prefix_completion"
    own = [
        column.name for column in _items(package).columns if column.name not in ITEMS.column_names
    ]
    for row in package.rows(_items(package)):
        context = str(row["context"])
        if context:
            yield _text(row, "context", without_added_stop(context, way))
        for version in (*Variant, *own):
            if words := str(row[version] or ""):
                whole = words if apart or not context else f"{context} {words}"
                yield _text(row, version, words if apart else way(whole))


def _text(row: Row, version: str, text: str) -> Row:
    return {"item_id": row["item_id"], "version": str(version), "text": text}


def _items(package: Package) -> TableSchema:
    return next(table for table in package.tables if table.name == ITEMS.name)


@dataclass(frozen=True, slots=True)
class JudgedItem:
    """An item with two options and the participants' choices.

    Attributes:
        item_id: The item's id.
        construction: Its construction.
        condition: Its condition.
        context: The words before the options, as models get them; empty for whole sentences.
        good: The expected option.
        other: The alternative to the expected option.
        n: The number of participants who judged the item.
        share: The share of those participants who chose the expected option.
    """

    item_id: str
    construction: str
    condition: str
    context: str
    good: str
    other: str
    n: int
    share: float

    @property
    def ceiling(self) -> float:
        """The highest possible agreement of a constant choice with single participants' choices."""
        return max(self.share, 1 - self.share)


def judged_items(package: Package, study: Study) -> list[JudgedItem]:
    """Return every item that a kept participant judged, in the order of the items."""
    tables = {table.name: table for table in package.tables}
    kept = {row["participant"] for row in package.rows(tables["verdicts"]) if row["kept"]}
    right: Counter[str] = Counter()
    judged: Counter[str] = Counter()
    for row in package.rows(tables["responses"]):
        if row["participant"] in kept and row["chose_good"] is not None:
            judged[str(row["item_id"])] += 1
            right[str(row["item_id"])] += bool(row["chose_good"])
    way = render(study.materials.shown_to_people, own_code=False)
    return [
        _judged(row, way, right, judged)
        for row in package.rows(_items(package))
        if judged[str(row["item_id"])]
    ]


def _judged(
    row: Row, way: Callable[[str], str], right: Counter[str], judged: Counter[str]
) -> JudgedItem:
    item_id, context = str(row["item_id"]), str(row["context"])
    distractor = row["contrast"] == Variant.DISTRACTOR
    options = [str(row["good"]), str(row["distractor" if distractor else "bad"])]
    if context:
        # The option continues the rendered sentence after the context.
        before = without_added_stop(context, way)
        whole = [way(f"{context} {option}") for option in options]
        follows = all(text.startswith(f"{before} ") for text in whole)
        context = before if follows else ""
        options = [text.removeprefix(f"{before} ") if follows else text for text in whole]
    else:
        options = [way(option) for option in options]
    n = judged[item_id]
    return JudgedItem(
        item_id, str(row["construction"]), str(row["condition"]), context, options[0], options[1],
        n, right[item_id] / n,
    )  # fmt: skip
