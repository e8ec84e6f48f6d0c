"""Questions after sentences: the columns that hold them, their answers and the right ones."""

import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise

from experiment.errors import MaterialsError
from experiment.materials.formats.columns import quote_header
from experiment.materials.formats.raw import RawTable
from experiment.materials.formats.words import NAMES, key_of
from experiment.records import PAIR

QUESTION, ANSWERS, ANSWER = QUESTION_COLUMNS = ("question", "answers", "answer")
_CORRECT = "correct_answer"
_RIGHT, _WRONG = {"correct", "right"}, {"wrong", "incorrect", "false"}
_YES_NO = {"yes", "no", "y", "n"}
# In a column named as the answer; elsewhere they say something about the sentence.
_TRUE_FALSE = {"true": "yes", "false": "no"}
_OPTION = re.compile(r"option_?(\d+)")
_QUESTION_MARKS = ("?", "\uff1f", "\u061f", "\u037e")


def texts_of(table: RawTable, column: str) -> list[str]:
    """Return the texts of a column that are not empty."""
    return [text for row in table.rows if (text := row.values[column])]


def share_of_questions(table: RawTable, column: str) -> float:
    """Return the share of a column's texts that end in a question mark."""
    cells = texts_of(table, column)
    return sum(text.endswith(_QUESTION_MARKS) for text in cells) / max(1, len(cells))


def read_question_columns(table: RawTable, named_headers: Mapping[str, str]) -> RawTable:
    """Return a table whose question columns have the names, in lower case, that trials expect.

    The question is the column of that name, or the only one with nothing but questions, if the
    table has a column of right answers. The right answer may be the number of one of two columns
    of options, as 1 is of "Option1". Numbers are no questions; without a column of questions,
    columns called answer keep their names.

    Raises:
        MaterialsError: Answers have no question, or the right answer is the number of no option.
    """
    by_key = {key_of(name): name for name in table.columns if name not in named_headers.values()}
    has_sentences = bool(by_key.keys() & {*NAMES["sentence"]} or "sentence" in named_headers)
    # Without sentences, options are those of a choice.
    correct = by_key.get(_CORRECT, "") if has_sentences else ""
    if QUESTION not in by_key:
        question = _column_of_questions(table, by_key, bool(correct or ANSWER in by_key))
        if not (question and has_sentences):
            _refuse_answers_alone(table, by_key, correct)
            return table
        by_key[QUESTION] = question
    if all(re.fullmatch(r"[\d.]*", text) for text in texts_of(table, by_key[QUESTION])):
        note = f'The column "{by_key[QUESTION]}" holds numbers, not questions: none are asked.'
        aside = {QUESTION: f"{QUESTION}_number"} if QUESTION in table.columns else {}
        return replace(table.renamed(aside), notes=(*table.notes, note))
    notes = []
    if correct and not {ANSWERS, ANSWER} & by_key.keys():
        if options := _numbered_options(table, by_key, correct):
            table = _answers_of_options(table, options, correct)
            notes.append(f"answers from {' and '.join(options.values())}, answer from {correct}")
        else:
            by_key[ANSWER] = correct
    elif correct and ANSWER not in by_key:
        by_key[ANSWER] = correct
    elif has_sentences and not {ANSWERS, ANSWER} & by_key.keys():
        table, found = _read_answers(table, by_key)
        by_key |= dict.fromkeys((ANSWERS, ANSWER), "") if found else {}
        notes += found
    names = {
        by_key[name]: name
        for name in QUESTION_COLUMNS
        if by_key.get(name) and name not in table.columns
    }
    notes = [*(f"{name} from {header}" for header, name in names.items()), *notes]
    if not notes:
        return table
    return replace(
        table.renamed(names), notes=(*table.notes, f"Questions are read: {', '.join(notes)}.")
    )


def _column_of_questions(table: RawTable, by_key: Mapping[str, str], has_answers: bool) -> str:
    """Return the only column with nothing but questions, if they have answers; empty if none."""
    roles = {name for names in NAMES.values() for name in names}
    asking = [
        header
        for key, header in by_key.items()
        if has_answers and key not in roles and share_of_questions(table, header) == 1
    ]
    return asking[0] if len(asking) == 1 else ""


def _read_answers(table: RawTable, by_key: Mapping[str, str]) -> tuple[RawTable, list[str]]:
    """Return a table with the answers of its questions, and a note; unchanged if none are sure.

    They are two columns that differ in every row, of which one holds the right answer: a third
    column repeats it, or the headers say so. Otherwise one column holds yes and no.
    """
    question = by_key[QUESTION]
    asked = [row.values for row in table.rows if row.values[question]]
    columns = [name for name in by_key.values() if name != question]
    by_role = {
        side: [by_key[key] for key in by_key if {*key.split("_")} & words or key in words]
        for side, words in ((0, _RIGHT), (1, _WRONG))
    }
    triples = [
        (first, second, right)
        for first, second in pairwise(table.columns)
        for right in columns
        if right not in (first, second)
        and {first, second} <= {*columns}
        and all(row[first] != row[second] for row in asked)
        and all(row[right] in (row[first], row[second]) for row in asked)
        and len({row[right] == row[first] for row in asked}) > 1
    ]
    if len(by_role[0]) == len(by_role[1]) == 1 and not triples:
        triples = [(by_role[0][0], by_role[1][0], by_role[0][0])]
    words = {name: {row[name].lower() for row in asked} for name in columns}
    yes_no = [name for name in columns if words[name] <= _YES_NO] or [
        name for name in columns if words[name] <= {*_TRUE_FALSE} and ANSWER in key_of(name)
    ]
    if len(triples) == 1:
        first, second, right = triples[0]
        note = f"answers from {first} and {second}, answer from {right}"
        answers = [f"{row.values[first]}|{row.values[second]}" for row in table.rows]
    elif len(yes_no) == 1:
        (right,) = yes_no
        note, answers = f"answer from {right}", [""] * len(table.rows)
    else:
        return table, []
    rows = [
        replace(row, values={**row.values, ANSWERS: options, ANSWER: _yes_or_no(row.values[right])})
        if row.values[question]
        else replace(row, values={**row.values, ANSWERS: "", ANSWER: ""})
        for row, options in zip(table.rows, answers, strict=True)
    ]
    return replace(table, columns=(*table.columns, ANSWERS, ANSWER), rows=tuple(rows)), [note]


def _yes_or_no(word: str) -> str:
    return _TRUE_FALSE.get(word.lower(), word)


def _options_by_number(by_key: Mapping[str, str]) -> dict[str, str]:
    return {match[1]: by_key[key] for key in by_key if (match := _OPTION.fullmatch(key))}


def _refuse_answers_alone(table: RawTable, by_key: Mapping[str, str], correct: str) -> None:
    """Refuse two columns of options and the right one's number that answer no question."""
    options = _options_by_number(by_key)
    numbers = {*texts_of(table, correct)} if correct else set()
    # Options of a choice are numbered from 1.
    if len(options) == len(PAIR) and "0" in options and numbers and numbers <= options.keys():
        raise MaterialsError(
            f'{quote_header([*options.values()])} hold answers, and "{correct}" the number of the '
            "right one, but no column holds the questions",
            where=str(table.path),
            expected='a column called "question"',
            remedy="Rename its header, or leave out the columns of answers",
        )


def _numbered_options(table: RawTable, by_key: Mapping[str, str], correct: str) -> dict[str, str]:
    """Return the two columns of options by their numbers; none if there are no two.

    Raises:
        MaterialsError: The right answers are numbers of options, and only one option has a column.
    """
    options = _options_by_number(by_key)
    if len(options) == 1 and all(number.isdecimal() for number in texts_of(table, correct)):
        raise MaterialsError(
            f'"{correct}" holds the numbers of options, and only '
            f"{quote_header([*options.values()])} is a column of options",
            where=str(table.path),
            expected="two columns of options, with their numbers in the headers",
            remedy="Rename the other one's header",
        )
    return options if len(options) == len(PAIR) else {}


def _answers_of_options(table: RawTable, options: Mapping[str, str], correct: str) -> RawTable:
    """Return a table with the answers to each question in place of the options, and the right one.

    Raises:
        MaterialsError: The right answer is the number of no option.
    """
    rows = []
    for row in table.rows:
        number = row.values[correct]
        if number not in (*options, ""):
            raise MaterialsError(
                f'"{number}" in the column "{correct}" is the number of no option',
                where=row.place,
                expected=" or ".join(options),
            )
        right = row.values[options[number]] if number else ""
        texts = {ANSWERS: "|".join(row.values[name] for name in options.values()), ANSWER: right}
        values = {name: text for name, text in row.values.items() if name not in options.values()}
        rows.append(replace(row, values={**values, **texts}))
    left = [name for name in table.columns if name not in options.values()]
    return replace(table, columns=(*left, ANSWERS, ANSWER), rows=tuple(rows))
