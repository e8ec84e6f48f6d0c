"""What the columns of a table of judgments mean: mapping files, and how roles are recognised."""

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Literal, TypeVar

import pandas as pd
from pydantic import BaseModel, ConfigDict, ValidationError

from analysis.errors import AnalysisError
from experiment.errors import wrong_keys

LONG = (
    "judge", "participant", "list", "item", "construction", "condition",
    "option_first", "options", "good_side", "chosen", "correct", "version", "rating",
    "rating_scale", "said_yes", "typed", "no_answer", "rt_ms", "kept",
)  # fmt: skip
UNITS = {"ms": 1.0, "s": 1_000.0}
NUMBER, ITEM = "{n}", "{item}"

Rows = dict[str, str | list[str]]
Settings = TypeVar("Settings", bound=BaseModel)


class TableMap(BaseModel):
    """A mapping file: the meaning of a table's columns and values.

    Attributes:
        columns: The source's column for each Parallax column; columns that already have Parallax's
            name may be omitted. With ``wide``, numbered columns are written with ``{n}``, columns
            named after items with ``{item}``. In place of a choice, ``rating``, ``said_yes`` or
            ``typed`` is the answer to one sentence, and ``version`` is the version shown, or its
            text.
        values: For each Parallax column, a table from the source's values to Parallax's, such as
            "sentence A" to "good". ``*`` matches any text: "1. *" to "first". Entries without ``*``
            take precedence.
        item_from: Columns whose texts, joined by "-", form the item id, if no column contains the
            id.
        item_by_texts: Columns with the item's options, which identify the item if no id exists;
            or one column with one of the options. With ``wide``, they are written with ``{n}``.
        item_by: For some of the items' columns, the source's column with the same values: they
            identify the item, or tell apart items with the same texts.
        options: Where three or more options were shown: the columns with their texts, in the
            order shown; or the versions shown, without such columns.
        headers: The names of all columns, in their order, of a table without headers.
        wide: Whether one row contains a whole session.
        keep: Rows of the original table to keep: for each column, the required value or values.
        drop: Rows of the original table to drop.
        keep_trials: Trials to keep, by the source's or Parallax's columns.
        drop_trials: Trials to drop.
        skip_blank: Parallax columns; trials with an empty value in one of them are not judgments.
        rt_unit: The unit of the reaction times, "ms" or "s".
        scale: The lowest and highest value of the ratings' scale, if it does not begin at 1, or the
            ratings do not reach its ends.
        no_answer: Typed texts by which participants said that they could not think of an answer.
            Empty cells are left out, unless an empty text is listed here.
        first_word: Whether only the first word of a typed answer counts.
        duplicates: "keep" or "drop" copies of a judgment; if unset, copies stop the import.
        unrelated: Columns to ignore although they look like correctness or the item's texts, or
            have one of Parallax's names.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    columns: dict[str, str] = {}
    values: dict[str, dict[str, str]] = {}
    item_from: list[str] = []
    item_by_texts: list[str] = []
    item_by: dict[str, str] = {}
    options: list[str] = []
    headers: list[str] = []
    wide: bool = False
    keep: Rows = {}
    drop: Rows = {}
    keep_trials: Rows = {}
    drop_trials: Rows = {}
    skip_blank: list[str] = []
    rt_unit: Literal["ms", "s"] = "ms"
    scale: tuple[float, float] | None = None
    no_answer: list[str] = []
    first_word: bool = False
    duplicates: Literal["", "keep", "drop"] = ""
    unrelated: list[str] = []

    def to_toml(self) -> str:
        """Return the mapping as TOML text, without unset values."""
        settings = self.model_dump(exclude_defaults=True)
        scalars = {key: value for key, value in settings.items() if not isinstance(value, dict)}
        lines = [f"{key} = {json.dumps(value)}" for key, value in scalars.items()]
        for key, table in settings.items():
            if isinstance(table, dict):
                lines += _format_toml_table(key, table)
        return "\n".join(lines).strip() + "\n"


def _format_toml_table(name: str, table: Mapping[str, object]) -> list[str]:
    scalars = {key: value for key, value in table.items() if not isinstance(value, dict)}
    lines = ["", f"[{name}]"] if scalars else []
    lines += [
        f"{json.dumps(key, ensure_ascii=False)} = {json.dumps(value, ensure_ascii=False)}"
        for key, value in scalars.items()
    ]
    for key, inner_value in table.items():
        if isinstance(inner_value, dict):
            lines += _format_toml_table(f"{name}.{key}", inner_value)
    return lines


def values_in_mapping(mapping: TableMap) -> set[str]:
    """Return the texts of a source that a mapping speaks of, in its rules or translations."""
    rules = (mapping.keep, mapping.drop, mapping.keep_trials, mapping.drop_trials)
    values = [value for rule in rules for value in rule.values()]
    spoken = {text for value in values for text in ([value] if isinstance(value, str) else value)}
    spoken |= set(mapping.no_answer)
    return spoken | {text for means in mapping.values.values() for text in means}


def read_mapping(path: Path | None) -> TableMap:
    """Read a mapping file; without a file, columns must have Parallax's names.

    Raises:
        AnalysisError: The file is missing, not TOML, or has an unknown key.
    """
    return read_toml(path, TableMap, "the mapping", "docs/data_formats.md")


def read_toml(
    path: Path | None,
    model: type[Settings],
    name: str,
    page: str,
    check: Callable[[Settings], None] = lambda _: None,
) -> Settings:
    """Read a TOML file of settings; without a file, each has its default.

    Args:
        path: The file.
        model: The settings.
        name: What the file is, for messages.
        page: The page that shows an example.
        check: Raises a ValueError for wrong values.

    Raises:
        AnalysisError: The file is missing, not TOML, or has an unknown key or a wrong value.
    """
    if path is None:
        return model()
    try:
        settings = model.model_validate(tomllib.loads(path.read_text("utf-8")))
        check(settings)
    except (OSError, ValueError, RecursionError, ValidationError) as error:
        reason = wrong_keys(error) if isinstance(error, ValidationError) else error
        raise AnalysisError(
            f"{name} cannot be read ({reason})",
            where=str(path),
            expected=f"TOML with the tables {', '.join(model.model_fields)}",
            remedy=f"{page} shows one",
        ) from error
    return settings


# The words for right and wrong that other programs' files use.
TRUE_WORDS = frozenset({"true", "1", "1.0", "yes", "t", "correct"})
FALSE_WORDS = frozenset({"false", "0", "0.0", "no", "f", "incorrect"})
TRUTH_WORDS = TRUE_WORDS | FALSE_WORDS


def parse_truth(cells: "pd.Series[str]", name: str, path: Path) -> "pd.Series[bool]":
    """Return a column of words for right and wrong as true and false; empty cells are missing.

    Args:
        cells: The column.
        name: Its name, for messages.
        path: Its file, for messages.

    Raises:
        AnalysisError: A cell holds another word.
    """
    lower = cells.astype(str).str.strip().str.lower()
    strange = sorted(set(lower.unique()) - TRUTH_WORDS - {""})
    if strange:
        raise AnalysisError(
            f'"{strange[0]}" in the column "{name}" is neither true nor false',
            where=str(path),
            expected="true or false, 1 or 0, yes or no",
        )
    return lower.isin(TRUE_WORDS).astype("boolean").mask(lower == "")


_PREFIX = re.compile(r"^((player|Answer|Input|response)\.|Spreadsheet: )")
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Role:
    """A possible role of a column.

    Attributes:
        names: Usual column names of the role, simplified, the most likely first.
        holds: Tests whether non-empty cells fit the role.
    """

    names: tuple[str, ...]
    holds: Callable[["pd.Series[str]"], bool]


def _accept_any(_: "pd.Series[str]") -> bool:
    return True


def _are_numbers(cells: "pd.Series[str]") -> bool:
    return bool(pd.to_numeric(cells.str.replace(",", "."), errors="coerce").notna().mean() > 0.5)


def _are_truth_values(cells: "pd.Series[str]") -> bool:
    return set(cells.str.lower()) <= TRUTH_WORDS


ROLES: Mapping[str, Role] = MappingProxyType(
    {
        "participant": Role(
            ("participant", "participantid", "prolificpid", "participantcode", "workerid",
             "participantprivateid", "responseid", "uniqueid", "subject", "subjectid", "subj",
             "subjid", "studyresult", "md5hashofparticipantsipaddress",
             "md5hashthathopefullyuniquelyidentifiesparticipant", "runid", "sessionid", "anoncode",
             "person", "who", "respondentid", "worker", "rater", "raterid", "annotator",
             "annotatorid", "userid", "result"),
            _accept_any,
        ),
        "rt_ms": Role(
            ("rtms", "rt", "reactiontime", "responsetime", "playerrt", "playerrtms",
             "playerresponsetime", "playerreactiontime", "latency", "timetakentoanswer", "hitrt",
             "decisiontime", "rtseconds", "rtsec"),
            _are_numbers,
        ),
        "good_side": Role(
            ("goodside", "correctside", "correctresponse", "correctkey", "correctanswer",
             "answerkey", "targetside", "good", "goodoption", "goodposition", "correctposition",
             "expected", "playergoodside"),
            _accept_any,
        ),
        "option_first": Role(
            ("optionfirst", "firstoption", "first", "left", "leftoption", "lefttext", "optionleft",
             "sentence1", "sentencea", "text1", "optiona"),
            _accept_any,
        ),
        "chosen": Role(
            ("chosen", "choice", "answer", "response", "value", "judgment", "judgement",
             "preferred", "preference", "selection", "selected", "picked", "pick",
             "buttonpressed", "keypress", "key"),
            _accept_any,
        ),
        "correct": Role(
            ("correct", "iscorrect", "accuracy", "acc", "hit", "right",
             "whetherornotanswerwascorrectnullifna"),
            _are_truth_values,
        ),
        "item": Role(
            ("item", "itemid", "itemnum", "itemnumber", "sentenceid", "sentencenumber",
             "stimulusid", "stimulusnumber"),
            _accept_any,
        ),
    }
)  # fmt: skip


def simplify_name(name: str) -> str:
    """Return a name in simplified form: letters and digits in lower case."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def columns_for_role(table: pd.DataFrame, role: str) -> Iterator[str]:
    """Yield the columns whose names and contents fit a role, the most likely first."""
    role_definition = ROLES[role]
    for name in role_definition.names:
        for column in table.columns:
            # Match a name with or without its model or form.
            names = [simplify_name(column), simplify_name(_PREFIX.sub("", column))]
            if role == "rt_ms":
                # E-Prime and PsychoPy name an object and its time: Slide1.RT, key_resp.rt.
                names.append(simplify_name(column.rsplit(".", 1)[-1]))
            if name in names:
                filled_cells = table[column][table[column] != ""]
                if len(filled_cells) and role_definition.holds(filled_cells):
                    yield column


def accuracy_columns(table: pd.DataFrame) -> Iterator[str]:
    """Yield the columns that are named as accuracies and say right or wrong in most of their cells.

    Other cells may be codes, such as 99 for no answer.
    """
    for column in table.columns:
        names = {simplify_name(column), simplify_name(_PREFIX.sub("", column))}
        words = table[column][table[column] != ""].str.lower()
        if names & {*ROLES["correct"].names} and words.isin(TRUTH_WORDS).mean() > 0.5:
            yield column


def first_column_for_role(table: pd.DataFrame, role: str) -> str | None:
    """Return the most likely column of a role; None if no column fits."""
    return next(columns_for_role(table, role), None)


def numbers_in_all_patterns(
    columns: Sequence[str], patterns: Iterable[str], path: Path
) -> list[str]:
    """Return the numbers, as written, of columns named by patterns such as ``item{n}``.

    Raises:
        AnalysisError: One pattern has a number that another pattern lacks.
    """
    numbers_by_pattern = {pattern: numbers_in_pattern(columns, pattern) for pattern in patterns}
    if not numbers_by_pattern:
        return []
    all_numbers = set().union(*numbers_by_pattern.values())
    for pattern, numbers in numbers_by_pattern.items():
        if numbers and (missing_numbers := sorted(all_numbers - numbers, key=_numeric_key)):
            missing_columns = ", ".join(
                pattern.replace(NUMBER, number) for number in missing_numbers[:_SHOWN]
            )
            raise AnalysisError(
                f"the numbered columns do not fit together: there is no {missing_columns}",
                where=str(path),
                expected=f"the same numbers in {' and '.join(numbers_by_pattern)}",
                remedy="Correct the mapping, or the headers",
            )
    return sorted(all_numbers, key=_numeric_key) if all(numbers_by_pattern.values()) else []


def numbers_in_pattern(columns: Sequence[str], pattern: str) -> set[str]:
    """Return the numbers that replace ``{n}`` in the columns matching a pattern."""
    regex = re.compile(r"(\d+)".join(map(re.escape, pattern.split(NUMBER, 1))))
    return {match[1] for column in columns if (match := regex.fullmatch(column))}


def _numeric_key(number: str) -> tuple[int, str]:
    return int(number), number
