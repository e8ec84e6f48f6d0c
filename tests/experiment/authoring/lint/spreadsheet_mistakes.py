"""Mistakes that people make in spreadsheets, each planted into the same 2 x 2 table.

``MISTAKES`` has for each what a message must say of it.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

_NOUNS = "key door cup book lamp coat ring tree boat stone cake drum"
_HEADER = ["item", "structure", "length", "kind", "good", "bad", "frequency"]
STRUCTURE, LENGTH, KIND, GOOD, BAD, NUMBER = range(1, 7)
Table = list[list[str]]


class Slip(NamedTuple):
    """A mistake: what it does to the table, and what must be said of it (a pattern)."""

    spoil: Callable[[Table], Table]
    says: str


def table() -> Table:
    """Return twelve items in a 2 x 2 of structure and length, with a number each, and fillers."""
    rows = [list(_HEADER)]
    for n, noun in enumerate(_NOUNS.split(), 1):
        for structure, middle in (("pp", "near the walls"), ("rc", "that the boys saw")):
            for length, adverb in (("short", ""), ("long", " very often")):
                start = f"The {noun} {middle}{adverb}"
                rows.append([str(n), structure, length, "target", f"{start} is old.",
                             f"{start} are old.", f"{n / 10 + 1:.1f}"])  # fmt: skip
    rows += [
        [str(100 + n), "", "", "filler", f"My aunt number {n} often sings songs.",
         f"My aunt number {n} often sing songs.", "2.0"]
        for n in range(1, 9)
    ]  # fmt: skip
    return rows


def _cell(row: int, column: int, change: Callable[[str], str]) -> Callable[[Table], Table]:
    return _cells([row], column, change)


def _cells(rows: object, column: int, change: Callable[[str], str]) -> Callable[[Table], Table]:
    def spoil(made: Table) -> Table:
        for row in rows:  # type: ignore[attr-defined]
            made[row][column] = change(made[row][column])
        return made

    return spoil


def _to(text: str) -> Callable[[str], str]:
    return lambda _: text


def _replaced(old: str, new: str) -> Callable[[str], str]:
    return lambda text: text.replace(old, new)


def _quoted(made: Table) -> Table:
    for row in made[1:49]:
        first, last = ("\u201c", "\u201d") if row[STRUCTURE] == "rc" else ('"', '"')
        for column in (GOOD, BAD):
            row[column] = row[column].replace("old", f"{first}old{last}")
    return made


def _with(row: list[str], at: int | None = None) -> Callable[[Table], Table]:
    def spoil(made: Table) -> Table:
        made.insert(len(made) if at is None else at, list(row))
        return made

    return spoil


def _shifted(made: Table) -> Table:
    made[8] = [made[8][0], "", *made[8][1:6]]
    return made


def _without(row: int) -> Callable[[Table], Table]:
    return lambda made: made[:row] + made[row + 1 :]


def _doubled(made: Table) -> Table:
    return [[*row, "good" if n == 0 else row[GOOD].upper()] for n, row in enumerate(made)]


_ALL, _TARGETS, _HALF = range(1, 57), range(1, 49), range(25, 49)
MISTAKES: Mapping[str, Slip] = {
    "a level in capitals once": Slip(_cell(5, STRUCTURE, str.upper), r"line 6\b.*\"PP\""),
    "a level in capitals in half of the items": Slip(
        _cells([n for n in _HALF if (n - 1) % 4 < 2], STRUCTURE, str.upper), r"line 26\b.*\"PP\""
    ),
    "a level with a hyphen and with a low line": Slip(
        lambda made: _cells(_HALF, STRUCTURE, _replaced("-", "_"))(
            _cells(_TARGETS, STRUCTURE, lambda one: f"{one}-1")(made)
        ),
        r"line 26\b.*_1",
    ),
    "two spaces inside a level": Slip(
        lambda made: _cell(5, STRUCTURE, _replaced(" ", "  "))(
            _cells(_TARGETS, STRUCTURE, lambda one: f"{one} phrase")(made)
        ),
        r"line 6\b.*pp  phrase",
    ),
    "a level left out": Slip(_cell(5, LENGTH, _to("")), r"line 6\b.*column \"length\""),
    "ditto marks": Slip(_cells((2, 3, 4), STRUCTURE, _to('"')), r"line 3\b.*\"structure\""),
    "a level filled down with numbers": Slip(
        lambda made: [
            row if n not in range(1, 5) else [row[0], f"pp{n}", *row[2:]]
            for n, row in enumerate(made)
        ],
        r"line 2\b.*\"pp1\"",
    ),
    "a level exchanged in one row": Slip(_cell(2, LENGTH, _to("short")), r"line 3\b.*twice in pp"),
    "an item's number used again": Slip(_cells(range(45, 49), 0, _to("1")), r"line 46\b.*twice"),
    "a question mark behind a number": Slip(_cell(5, 0, _to("2?")), r"line 6\b.*\"2\?\""),
    "one condition of one item missing": Slip(_without(6), r"\"2\" has no row in pp / long"),
    "a row shifted by one": Slip(_shifted, r"line 9\b"),
    "decimal commas in some rows": Slip(
        _cells(range(20, 30), NUMBER, _replaced(".", ",")), r"line 21\b.*column \"frequency\""
    ),
    "a doubt behind a number": Slip(_cell(7, NUMBER, _to("1.2?")), r"line 8\b.*\"1.2\?\""),
    "a formula's error among numbers": Slip(_cell(4, NUMBER, _to("#N/A")), r"line 5\b.*#N/A"),
    "a formula's error in a sentence": Slip(_cell(4, GOOD, _to("#REF!")), r"line 5\b.*#REF"),
    "a formula in place of a sentence": Slip(
        _cell(4, GOOD, _to('=CONCATENATE(A2," is old.")')), r"line 5\b.*CONCATENATE"
    ),
    "curly quotation marks in one condition": Slip(_quoted, r"straight quotation marks"),
    "a row of totals": Slip(_with(["", "", "", "", "Total", "56", ""]), r"line 58\b"),
    "a row of means": Slip(_with(["Mean", "", "", "", "", "", "1.7"]), r"line 58\b"),
    "a title above the header": Slip(_with(["My experiment", *[""] * 6], 0), r"My experiment"),
    "the header again in the middle": Slip(_with(_HEADER, 30), r"line 31\b"),
    "the table lies on its side": Slip(
        lambda made: [list(row) for row in zip(*made, strict=True)], r"line 1\b"
    ),
    "two columns of one name": Slip(_doubled, r"\"good\" occurs 2 times"),
    "no kind at the fillers": Slip(_cells(range(49, 57), KIND, _to("")), r"line 50\b"),
    "a space that does not break": Slip(
        _cell(3, BAD, _replaced(" are", "\u00a0are")), r"stray white space.*rc_short"
    ),
    "a space without width": Slip(_cell(3, BAD, _replaced("are", "\u200bare")), "line 4"),
    "an entity of HTML": Slip(_cell(3, GOOD, _replaced("The", "The&nbsp;")), r"line 4\b"),
    "letters of another encoding": Slip(
        _cell(3, GOOD, _replaced("old", "caf\u00c3\u00a9")), r"line 4\b.*encodings"
    ),
    "a full stop of another script": Slip(_cell(5, GOOD, _replaced(".", "\u3002")), r"line 6\b"),
    "an asterisk before every bad sentence": Slip(
        _cells(_ALL, BAD, lambda text: f"*{text}"), r"line 2\b.*mark"
    ),
}
# What a spreadsheet carries and no mistake is: nothing may be said of it.
HARMLESS: Mapping[str, Callable[[Table], Table]] = {
    "a space behind a level": _cell(6, STRUCTURE, lambda one: f"{one} "),
    "blank rows in the middle": _with([""] * 7, 10),
    "a line's end inside a cell": _cell(3, BAD, _replaced(" are", "\nare")),
    "a number left out": _cell(7, NUMBER, _to("")),
    "a soft hyphen": _cell(3, BAD, _replaced("walls", "wa\u00adlls")),
}
