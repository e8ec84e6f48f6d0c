"""Three or more options per row: numbered columns, or further columns next to good and bad."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from experiment.errors import MaterialsError
from experiment.materials.formats.raw import RawRow, RawTable
from experiment.materials.formats.words import key_of
from experiment.records import SIDES

_NUMBERED_HEADER = re.compile(r"(?:option|choice|alternative|response)_?([1-9]|[a-i])")
_ANSWERS = ("answer", "correct_answer", "correct_option", "correct", "key", "expected", "good")
_MARKED_HEADER = re.compile(r"(.+?)_?([1-9]|[a-i])")
_ANSWER_WORDS = {"answer", "correct", "gold", "key", "label", "target"}
# In a table with good and bad, columns with such names hold further options.
_FURTHER_HEADER = re.compile(
    r"(?:bad|wrong|incorrect|distractor|foil|lure|competitor|alternative|option|ungrammatical|"
    r"unacceptable|unexpected)_?(?:[1-9]|[a-i])"
)
_LETTER_OF_NUMBER = str.maketrans("abcdefghi123456789", "123456789abcdefghi")
_GOOD, _OTHERS = "good", ("bad", "distractor")


def cross_contexts(table: RawTable) -> RawTable:
    """Return a table of two contexts and two targets, as EWoK has, with a row for each context.

    The first target continues the first context, and the second target the second one: each row
    is a context with its own target as the good option and the other one as the bad option. The
    two rows of an item have one number, and the context is their condition. Any other table is
    returned unchanged.
    """
    by_key = {key_of(name).replace("_", ""): name for name in reversed(table.columns)}
    crossed = [
        by_key.get(f"{name}{number}", "") for name in ("context", "target") for number in "12"
    ]
    if not all(crossed) or {_GOOD, "bad"} & by_key.keys():
        return table
    contexts, targets = crossed[:2], crossed[2:]
    item = next((by_key[name] for name in ("item", "itemid", "id") if name in by_key), "item")
    rows = []
    for number, row in enumerate(table.rows, start=1):
        kept = {name: text for name, text in row.values.items() if name not in crossed}
        for place, (context, good, bad) in enumerate(
            zip(contexts, targets, reversed(targets), strict=True), start=1
        ):
            texts = {"context": context, _GOOD: good, "bad": bad}
            values = {ours: row.values[name] for ours, name in texts.items()}
            written = {ours: row.written[n] for ours, n in texts.items() if n in row.written}
            own = {item: kept.get(item, str(number)), "condition": f"context_{place}"}
            rows.append(replace(row, values={**kept, **values, **own}, written=written))
    note = (
        "Each item is shown after either of its two contexts, where the target of that context is "
        "the good option and the other target the bad one."
    )
    return replace(
        table, columns=tuple(rows[0].values), rows=tuple(rows), notes=(*table.notes, note)
    )


def is_option_header(name: str) -> bool:
    """Return whether a header is that of one of several options."""
    key = key_of(name)
    return bool(_NUMBERED_HEADER.fullmatch(key) or _FURTHER_HEADER.fullmatch(key))


def order_options(table: RawTable) -> RawTable:
    """Return a table whose numbered options are renamed to good, bad, distractor, and so on.

    In a table ``option_1, option_2, option_3, answer``, the column ``answer`` identifies the good
    option by its number or letter, or by its text. Any other table is returned unchanged.

    Raises:
        MaterialsError: An answer is none of its row's options.
    """
    options = {
        match.group(1): name
        for name in table.columns
        if (match := _NUMBERED_HEADER.fullmatch(key_of(name)))
    }
    by_key = {key_of(name): name for name in reversed(table.columns)}
    answer = next((by_key[name] for name in _ANSWERS if name in by_key), "")
    if not options:
        options, answer = _options_of_marks(table)
    if len(options) < len(_OTHERS) or not answer or "bad" in by_key:
        return table
    distractors = [_name_option(number) for number in range(1, len(options))]
    other_columns = [name for name in table.columns if name not in (*options.values(), answer)]
    rows = tuple(_make_row(row, options, answer, distractors, other_columns) for row in table.rows)
    note = f'The good option is the one that the column "{answer}" names.'
    return RawTable(table.path, (_GOOD, *distractors, *other_columns), rows, (*table.notes, note))


def _options_of_marks(table: RawTable) -> tuple[dict[str, str], str]:
    """Return marked columns of texts and the column that names one's mark in each row, if any.

    The columns may have any name, as sentence_A and sentence_B beside a column of A and B.
    """
    stems: dict[str, dict[str, str]] = {}
    for name in table.columns:
        if match := _MARKED_HEADER.fullmatch(key_of(name)):
            stems.setdefault(match[1], {})[match[2]] = name
    for options in stems.values():
        answers = [
            name
            for name in table.columns
            if {*key_of(name).split("_")} & _ANSWER_WORDS
            and all(row.values[name].lower() in options for row in table.rows)
        ]
        if len(options) > 1 and len(answers) == 1 and answers[0] not in options.values():
            return options, answers[0]
    return {}, ""


def _name_option(number: int) -> str:
    return _OTHERS[number - 1] if number <= len(_OTHERS) else f"distractor_{number - 1}"


def _make_row(
    row: RawRow,
    options: Mapping[str, str],
    answer: str,
    distractors: Sequence[str],
    other_columns: Sequence[str],
) -> RawRow:
    texts = {mark: row.values[name] for mark, name in options.items() if row.values[name]}
    texts_as_written = {
        texts[mark]: row.written[options[mark]] for mark in texts if options[mark] in row.written
    }
    answer_text = row.values[answer]
    by_name = {key_of(options[mark]): mark for mark in texts}
    by_text = {text: mark for mark, text in texts.items()}
    # A text takes precedence over a number: options may themselves be numbers.
    chosen = (
        by_text.get(answer_text)
        or by_name.get(key_of(answer_text))
        or _find_answer(answer_text.lower(), texts)
    )
    if chosen not in texts:
        raise MaterialsError(
            f'the answer "{answer_text}" is not one of the options {", ".join(texts.values())}',
            where=row.place,
            expected=f"the text of one of them, or one of: {', '.join(texts)}",
        )
    wrong = [text for mark, text in texts.items() if mark != chosen]
    option_texts = dict.fromkeys(distractors, "") | dict(zip(distractors, wrong, strict=False))
    item_texts = {_GOOD: texts[chosen]} | option_texts
    return RawRow(
        row.place,
        item_texts | {name: row.values[name] for name in other_columns},
        row.written
        | {
            name: texts_as_written[text]
            for name, text in item_texts.items()
            if text in texts_as_written
        },
    )


def _find_answer(answer_text: str, texts: Mapping[str, str]) -> str:
    """Return the option that an answer names, by a number or a letter as the headers do."""
    if answer_text in texts or len(answer_text) != 1:
        return answer_text
    return answer_text.translate(_LETTER_OF_NUMBER)


def options_against(table: RawTable, headers: Mapping[str, str]) -> tuple[str, ...]:
    """Return the columns of the options other than good: Parallax's first, then the table's own.

    Args:
        table: The table.
        headers: The table's header for each Parallax column.
    """
    columns = [name for name in _OTHERS if name in headers and _has_text(table, headers[name])]
    further_columns = [
        name
        for name in table.columns
        if name not in headers.values()
        and _FURTHER_HEADER.fullmatch(key_of(name))
        and _has_text(table, name)
    ]
    return (*columns, *further_columns)[: len(SIDES) - 1]


def find_further_options(columns: Iterable[str]) -> tuple[str, ...]:
    """Return those of the researcher's own columns whose names say that they hold options."""
    names = [name for name in columns if _FURTHER_HEADER.fullmatch(key_of(name))]
    return tuple(names[: len(SIDES) - 1 - len(_OTHERS)])


def _has_text(table: RawTable, column: str) -> bool:
    return any(row.values[column] for row in table.rows)
