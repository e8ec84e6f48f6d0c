"""Pairs from any table: two sentences per row, or two rows with one sentence each."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise

from experiment.errors import MaterialsError
from experiment.materials.formats.raw import RawRow, RawTable
from experiment.materials.formats.words import BAD_WORDS, GOOD_WORDS, MISSING_MARKS, MISSING_SIGNS
from experiment.materials.render import note_on_changes

# What begins a word that says the opposite of the rest.
_NEGATIONS = ("un", "in", "im", "il", "ir", "non", "not", "dis", "*")
_SHOWN = 5
# The column that names the task of each row, where a session has several.
_TASK_COLUMN = "task"
_MOST_ROWS = 0.9
# In fewer pairs, better fits may be chance.
_FEWEST_SHIFTED = 4
# With so many words, what stands as a header is a sentence.
_SENTENCE_WORDS = 4
# The fields of a draft that are shown and scored.
TEXTS = ("context", "good", "bad", "distractor")
# Texts that say that a text is missing. "na" is a word of several languages.
_LONGEST_WORD = 8
_MISSING_WORDS = {*MISSING_MARKS, *map(str.upper, MISSING_MARKS), "NaN", *MISSING_SIGNS} - {"na"}


@dataclass(frozen=True, slots=True)
class Draft:
    """One pair as in its file; missing values are empty.

    Attributes:
        place: The pair's location in the file.
        good: The expected option.
        bad: The other option; empty for a single sentence.
        context: The text before both options.
        distractor: A third version.
        item: The identifier that the item's conditions share, e.g. its number.
        item_id: The pair's unique name.
        condition: Its condition.
        construction: Its construction.
        kind: The kind of item, in the file's words.
        extra: The other columns.
    """

    place: str
    good: str
    bad: str = ""
    context: str = ""
    distractor: str = ""
    item: str = ""
    item_id: str = ""
    condition: str = ""
    construction: str = ""
    kind: str = ""
    extra: Mapping[str, str] = field(default_factory=dict)


def read_pairs(
    table: RawTable, headers: Mapping[str, str], *, identical: bool = False
) -> list[Draft]:
    """Return a table's pairs.

    Args:
        table: The table.
        headers: The table's header for each Parallax column.
        identical: Whether the two sentences of a pair may be identical, as in some published sets
            (participants cannot choose between them, but a model's tie can be counted).

    Raises:
        MaterialsError: No two columns hold the sentences of a pair, or some are empty.
    """
    # In a table of several tasks, some ask about pairs and others about single sentences.
    has_tasks = _TASK_COLUMN in table.columns
    if {"good", "bad"} <= headers.keys():
        drafts = [_make_draft(row, headers) for row in table.rows]
        if has_tasks and "sentence" in headers:
            drafts = [
                replace(draft, good=draft.good or row.values[headers["sentence"]])
                for draft, row in zip(drafts, table.rows, strict=True)
            ]
    elif {"sentence", "version", "item"} <= headers.keys():
        drafts = list(_pair_rows(table, headers))
    else:
        raise _make_no_pairs_error(table, headers)
    _refuse_empty(table, drafts, ("good",) if has_tasks else ("good", "bad"))
    _refuse_missing(table, drafts)
    if not identical:
        _refuse_identical(drafts)
    for version in ("bad", "distractor"):
        _refuse_shifted([draft for draft in drafts if getattr(draft, version)], version)
    return drafts


def holds_sentences_alone(table: RawTable, headers: Mapping[str, str]) -> bool:
    """Return whether each row of a table is a single sentence without a counterpart.

    This includes tables with a version column in which no sentence has a counterpart.
    """
    if "sentence" not in headers or {"good", "bad"} <= headers.keys():
        return False
    if not {"version", "item"} <= headers.keys():
        return True
    shared = _list_shared_columns(headers)
    cells = Counter(tuple(row.values[name] for name in shared) for row in table.rows)
    return max(cells.values(), default=0) == 1


def _list_shared_columns(headers: Mapping[str, str]) -> list[str]:
    """Return the headers of the columns that both sentences of a pair share."""
    names = ("item", "condition", "construction", "kind", "context")
    return [headers[name] for name in names if name in headers]


def read_sentences(table: RawTable, headers: Mapping[str, str]) -> list[Draft]:
    """Return a table's sentences, one per row, as items with a single version.

    Raises:
        MaterialsError: Some sentences are empty.
    """
    other_headers = {
        name: header for name, header in headers.items() if name not in ("good", "sentence")
    }
    sentence_headers = other_headers | {"good": headers["sentence"]}
    drafts = [_make_draft(row, sentence_headers) for row in table.rows]
    _refuse_empty(table, drafts, ("good",))
    _refuse_missing(table, drafts)
    return drafts


def _make_draft(row: RawRow, headers: Mapping[str, str]) -> Draft:
    names = headers.keys() & set(Draft.__slots__)
    texts = {name: row.written.get(headers[name], row.values[headers[name]]) for name in names}
    # Names are compared with each other; sentences are kept as they are written.
    texts |= {name: _use_single_spaces(texts[name]) for name in names - set(TEXTS)}
    used = {headers[name] for name in texts}
    extra = {name: value for name, value in row.values.items() if name not in used}
    return Draft(row.place, extra=extra, **texts)


def collapse_spaces(drafts: list[Draft]) -> tuple[list[Draft], list[str]]:
    """Return drafts as a page shows them, with single spaces, and a note on what this changed."""
    changed: list[tuple[str, str]] = []
    spaced_drafts = []
    for draft in drafts:
        texts = {name: str(getattr(draft, name)) for name in TEXTS}
        spaced = {name: _use_single_spaces(text) for name, text in texts.items()}
        changed += [(texts[name], spaced[name]) for name in TEXTS if texts[name] != spaced[name]]
        shown_draft = replace(
            draft, context=spaced["context"], good=spaced["good"], bad=spaced["bad"]
        )
        spaced_drafts.append(replace(shown_draft, distractor=spaced["distractor"]))
    return spaced_drafts, note_on_changes(changed, "White space is shown as single spaces")


def _use_single_spaces(text: str) -> str:
    """Return a text with single spaces; non-breaking spaces are kept."""
    return " ".join(part for part in text.replace("\n", " ").replace("\t", " ").split(" ") if part)


def _pair_rows(table: RawTable, headers: Mapping[str, str]) -> Iterator[Draft]:
    """Yield a pair for every two rows that differ only in their version."""
    halves: dict[tuple[str, ...], dict[bool, RawRow]] = {}
    shared = _list_shared_columns(headers)
    words = {row.values[headers["version"]].lower() for row in table.rows}
    of_good, of_bad = _find_negated(words) or (GOOD_WORDS, BAD_WORDS)
    for row in table.rows:
        version = row.values[headers["version"]].lower()
        if version not in of_good | of_bad:
            raise MaterialsError(
                f'"{row.values[headers["version"]]}" in the column "{headers["version"]}" does not '
                "say whether the sentence is the good one",
                where=row.place,
                expected="good or bad, grammatical or ungrammatical, 1 or 0, or two words of which "
                "one negates the other",
            )
        pair = halves.setdefault(tuple(row.values[name] for name in shared), {})
        if (version in of_good) in pair:
            raise MaterialsError(
                f"the row is a second {version} sentence with the same {', '.join(shared)}",
                where=row.place,
                expected="one good and one bad sentence for each item and condition",
                remedy="Name the column that tells them apart with --column condition=HEADER",
            )
        pair[version in of_good] = row
    for pair in halves.values():
        yield _join_pair(pair, headers)


def _find_negated(words: Collection[str]) -> tuple[set[str], set[str]] | None:
    """Return two words of which the second negates the first, as in plausible and implausible."""
    if len(words) != 2:
        return None
    plain, negated = sorted(words, key=len)
    is_negated = negated.removesuffix(plain).rstrip("-_ ") in _NEGATIONS
    return ({plain}, {negated}) if plain and is_negated else None


def _join_pair(pair: Mapping[bool, RawRow], headers: Mapping[str, str]) -> Draft:
    if len(pair) < 2:
        (draft,) = pair.values()
        raise MaterialsError(
            f"a sentence has no counterpart: {', '.join(map(repr, draft.values.values()))[:200]}",
            where=draft.place,
            expected="one good and one bad sentence for each item and condition",
        )
    good, bad, sentence = pair[True], pair[False], headers["sentence"]
    values = {n: v for n, v in good.values.items() if n not in (sentence, headers["version"])}
    row = RawRow(
        good.place,
        values | {"good": good.values[sentence], "bad": bad.values[sentence]},
        {
            **good.written,
            **{
                name: half.written[sentence]
                for name, half in (("good", good), ("bad", bad))
                if sentence in half.written
            },
        },
    )
    row_headers = {name: header for name, header in headers.items() if header in values}
    return _make_draft(row, row_headers | {"good": "good", "bad": "bad"})


def _refuse_empty(table: RawTable, drafts: list[Draft], names: Collection[str]) -> None:
    for name in names:
        empty = [draft.place for draft in drafts if not getattr(draft, name).strip()]
        if empty:
            remainder = f" and {len(empty) - _SHOWN} more" if len(empty) > _SHOWN else ""
            places = ", ".join(
                location.removeprefix(f"{table.path}, ") for location in empty[:_SHOWN]
            )
            raise MaterialsError(
                f"the {name} sentence is empty in {places}{remainder}",
                where=str(table.path),
                expected=f"{' and '.join(f'a {name} sentence' for name in names)} for every item",
            )


def _refuse_missing(table: RawTable, drafts: list[Draft]) -> None:
    """Refuse a mark of a missing value in a column whose other texts have several words."""
    # Texts of scripts without spaces are longer than a mark.
    long_columns = [
        name
        for name in TEXTS
        if 2 * sum(_is_longer_than_a_mark(str(getattr(draft, name))) for draft in drafts)
        > len(drafts)
    ]
    # Signs, and marks without capitals, may be options; a word in capitals among others is none.
    in_capitals = {mark for mark in _MISSING_WORDS if mark != mark.lower()}
    marked_columns = {
        name: _MISSING_WORDS if name in long_columns else in_capitals
        for name in TEXTS
        if name in long_columns or _has_small_letters(drafts, name)
    }
    for draft in drafts:
        for name, marks in marked_columns.items():
            if (mark := str(getattr(draft, name)).strip()) in marks:
                raise MaterialsError(
                    f'the {name} text is "{mark}", which says that a value is missing',
                    where=draft.place,
                    expected="a text, or an empty cell where there may be none",
                    remedy=f"Write the text, or leave the row out of {table.path.name}",
                )


def _has_small_letters(drafts: list[Draft], name: str) -> bool:
    """Return whether most texts of a column are words with small letters."""
    return 2 * sum(str(getattr(draft, name)).islower() for draft in drafts) > len(drafts)


def _is_longer_than_a_mark(text: str) -> bool:
    return " " in text.strip() or len(text) > _LONGEST_WORD


def _refuse_identical(drafts: list[Draft]) -> None:
    identical_pair = next(
        (
            draft
            for draft in drafts
            if _use_single_spaces(draft.good) == _use_single_spaces(draft.bad)
        ),
        None,
    )
    if identical_pair:
        raise MaterialsError(
            f'the good and the bad sentence are both "{identical_pair.good}"',
            where=identical_pair.place,
            expected="two sentences that differ",
        )


def _refuse_shifted(drafts: list[Draft], version: str) -> None:
    """Refuse a table in which one column of versions is shifted by a row.

    Then each good sentence shares more words with that of the next row, or of the row
    before, than with its own. At the end of the table one row may have none.
    """
    if len(drafts) < _FEWEST_SHIFTED:
        return
    good, bad = ([_count_words(text) for text in texts] for texts in zip(
        *((draft.good, str(getattr(draft, version))) for draft in drafts), strict=True
    ))  # fmt: skip
    differing_words = [_count_differing(*pair) for pair in zip(good, bad, strict=True)]
    for rows, place in ((1, "next"), (-1, "previous")):
        neighbours = [*bad[rows:], *bad[:rows]]
        shifted = [_count_differing(*pair) for pair in zip(good, neighbours, strict=True)]
        nearer = sum(
            0 < shifted_count < paired_count
            for shifted_count, paired_count in zip(shifted, differing_words, strict=True)
        )
        if nearer >= min(len(drafts) - 1, _MOST_ROWS * len(drafts)):
            raise MaterialsError(
                f"the good and the {version} sentences are shifted by a row: nearly every good "
                f"sentence fits the {version} one of the {place} row better than its own, such as "
                f'"{drafts[1].good}" next to "{getattr(drafts[1], version)}"',
                where=drafts[1].place,
                expected="the two sentences of a pair in one row, or under one item",
                remedy="Shift one of the two columns by a row",
            )


def _count_words(text: str) -> Counter[str]:
    """Count a text's words and pairs of neighbours; characters, in a script without spaces.

    Versions may have the same words in another order.
    """
    words = text.lower().split() if " " in text.strip() else list(text)
    return Counter([*words, *map(" ".join, pairwise(words))])


def _count_differing(first: Counter[str], second: Counter[str]) -> int:
    return ((first - second) + (second - first)).total()


class NoPairsError(MaterialsError):
    """No columns of a table hold the two sentences of a pair."""


def _make_no_pairs_error(table: RawTable, headers: Mapping[str, str]) -> MaterialsError:
    missing = [name for name in ("good", "bad") if name not in headers]
    # A header is a name: not a number, and not a sentence.
    sentence = next((name for name in table.columns if len(name.split()) >= _SENTENCE_WORDS), "")
    if sentence and any(re.fullmatch(r"-?\d+(\.\d+)?", name) for name in table.columns):
        return MaterialsError(
            f'the first line was read as headers, but it looks like a row: "{sentence}"',
            where=str(table.path),
            expected="a first line with the names of the columns",
            remedy="Name the columns, such as --columns item,condition,sentence,question, or write "
            "them in a line above it",
        )
    if {"sentence", "version"} <= headers.keys():
        return NoPairsError(
            f'the column "{headers["version"]}" says which sentence of a pair is the good one, but '
            "no column numbers the pairs",
            where=str(table.path),
            expected="one number for the two sentences of a pair",
            remedy="Name that column with --column item=HEADER",
        )
    return NoPairsError(
        f"no column holds the {' or the '.join(missing)} sentence; "
        f"the columns are {', '.join(table.columns)}",
        where=str(table.path),
        expected='the columns "good" and "bad"; or "sentence", "item" and "version" with a good '
        'and a bad row for each item; or "option_1", "option_2", ... and "answer"',
        remedy="Rename the headers, or name them: --column good=HEADER --column bad=HEADER",
    )
