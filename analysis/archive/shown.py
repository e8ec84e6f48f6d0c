"""Collect each version of each item as participants read it, and the answers to each item."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from analysis.archive.package import Package, Row
from experiment.materials.render import remove_added_stop, render
from experiment.records import Variant
from experiment.responses.registry import known_response
from experiment.studies.study import Study
from experiment.tables.column import TableSchema
from experiment.tables.schemas import ITEMS


def list_shown_texts(package: Package, study: Study) -> Iterator[Row]:
    """Yield item_id, version and text (with its context) for each version."""
    rendering = render(study.materials.shown_to_people, own_code=False)
    response = known_response(study)
    shows_words_alone = response is not None and response.shows_words_alone
    own_versions = [
        column.name
        for column in _items_table(package).columns
        if column.name not in ITEMS.column_names
    ]
    for row in package.rows(_items_table(package)):
        context = str(row["context"])
        is_separate = bool(context) and shows_words_alone
        if context:
            yield _text_row(row, "context", remove_added_stop(context, rendering))
        for version in (*Variant, *own_versions):
            if words := str(row[version] or ""):
                full_text = words if is_separate or not context else f"{context} {words}"
                yield _text_row(row, version, words if is_separate else rendering(full_text))


def _text_row(row: Row, version: str, text: str) -> Row:
    return {"item_id": row["item_id"], "version": str(version), "text": text}


def _items_table(package: Package) -> TableSchema:
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


def collect_judged_items(package: Package, study: Study) -> list[JudgedItem]:
    """Return every item that a kept participant judged, in the order of the items."""
    tables = {table.name: table for table in package.tables}
    kept_participants = {
        row["participant"] for row in package.rows(tables["verdicts"]) if row["kept"]
    }
    n_expected: Counter[str] = Counter()
    n_judged: Counter[str] = Counter()
    for row in package.rows(tables["responses"]):
        if row["participant"] in kept_participants and row["chose_good"] is not None:
            n_judged[str(row["item_id"])] += 1
            n_expected[str(row["item_id"])] += bool(row["chose_good"])
    rendering = render(study.materials.shown_to_people, own_code=False)
    return [
        _make_judged_item(row, rendering, n_expected, n_judged)
        for row in package.rows(_items_table(package))
        if n_judged[str(row["item_id"])]
    ]


def _make_judged_item(
    row: Row, rendering: Callable[[str], str], n_expected: Counter[str], n_judged: Counter[str]
) -> JudgedItem:
    item_id, context = str(row["item_id"]), str(row["context"])
    distractor = row["contrast"] == Variant.DISTRACTOR
    options = [str(row["good"]), str(row["distractor" if distractor else "bad"])]
    if context:
        # The option continues the rendered sentence after the context.
        shown_context = remove_added_stop(context, rendering)
        full_texts = [rendering(f"{context} {option}") for option in options]
        follows = all(text.startswith(f"{shown_context} ") for text in full_texts)
        context = shown_context if follows else ""
        options = [
            text.removeprefix(f"{shown_context} ") if follows else text for text in full_texts
        ]
    else:
        options = [rendering(option) for option in options]
    n = n_judged[item_id]
    return JudgedItem(
        item_id, str(row["construction"]), str(row["condition"]), context, options[0], options[1],
        n, n_expected[item_id] / n,
    )  # fmt: skip
