"""The different answers of an import, and the codes that coders saved from pages that are files."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from experiment.coding.frozen import CodingError
from experiment.coding.normalise import normalise
from experiment.coding.rounds import Codes, Round
from experiment.materials.read import load_items
from experiment.records import Item, Kind, Variant
from experiment.studies.study import Study
from webapp.codes.answers import DistinctAnswer, Key
from webapp.codes.codes import OwnCodes
from webapp.codes.tables import read_columns
from webapp.sessions.session_payload import Screen

JUDGMENTS = "judgments.csv"
SAVED_COLUMNS = ("coder", "task", "round", "answer", "category")
# Also the name of a file, and never a formula in a spreadsheet.
CODER_NAME = re.compile(r"\w[\w .-]{0,59}")
_SEPARATOR = "\x1f"


@dataclass(frozen=True, slots=True)
class SavedCodes:
    """What a coder saved.

    Attributes:
        path: The file.
        coder: The coder's name.
        decides: Whether the coder decided disagreements.
        codes: The categories by round and answer.
    """

    path: Path
    coder: str
    decides: bool
    codes: OwnCodes


def list_imported_answers(study: Study, folder: Path) -> Mapping[Key, DistinctAnswer]:
    """Return the answers to be coded, by item, version and text; not those to catch trials.

    Args:
        study: The study of the items, which declares a coding.
        folder: The folder of the import.

    Raises:
        CodingError: The folder has no typed answers, or an item is not in the study.
    """
    table = read_columns(
        folder / JUDGMENTS,
        ("item", "typed"),
        "typed answers as `parallax import judgments` wrote them",
    )
    items = {item.item_id: item for item in load_items(study)}
    screen, show_text = Screen(study), study.coding is None or study.coding.show_text
    answers: dict[Key, DistinctAnswer] = {}
    for row in table.rows:
        typed, item_id = row.values["typed"], row.values["item"]
        version = row.values.get("version") or Variant.GOOD.value
        if not typed or row.values.get("no_answer", "").lower() == "true":
            continue
        item = items.get(item_id)
        if item is None:
            raise CodingError(
                f'the answer "{typed[:60]}" belongs to the item {item_id}, which the study lacks',
                where=row.place,
                expected=f"items of {study.folder}, with which the answers were imported",
            )
        if item.kind == Kind.CATCH:
            continue
        answer = normalise(typed)
        key = (item_id, version, answer) if show_text else ("", "", answer)
        if key not in answers:
            answers[key] = _make_answer(screen, item, version, key)
        answers[key].typed[typed] += 1
    return answers


def _make_answer(screen: Screen, item: Item, version: str, key: Key) -> DistinctAnswer:
    digest = hashlib.sha256(_SEPARATOR.join(key).encode("utf-8", "replace")).hexdigest()
    return DistinctAnswer(key, (digest,), screen.trial(1, item, None, version))


def read_saved_codes(path: Path, categories: tuple[str, ...]) -> SavedCodes:
    """Read the file that a coder saved.

    Raises:
        CodingError: It lacks a column, has another category or round, or an answer twice.
    """
    table = read_columns(path, SAVED_COLUMNS, "the table that the page saved")
    codes: dict[tuple[int, str], str] = {}
    rounds = {str(int(each)) for each in Round}
    for row in table.rows:
        category, round_ = row.values["category"], row.values["round"]
        if category not in categories or round_ not in rounds:
            raise CodingError(
                f'"{category}" is no category of the study'
                if round_ in rounds
                else f'"{round_}" is not a round',
                where=row.place,
                expected=f"one of: {', '.join(categories)}; and a round as the page saved it",
                remedy="If categories were renamed after the page was written, give them their "
                "earlier names, or let the coders code on new pages",
            )
        key = int(round_), row.values["answer"]
        if key in codes:
            raise CodingError(
                "the answer of this line has a code on an earlier line",
                where=row.place,
                expected="each answer once",
            )
        codes[key] = category
    coders = {(row.values["coder"], row.values["task"]) for row in table.rows}
    if len(coders) != 1:
        raise CodingError(
            f"the codes are of {len(coders)} coders",
            where=str(path),
            expected="the codes of one coder and task",
        )
    [(coder, task)] = coders
    return SavedCodes(path, coder, task == "decide", codes)


def make_code_rows(
    answers: Mapping[Key, DistinctAnswer], codes: Mapping[str, Codes]
) -> list[dict[str, str]]:
    """Return the rows of a frozen version."""
    return [
        {"item_id": item_id, "version": version, "typed": typed, **codes[answer.digest].columns}
        for (item_id, version, typed), answer in answers.items()
    ]
