"""A mapping guessed from a table's columns and values, to be checked before it is used."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from analysis.readers.choices import comparable, options_of
from analysis.readers.mapping import Meaning
from analysis.readers.sources import Source
from experiment.records import Item, Variant

# Names under which programs and researchers write what we need, the likelier first, made plain.
_PARTICIPANT = (
    "participant", "participantid", "prolificpid", "participantcode", "workerid",
    "participantprivateid", "responseid", "uniqueid", "subject", "subjectid", "subj", "studyresult",
    "md5hashofparticipantsipaddress", "md5hashthathopefullyuniquelyidentifiesparticipant", "runid",
    "sessionid", "result",
)  # fmt: skip
_RT = (
    "rtms", "rt", "reactiontime", "responsetime", "playerrt", "playerrtms", "playerresponsetime",
    "playerreactiontime", "latency", "timetakentoanswer", "hitrt", "decisiontime",
)  # fmt: skip
_GOOD_SIDE = (
    "goodside", "correctside", "correctresponse", "correctkey", "correctanswer", "answerkey",
    "targetside", "goodposition", "correctposition", "expected", "playergoodside",
)  # fmt: skip
_FIRST = ("optionfirst", "firstoption", "first", "left", "leftoption", "lefttext", "optionleft")
_CHOSEN = (
    "chosen", "choice", "answer", "response", "value", "selection", "selected", "buttonpressed",
    "keypress", "key",
)  # fmt: skip
_CHOSEN_WORDS = ("chosen", "choice", "answer", "response", "select")
_CORRECT = (
    "correct", "iscorrect", "accuracy", "acc", "hit", "right",
    "whetherornotanswerwascorrectnullifna",
)  # fmt: skip
# What tells the rows of choices from the others that a program records.
_KINDS = (
    "PennElementType", "PennElementName", "Controller name", "trial_type", "phase", "Zone Type",
    "Response Type", "Screen Name", "Zone Name", "Object Name",
)  # fmt: skip
_NOBODY = {"participant._is_bot": "1", "AssignmentStatus": "Rejected"}
_SIDES = {
    side: place
    for first, second in (("first", "second"), ("left", "right"), ("top", "bottom"), ("up", "down"))
    for side, place in ((first, "first"), (second, "second"))
}
_TRUTH = {"true", "false", "1", "0", "yes", "no", "1.0", "0.0"}
_VERSIONS = {one.value for one in Variant}
_LIKELY, _SECONDS_BELOW, _TWO = 0.9, 60.0, 2
Options = Mapping[str, Mapping[str, str]]
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Guess:
    """A mapping, and what could not be found.

    Attributes:
        mapping: What the columns probably mean.
        lacking: What no column was found for, in words; nothing can be read without it.
    """

    mapping: Meaning
    lacking: tuple[str, ...]


def guess_mapping(source: Source, items: Sequence[Item]) -> Guess:
    """Return what a table's columns probably mean.

    The item's column is the one that holds items' ids. The choice is a column with the items' own
    texts, with versions, or with sides where another column tells the expected side; else whether
    the choice was correct.

    Args:
        source: The table.
        items: The items; without them only columns that bear usual names are found.
    """
    known = {item.item_id: options_of(item) for item in items}
    table = source.table
    by_item = _columns_of_items(table, known)
    if by_item:
        return _with_participant(table, _named_after_items(table, by_item, known))
    patterns = _numbered_columns(table, known)
    rows = _stacked(table, patterns) if patterns else table
    item = _item_column(rows, known)
    if item is None:
        return Guess(Meaning(), ("a column that holds the items' ids",))
    keep, choice = _choice_among(rows, item, known)
    columns = {"item": item} | choice.columns | _plain(rows, {"rt_ms": _RT})
    mapping = Meaning(
        columns={ours: patterns.get(theirs, theirs) for ours, theirs in columns.items()},
        values=choice.values,
        wide=bool(patterns),
        skip_blank=["item", *list(choice.columns)[:1]],
        rt_unit=_unit(rows, columns.get("rt_ms", "")),
        keep_trials=keep,
        drop_trials={} if patterns else _unanswered(rows, choice),
        drop=_left_out(table),
    )
    return _with_participant(table, mapping)


def _unanswered(rows: pd.DataFrame, choice: "_Choice") -> dict[str, str | list[str]]:
    """Return what marks trials without an answer where they are told as wrong ones."""
    if "correct" not in choice.columns:
        return {}
    told = rows[rows[choice.columns["correct"]] != ""]
    blank = {one: float((told[one] == "").mean()) for one in _by_name(rows, _CHOSEN)}
    # With several such columns, each may belong to trials of another kind.
    return {one: "" for one, share in blank.items() if len(blank) == 1 and 0 < share < 1 / 2}


def _left_out(table: pd.DataFrame) -> dict[str, str | list[str]]:
    """Return what marks rows that no participant made, if a table has such rows."""
    return {
        column: value
        for column, value in _NOBODY.items()
        if column in table and (table[column] == value).any()
    }


def _with_participant(table: pd.DataFrame, mapping: Meaning) -> Guess:
    columns = dict(mapping.columns)
    lacking = () if {"chosen", "correct"} & set(columns) else ("a column that holds the choice",)
    columns |= _plain(table, {"participant": _PARTICIPANT})
    skip = [*mapping.skip_blank]
    person = columns.get("participant")
    if person and (table[person] == "").any():
        skip.append("participant")
    own = {ours: theirs for ours, theirs in columns.items() if ours != theirs or mapping.wide}
    return Guess(mapping.model_copy(update={"columns": own, "skip_blank": skip}), lacking)


def _simple(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _shortened(name: str) -> str:
    """Return a column's name without the model or form that it belongs to, made plain."""
    return _simple(re.sub(r"^((player|Answer|Input|response)\.|Spreadsheet: )", "", name))


def _by_name(table: pd.DataFrame, names: Sequence[str]) -> Iterator[str]:
    """Yield the columns that bear one of the names, the likelier first, unless they are empty."""
    for name in names:
        for column in table.columns:
            if name in (_simple(column), _shortened(column)) and (table[column] != "").any():
                yield column


def _plain(table: pd.DataFrame, wanted: Mapping[str, Sequence[str]]) -> dict[str, str]:
    found = {ours: next(_by_name(table, names), None) for ours, names in wanted.items()}
    return {ours: theirs for ours, theirs in found.items() if theirs is not None}


def _share(values: "pd.Series[str]", among: object) -> float:
    filled = values[values != ""]
    return float(filled.isin(list(among)).mean()) if len(filled) else 0.0  # type: ignore[call-overload]


def _item_column(table: pd.DataFrame, known: Mapping[str, object]) -> str | None:
    if not known:
        return next(_by_name(table, ("item", "itemid", "sentenceid", "stimulusid")), None)
    # Instructions and pauses hold other words where trials hold items.
    hits = {name: int(table[name].isin(list(known)).sum()) for name in table.columns}
    best = max(hits, key=lambda name: hits[name], default=None)
    return best if best is not None and hits[best] else None


def _choice_among(
    rows: pd.DataFrame, item: str, known: Options
) -> tuple[dict[str, str | list[str]], "_Choice"]:
    """Return the choice, and by which column and value its rows differ from the others.

    Programs record more than choices: starts of trials, screens, keys pressed to go on. A column
    that always holds the expected version may say what was right, in rows of any kind: it counts
    only where nothing else does.
    """
    person = next(_by_name(rows, _PARTICIPANT), None)
    parts: list[tuple[dict[str, str | list[str]], pd.DataFrame]] = [({}, rows)]
    for column in _KINDS:
        if column in rows:
            parts += [
                ({column: str(value)}, rows[rows[column] == value])
                for value in rows[column].unique()
            ]
    found = []
    for keep, part in parts:
        judged = part[part[item].isin(list(known))]
        choice = _choice(judged, item, known)
        if not choice.columns:
            continue
        answered = judged[judged[next(iter(choice.columns.values()))] != ""]
        once = person is None or not answered[[person, item]].duplicated().any()
        found.append((once, choice.sure, keep, choice))
        if once and choice.sure:
            break
    best = max(found, key=lambda one: one[:2], default=None)
    return best[2:] if best else ({}, _Choice({}, {}))


@dataclass(frozen=True, slots=True)
class _Choice:
    """The columns that say what was chosen, and what their values mean.

    ``sure`` is False where they always say the same version.
    """

    columns: dict[str, str]
    values: dict[str, dict[str, str]]
    sure: bool = True


def _choice(rows: pd.DataFrame, item: str, known: Options) -> _Choice:
    """Return the columns that say what was chosen: the surest of those that do."""
    named = [one for one in _by_name(rows, _CHOSEN) if one != item]
    similar = [
        one
        for one in rows.columns
        if one not in (*named, item) and any(word in _simple(one) for word in _CHOSEN_WORDS)
    ]
    told = {column: _versions(rows, column, item, known) for column in [*named, *similar]}
    for column, versions in told.items():
        if len(versions) > 1:
            return _Choice({"chosen": column}, {})
    for column in named:
        if sided := _side(rows, column, item, known):
            return sided
    for column in _by_name(rows, _CORRECT):
        if set(rows[column].str.lower()) - {""} <= _TRUTH:
            return _Choice({"correct": column}, {})
    one = next((column for column in named if told[column]), None)
    return _Choice({"chosen": one}, {}, sure=False) if one else _Choice({}, {})


def _side(rows: pd.DataFrame, column: str, item: str, known: Options) -> _Choice | None:
    """Return the choice of a side, where another column tells what stood there."""
    values = set(rows[column].map(comparable)) - {""}
    for side in _by_name(rows, _GOOD_SIDE):
        sides = set(rows[side].map(comparable)) - {""}
        if values & sides and len(values | sides) <= _TWO:
            return _Choice({"chosen": column, "good_side": side}, {})
    shown = [one for one in _by_name(rows, _FIRST) if len(_versions(rows, one, item, known)) > 1]
    if shown and values and values <= set(_SIDES):
        written = sorted(set(rows[column]) - {""})
        means = {value: _SIDES[comparable(value)] for value in written}
        return _Choice({"chosen": column, "option_first": shown[0]}, {"chosen": means})
    return None


def _versions(rows: pd.DataFrame, column: str, item: str, known: Options) -> set[str]:
    """Return which versions a column holds, by name or by text; none where it holds others."""
    filled = rows[(rows[column] != "") & rows[item].isin(list(known))]
    versions = [
        text if text in _VERSIONS else known[one].get(comparable(text))
        for one, text in zip(filled[item], filled[column], strict=True)
    ]
    recognised = [version for version in versions if version is not None]
    likely = bool(versions) and len(recognised) / len(versions) > _LIKELY
    return set(recognised) if likely else set()


def _numbered_columns(table: pd.DataFrame, known: Options) -> dict[str, str]:
    """Return, of a table with numbered columns that hold items, their names and patterns.

    A name is the pattern without its number: ``Answer.choice`` for ``Answer.choice{n}``.
    """
    patterns = {
        f"{before}{after}": f"{before}{{n}}{after}"
        for column in table.columns
        for before, after in _around_one(column)
        if f"{before}2{after}" in table.columns
    }
    first = [pattern.replace("{n}", "1") for pattern in patterns.values()]
    return patterns if any(_share(table[one], known) > _LIKELY for one in first) else {}


def _around_one(column: str) -> Iterator[tuple[str, str]]:
    """Yield what stands before and after each number 1 in a column's name."""
    for number in _NUMBER.finditer(column):
        if number[0] == "1":
            yield column[: number.start()], column[number.end() :]


def _stacked(table: pd.DataFrame, patterns: Mapping[str, str]) -> pd.DataFrame:
    """Return all trials below each other, under the names of the patterns."""
    blocks, number = [], 1
    while set(named := [p.replace("{n}", str(number)) for p in patterns.values()]) <= set(table):
        blocks.append(table[named].set_axis(list(patterns), axis=1))
        number += 1
    return pd.concat(blocks, ignore_index=True)


def _columns_of_items(table: pd.DataFrame, known: Mapping[str, object]) -> dict[str, list[str]]:
    """Return patterns such as ``Q_{item}``, each with the items that have such a column."""
    found: dict[str, list[str]] = {}
    for column in table.columns:
        for item in known:
            if item in column:
                found.setdefault(column.replace(item, "{item}"), []).append(item)
    most = max(map(len, found.values()), default=0)
    return {pattern: of for pattern, of in found.items() if len(of) == most > 1}


def _named_after_items(
    table: pd.DataFrame, patterns: Mapping[str, list[str]], known: Options
) -> Meaning:
    columns: dict[str, str] = {}
    unit = "ms"
    for pattern, of in patterns.items():
        cells = [
            (item, text) for item in of for text in table[pattern.replace("{item}", item)] if text
        ]
        if not cells:
            continue
        texts = sum(comparable(text) in known[item] or text in _VERSIONS for item, text in cells)
        if texts / len(cells) > _LIKELY:
            columns["chosen"] = pattern
        elif "submit" in pattern.lower() or _simple(pattern.replace("{item}", "")) in _RT:
            # Qualtrics measures pages in seconds.
            columns["rt_ms"], unit = pattern, "s" if "submit" in pattern.lower() else "ms"
    return Meaning.model_validate({"columns": columns, "wide": True, "rt_unit": unit})


def _unit(rows: pd.DataFrame, column: str) -> Literal["ms", "s"]:
    """Return "s" where reaction times are decimals below a minute, else "ms"."""
    if not column:
        return "ms"
    numbers = pd.to_numeric(rows[column], errors="coerce").dropna()
    return "s" if len(numbers) and float(numbers.median()) < _SECONDS_BELOW else "ms"
