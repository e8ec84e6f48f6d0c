"""One door to all formats: a file's path in, items out, with what was read and derived."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from experiment.materials.formats.colorless_green import is_colorless_green, read_colorless_green
from experiment.materials.formats.items import make_items
from experiment.materials.formats.lm_eval import is_task, read_task
from experiment.materials.formats.pairs import Draft, read_pairs
from experiment.materials.formats.raw import RawTable, read_raw
from experiment.materials.formats.suite import is_suite
from experiment.materials.formats.syntaxgym import read_suite
from experiment.materials.read import read_items
from experiment.records import Item
from experiment.tables.schemas import ITEMS


@dataclass(frozen=True, slots=True)
class Found:
    """What a file of somebody's materials holds.

    Attributes:
        items: Its items.
        format: What kind of file it is, in words.
        told: What was decided, derived or left out, in sentences.
        rendering: How models that cut running text up are given it, where the format says so.
    """

    items: tuple[Item, ...]
    format: str
    told: tuple[str, ...]
    rendering: str = ""


def read_materials(
    path: Path, named: Mapping[str, str] | None = None, *, identical: bool = False
) -> Found:
    """Return the items of a file in any of the formats.

    Args:
        path: A table (.csv, .tsv, .tab, .txt, .xlsx, .jsonl), a SyntaxGym suite (.json) or a task
            of lm-evaluation-harness (.yaml).
        named: Our column to the file's header, where the header does not say it.
        identical: Whether a pair's two sentences may be the same.

    Raises:
        MaterialsError: The file cannot be read, or does not say what the pairs are.
    """
    if is_suite(path):
        drafts, told = read_suite(path)
        return _found(drafts, path, "a SyntaxGym suite", told)
    if is_task(path):
        drafts, told, rendering = read_task(path)
        found = _found(drafts, path, "a task of lm-evaluation-harness", told)
        return replace(found, rendering=rendering)
    table = read_raw(path)
    if not named and set(ITEMS.column_names) <= set(table.columns) and path.suffix != ".xlsx":
        return Found(tuple(read_items(path)), "a table of items", table.told)
    if is_colorless_green(table.columns):
        return _found(
            read_colorless_green(table), path, "a table of Gulordava et al. (2018)", table.told
        )
    drafts, columns = read_pairs(table, named or {}, identical=identical)
    read_as = [f"{ours} from {header}" for ours, header in columns.items() if ours != header]
    told = [*table.told, *([f"Read as: {', '.join(read_as)}."] if read_as else [])]
    return _found(drafts, path, _name(table, columns), told)


def _found(drafts: list[Draft], path: Path, format_: str, told: Iterable[str]) -> Found:
    items, derived = make_items(drafts, path)
    return Found(tuple(items), format_, (*told, *derived))


def _name(table: RawTable, columns: Mapping[str, str]) -> str:
    if columns.get("good") == "sentence_good":
        return "BLiMP's JSON lines" if table.path.suffix == ".jsonl" else "BLiMP's columns"
    if columns.get("good") == "sen":
        return "MultiBLiMP's columns"
    if "sentence" in columns and "good" not in columns:
        return "a table with one sentence in each row"
    return "a table of pairs"
