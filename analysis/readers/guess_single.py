"""Find the columns of ratings, and of yes or no, to one sentence at a time, by their contents."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd
from scipy.special import fdtrc  # scipy.stats takes a second to import

from analysis.readers.guess_columns import LIKELY, ItemOptions, match_versions
from analysis.readers.mapping import simplify_name
from analysis.readers.rating_scale import MOST_POINTS, RATING, usual_ends
from analysis.readers.single_answers import SAID_YES, VERSION
from experiment.materials.formats.words import BAD_WORDS, GOOD_WORDS
from experiment.records import Variant

_TWO = 2
# Usual names of answer columns; a name only decides between otherwise equal candidates.
_ANSWERED = ("rating", "said", "response", "answer", "judg", "accept", "likert", "score", "value",
             "choice", "button", "key", "natural", "plausib", "slider")  # fmt: skip
_CHOSEN = ("chosen", "choice", "choose", "chose", "select", "prefer", "pick", "respon", "answer")
_WORD_PAIRS = (
    ("good", "bad"), ("grammatical", "ungrammatical"), ("acceptable", "unacceptable"),
    ("plausible", "implausible"), ("expected", "unexpected"), ("match", "mismatch"),
    ("congruent", "incongruent"), ("felicitous", "infelicitous"), ("possible", "impossible"),
)  # fmt: skip
_HIGHEST, _FEWEST, _MOST_CODES = MOST_POINTS, 3, 4
_RIGHT_OR_WRONG = ("correct", "accura", "error")
_DESIGN_NAME = re.compile("correct|expected|target|key|type|time|latency|rt", re.IGNORECASE)
# Among shown sentences, the versions are balanced; among chosen ones, most are good.
_BALANCED = (0.3, 0.7)
# A sentence gets several different ratings, but only one value of a property of the sentence.
_SAME_SHARE = 0.95
_BEYOND_CHANCE = 0.01


@dataclass(frozen=True, slots=True)
class SingleAnswers:
    """The columns of answers to single sentences.

    Attributes:
        columns: The source's column for each Parallax column.
        values: The meaning of their values.
        lacking: Undecided points, in words.
    """

    columns: Mapping[str, str]
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    lacking: tuple[str, ...] = ()


def guess_single_answers(
    rows: pd.DataFrame, item: str, options: ItemOptions, person: str | None
) -> SingleAnswers | None:
    """Return the columns of ratings or yes-or-no answers; None if the rows have neither.

    Args:
        rows: A row for each answer.
        item: The column with the items' ids.
        options: The items' texts.
        person: The participant column.
    """
    rows = rows[rows[item].isin(list(options))]
    if rows.empty:
        return None
    alone = all(not options[item_id].written[1] for item_id in rows[item].unique())
    version = None if alone else _guess_version_column(rows, item, options)
    if version is None and not alone:
        return None
    sentence = rows[item] + "\n" + (rows[version[0]] if version else "")
    used_columns = {item, person, version[0] if version else None}
    other_columns = [header for header in rows.columns if header not in used_columns]
    answer_like_columns = [
        header
        for header in other_columns
        if any(word in simplify_name(header) for word in _ANSWERED)
    ]
    # Where no sentence was judged twice, answers cannot be told from what describes sentences.
    judged_again = bool(sentence.duplicated().any())
    kinds = _guess_answer_kinds(rows, other_columns, sentence, person) if judged_again else {}
    if not kinds:
        # If the name indicates answers, all participants may have given the same answer.
        answer_named_columns = [
            header for header in answer_like_columns if not _DESIGN_NAME.search(header)
        ]
        kinds = _guess_answer_kinds(rows, answer_named_columns, None, person)
    if not kinds:
        return None
    columns = {VERSION: version[0]} if version else {}
    values = {VERSION: version[1]} if version and version[1] else {}
    candidates = [column for column in kinds if column in answer_like_columns]
    if not candidates and (coded := _coded_answers(rows, answer_like_columns, sentence)):
        return SingleAnswers(columns, values, (coded,))
    candidates = candidates or [
        column for column in kinds if _differs_between_sentences(rows[column], sentence)
    ]
    if not candidates:
        return None
    if len(candidates) > 1 and not _say_the_same(rows[candidates]):
        candidate_list = ", ".join(f'"{header}"' for header in candidates)
        return SingleAnswers(
            columns, values, (f"one column of answers (there are {candidate_list})",)
        )
    return SingleAnswers(columns | {kinds[candidates[0]]: candidates[0]}, values)


def _coded_answers(rows: pd.DataFrame, columns: Sequence[str], sentence: "pd.Series[str]") -> str:
    """Return that a column named as the answers holds codes, such as keys; empty if none does.

    Another column of 0 and 1 then says something else, such as whether an answer was repeated.
    """
    for header in columns:
        cells = rows[header][rows[header] != ""]
        codes = sorted(cells.unique()[: _MOST_CODES + 1])
        is_coded = _TWO <= len(codes) <= _MOST_CODES and not _DESIGN_NAME.search(header)
        if is_coded and not _is_function_of_sentence(cells, sentence[cells.index]):
            shown = ", ".join(f'"{code}"' for code in codes)
            return f'the meaning of the answers in "{header}": {shown}'
    return ""


def _say_the_same(answers: pd.DataFrame) -> bool:
    """Return whether columns hold the same answers in every row, such as yes and 1."""
    words = {**dict.fromkeys(GOOD_WORDS, "yes"), **dict.fromkeys(BAD_WORDS, "no")}
    plain = answers.map(lambda cell: cell.strip().lower())
    unified = plain.map(lambda cell: words.get(cell, cell)).replace("", pd.NA)
    return bool((unified.nunique(axis=1) <= 1).all())


def describe_missing(answers: str, rows: pd.DataFrame, shown: str | None = None) -> str:
    """Return a sentence: no column holds the answers, and which one holds something else.

    Args:
        answers: What the answers are called.
        rows: The table.
        shown: The column with what was shown.
    """
    shown_text = f' ("{shown}" holds what was shown)' if shown else ""
    return f"a column that holds the {answers}{shown_text}{_describe_unread_scale(rows)}"


def _describe_unread_scale(rows: pd.DataFrame) -> str:
    for header in rows:
        name, cells = simplify_name(str(header)), rows[header][rows[header] != ""]
        numbers = pd.to_numeric(cells, errors="coerce").dropna()
        is_scale = len(numbers) > LIKELY * len(cells) and numbers.nunique() >= _FEWEST
        outside = numbers[(numbers < 1) | (numbers > _HIGHEST) | (numbers != numbers.round())]
        if is_scale and len(outside) and any(word in name for word in _ANSWERED):
            if _DESIGN_NAME.search(str(header)):
                continue
            return (
                f'; "{header}" goes from {numbers.min():g} to {numbers.max():g}: means and '
                f"standard scores are not read, and of people's own ratings write rating = "
                f'"{header}" and scale = [LOWEST, HIGHEST] in a mapping'
            )
    return ""


def _guess_version_column(
    rows: pd.DataFrame, item: str, options: ItemOptions
) -> tuple[str, dict[str, str]] | None:
    """Return the column of the version shown, and the meaning of its values."""
    for column in rows.columns.drop(item):
        if any(word in simplify_name(column) for word in _CHOSEN):
            continue
        versions = match_versions(rows[item], rows[column], options).dropna()
        good = float((versions == Variant.GOOD).mean()) if len(versions) else 0.0
        if len(versions) > LIKELY * len(rows) and _BALANCED[0] < good < _BALANCED[1]:
            return column, {}
    for column in rows.columns.drop(item):
        values = {
            str(value): str(value).strip().lower() for value in rows[column].unique() if value != ""
        }
        for pair in _WORD_PAIRS:
            if set(values.values()) == set(pair):
                good_ones = [
                    value_in_file for value_in_file, meaning in values.items() if meaning == pair[0]
                ]
                share_good = float(rows[column].isin(good_ones).mean())
                if _BALANCED[0] < share_good < _BALANCED[1]:
                    version_of_word = dict(zip(pair, ("good", "bad"), strict=True))
                    means = {
                        value_in_file: version_of_word[meaning]
                        for value_in_file, meaning in values.items()
                    }
                    return column, {} if set(values) == set(version_of_word.values()) else means
    return None


def _guess_answer_kinds(
    rows: pd.DataFrame,
    columns: Sequence[str],
    sentence: "pd.Series[str] | None",
    person: str | None,
) -> dict[str, str]:
    kinds = {name: _guess_answer_kind(rows, name, sentence, person) for name in columns}
    return {name: kind for name, kind in kinds.items() if kind}


def _guess_answer_kind(
    rows: pd.DataFrame, column: str, sentence: "pd.Series[str] | None", person: str | None
) -> str | None:
    """Return whether a column may contain ratings or yes-or-no answers; None if neither."""
    is_full = rows[column] != ""
    cells = rows[column][is_full]
    if cells.nunique() < _TWO or is_full.mean() < 1 / 2:
        return None
    is_described = sentence is not None and _is_function_of_sentence(cells, sentence[is_full])
    if is_described or _describes_participants(cells, rows[person][is_full] if person else None):
        return None
    lower = set(cells.str.strip().str.lower())
    if lower <= GOOD_WORDS | BAD_WORDS and lower & GOOD_WORDS and lower & BAD_WORDS:
        return None if _is_truth(column) else SAID_YES
    numbers = pd.to_numeric(cells, errors="coerce")
    is_scale = bool(((numbers >= 1) & (numbers <= _HIGHEST) & (numbers == numbers.round())).all())
    if not is_scale and numbers.notna().all() and _is_named_as_answers(column):
        # A slider, or a scale that does not begin at 1.
        is_scale = usual_ends(numbers.astype(float)) is not None
    return RATING if is_scale and cells.nunique() >= _FEWEST else None


def _is_named_as_answers(column: str) -> bool:
    is_named = any(word in simplify_name(column) for word in _ANSWERED)
    return is_named and not _DESIGN_NAME.search(column)


def _differs_between_sentences(answers: "pd.Series[str]", sentence: "pd.Series[str]") -> bool:
    """Return whether answers differ between sentences beyond chance, by an analysis of variance.

    Blocks, lists and trial numbers, which are whole numbers too, do not.
    """
    numbers = pd.to_numeric(answers, errors="coerce").fillna(answers.str.lower().isin(GOOD_WORDS))
    numbers = numbers[answers != ""].astype(float)
    groups = numbers.groupby(sentence[answers != ""], observed=True)
    n_between, n_within = groups.ngroups - 1, len(numbers) - groups.ngroups
    if n_between < 1 or n_within < 1:
        return False
    within = float(((numbers - groups.transform("mean")) ** 2).sum())
    between = float(((groups.transform("mean") - numbers.mean()) ** 2).sum())
    if within == 0:
        return between > 0
    return float(fdtrc(n_between, n_within, between / n_between / (within / n_within))) < (
        _BEYOND_CHANCE
    )


def _is_truth(column: str) -> bool:
    """Return whether a column records if answers were right."""
    name = simplify_name(column)
    return name in ("acc", "hit", "right") or any(word in name for word in _RIGHT_OR_WRONG)


def _describes_participants(cells: "pd.Series[str]", person: "pd.Series[str] | None") -> bool:
    """Return whether a column describes participants, or the order of trials."""
    if person is None:
        return False
    # An age is constant for a participant; a trial number differs in each of their trials.
    frame = pd.DataFrame({"person": person, "cell": cells})
    cells_by_person = frame.groupby("person", observed=True)["cell"]
    if cells_by_person.size().max() == 1:
        # Whoever answered once shows neither.
        return False
    return bool(
        (cells_by_person.nunique() <= 1).all()
        or (cells_by_person.size() == cells_by_person.nunique()).all()
    )


def _is_function_of_sentence(cells: "pd.Series[str]", of: "pd.Series[str]") -> bool:
    """Return whether a column is a function of the sentence: one value for each."""
    groups = pd.DataFrame({"of": of, "cell": cells}).groupby("of", observed=True)["cell"]
    sizes = groups.size()
    several = sizes[sizes > 1].index
    return bool(len(several)) and float((groups.nunique()[several] == 1).mean()) > _SAME_SHARE
