"""Reading of items from a file in any format, with notes on what was read and derived."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from experiment.errors import MaterialsError
from experiment.materials.formats.columns import (
    PRACTICE_WORDS,
    Header,
    find_columns,
    headers_read,
    kinds_from_conditions,
    unknown_kinds,
)
from experiment.materials.formats.crossing import (
    CONDITION,
    cross_factors,
    join_lists,
    list_column,
    named_factors,
)
from experiment.materials.formats.format import ReadOptions, format_of
from experiment.materials.formats.items import make_items
from experiment.materials.formats.options import (
    cross_contexts,
    options_against,
    order_options,
)
from experiment.materials.formats.pairs import (
    Draft,
    collapse_spaces,
    holds_sentences_alone,
    read_pairs,
    read_sentences,
)
from experiment.materials.formats.questions import (
    QUESTION,
    read_question_columns,
    share_of_questions,
    texts_of,
)
from experiment.materials.formats.raw import RawTable, read_raw
from experiment.materials.formats.regions import (
    join_region_columns,
    join_word_rows,
    read_slashes,
    split_barred_regions,
)
from experiment.materials.formats.words import NAMES, key_of
from experiment.materials.read import read_items
from experiment.records import Item
from experiment.tables.schemas import ITEMS

_SHOWN = 3
_MOST = 0.5
_MEDIA = re.compile(r"\.(?:wav|mp3|m4a|ogg|flac|mp4|webm|png|jpe?g|gif|svg)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FileContents:
    """The contents of a researcher's file of materials.

    Attributes:
        items: The file's items.
        format: A description of the file's format.
        notes: What was decided, derived or left out, as sentences.
        rendering: The rendering for models with their own tokeniser, if the format specifies one.
        against: The columns of the other options, if there are two or more.
        practice: The practice rows, which are shown before the session and are not items.
        places: Each item's location in the file, by its id.
        headers: The Parallax columns with a different header in the file, with that header; a list
            of headers if several make up the column.
        response: The type of response that the file's own program asks for, if it says so.
    """

    items: tuple[Item, ...]
    format: str
    notes: tuple[str, ...]
    rendering: str = ""
    against: tuple[str, ...] = ()
    practice: tuple[Draft, ...] = ()
    places: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, Header] = field(default_factory=dict)
    response: str = ""


def read_materials(
    path: Path,
    named_headers: Mapping[str, str] | None = None,
    *,
    identical: bool = False,
    alone: bool = False,
    regions: bool | None = False,
    language: str = "",
    as_written: bool = False,
    columns: Sequence[str] = (),
    sheet: str = "",
) -> FileContents:
    """Read the items of a file in any of the formats.

    Args:
        path: A table (.csv, .tsv, .tab, .txt, .xlsx, .rds, .jsonl), or a file of a published
            format.
        named_headers: Parallax column to the file's header, for headers that are not recognised;
            ``condition`` to several headers joined by plus signs, if they make up the condition.
        identical: Whether a pair's two sentences may be identical.
        alone: Whether a row may be a single sentence without a counterpart, to be rated.
        regions: Whether bars in a sentence, or columns such as region_1, mark regions; with None,
            they do if every sentence has some.
        language: The items' language (BCP 47), for the encoding of files without Unicode.
        as_written: Whether to keep double spaces, tabs and new lines inside texts, as a model reads
            them. A study's page shows single spaces, and a note says what that changes.
        columns: The columns' names, if the table has no headers.
        sheet: The sheet of a workbook, if it is not the first; the data frame of an R file.

    Raises:
        MaterialsError: The file cannot be read, or does not define pairs.
    """
    if not (columns or sheet) and (published := format_of(path)):
        read = published.read(path, ReadOptions(language, identical))
        drafts = _fill_columns(read.drafts)
        drafts, changed = (drafts, []) if as_written else collapse_spaces(drafts)
        materials = _gather(drafts, path, published.name, [*read.notes, *changed])
        return replace(materials, rendering=read.rendering, response=read.response)
    table = read_raw(path, language, columns, sheet)
    if not named_headers and _is_items_table(table):
        return FileContents(tuple(read_items(path)), "a table of items", table.notes)
    table = read_question_columns(table, named_headers or {})
    written_columns = table.columns
    if regions is not False:
        table = join_word_rows(join_region_columns(table))
    table = join_lists(order_options(cross_contexts(table)))
    materials = _make_drafts_from_table(
        table,
        named_headers or {},
        identical=identical,
        alone=alone,
        regions=regions,
        as_written=as_written,
    )
    # Columns of options, or of regions, were converted to the sentence columns.
    if made_of := [name for name in written_columns if name not in table.columns]:
        text_column = next(name for name in ("good", "sentence") if name in table.columns)
        return replace(materials, headers={**materials.headers, text_column: made_of})
    return materials


def _is_items_table(table: RawTable) -> bool:
    return set(ITEMS.column_names) <= set(table.columns) and table.path.suffix != ".xlsx"


def _fill_columns(drafts: Sequence[Draft]) -> list[Draft]:
    """Return the drafts with the same own columns, empty where a draft has none."""
    empty = dict.fromkeys((name for draft in drafts for name in draft.extra), "")
    return [replace(draft, extra={**empty, **draft.extra}) for draft in drafts]


def _make_drafts_from_table(
    table: RawTable,
    named_headers: Mapping[str, str],
    *,
    identical: bool,
    alone: bool,
    regions: bool | None,
    as_written: bool,
) -> FileContents:
    factors = named_factors(table, named_headers)
    unused = {CONDITION} if factors else set()
    column_headers = {name: named_headers[name] for name in named_headers if name not in unused}
    columns = find_columns(table, column_headers)
    table, columns, kinds_read = kinds_from_conditions(table, columns, list_column(table.columns))
    crossed: tuple[str, ...] = ()
    written_columns = table.columns
    # A table without sentences is refused unchanged.
    if {"good", "bad"} <= columns.keys() or "sentence" in columns:
        table, columns, factors, crossed = cross_factors(table, columns, factors)
    # A column that is named as the version says that each sentence has a counterpart.
    named_pairs = "version" in named_headers and "item" not in columns
    if alone and not named_pairs and holds_sentences_alone(table, columns):
        drafts, format_ = read_sentences(table, columns), "a table of sentences"
        # The column does not distinguish versions here, and stays one of the researcher's own.
        columns.pop("version", None)
    else:
        drafts = read_pairs(table, columns, identical=identical)
        format_ = _describe_table(table, columns)
    drafts, changed = (drafts, []) if as_written else collapse_spaces(drafts)
    divided: list[str] = []
    if regions is not False:
        drafts, slashes = read_slashes(drafts)
        drafts, bars = split_barred_regions(drafts, everywhere=regions is None)
        divided = [*slashes, *bars]
    headers: dict[str, Header] = {
        name: header for name, header in headers_read(columns).items() if header in written_columns
    }
    read_as = [f"{column} from {header}" for column, header in headers.items() if column != header]
    notes = [
        *table.notes,
        *([f"Read as: {', '.join(read_as)}."] if read_as else []),
        *crossed,
        *changed,
        *divided,
        *kinds_read,
        *_note_unused_kinds(table, columns),
        *_note_questions(table, columns),
        *_note_media(table, columns),
        *_note_beginnings(table, columns, drafts),
    ]
    materials = _gather(drafts, table.path, format_, notes)
    against = options_against(table, columns)
    against = against if len(against) > 1 else ()
    if crossed:
        headers[CONDITION] = [*factors]
    return replace(materials, against=against, headers=headers)


def _note_unused_kinds(table: RawTable, columns: Mapping[str, str]) -> Iterable[str]:
    """Report that a possible column of kinds was not used, because of its values."""
    for name in table.columns:
        if "kind" not in columns and key_of(name) in NAMES["kind"]:
            strange = ", ".join(f'"{word}"' for word in unknown_kinds(table, name)[:_SHOWN])
            yield (
                f'The column "{name}" is not read as kinds of items, because it holds '
                f"{strange}: all items are targets. "
                "The kinds are target, filler, catch and practice."
            )


def _note_questions(table: RawTable, columns: Mapping[str, str]) -> Iterable[str]:
    """Report an unread column that holds questions."""
    for name in () if QUESTION in table.columns else table.columns:
        if name not in columns.values() and share_of_questions(table, name) > _MOST:
            example = texts_of(table, name)[0][:60]
            yield (
                f'The column "{name}" looks like questions ("{example}") and is not read: '
                "participants are not asked them. To ask them after each sentence, call the column "
                "question, and those of the answers answers and answer."
            )


def _note_media(table: RawTable, columns: Mapping[str, str]) -> Iterable[str]:
    """Report a column that names recordings or pictures: participants see the text alone."""
    for name in table.columns:
        cells = texts_of(table, name)
        if name not in columns.values() and cells and all(map(_MEDIA.search, cells)):
            yield (
                f'The column "{name}" names recordings or pictures ("{cells[0][:60]}") and is not '
                "read: participants see the text alone."
            )


def _note_beginnings(
    table: RawTable, columns: Mapping[str, str], drafts: Sequence[Draft]
) -> Iterable[str]:
    """Report an unused column of longer texts: they may be contexts that the options continue."""
    longest = max(
        (len(text.split()) for draft in drafts for text in (draft.good, draft.bad)), default=0
    )
    for name in table.columns if "bad" in columns and "context" not in columns else ():
        cells = [row.values[name] for row in table.rows]
        if name not in columns.values() and all(len(text.split()) > longest for text in cells):
            yield (
                f'The column "{name}" is not read, and its texts are longer than the options '
                f'("{cells[0][:60]}"): if the options continue it, add --column context={name}.'
            )


def _gather(drafts: list[Draft], path: Path, format_: str, notes: Iterable[str]) -> FileContents:
    practice = tuple(draft for draft in drafts if draft.kind.lower() in PRACTICE_WORDS)
    kept = [draft for draft in drafts if draft.kind.lower() not in PRACTICE_WORDS]
    if not kept:
        raise MaterialsError(
            "every row is practice",
            where=str(path),
            expected="at least one row that is not practice",
        )
    items, derived = make_items(kept, path)
    places = {item.item_id: draft.place for item, draft in zip(items, kept, strict=True)}
    return FileContents(tuple(items), format_, (*notes, *derived), practice=practice, places=places)


def _describe_table(table: RawTable, columns: Mapping[str, str]) -> str:
    if columns.get("good") == "sentence_good":
        return "BLiMP's JSON lines" if table.path.suffix == ".jsonl" else "BLiMP's columns"
    if columns.get("good") == "sen":
        return "MultiBLiMP's columns"
    if "sentence" in columns and "good" not in columns:
        return "a table with one sentence in each row"
    return "a table of pairs"
