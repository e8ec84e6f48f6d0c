"""Find the columns of ratings or yes-or-no answers to single sentences, by their contents."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd

from analysis.readers.guess_columns import Known, versions_beside
from analysis.readers.roles import simple
from analysis.readers.single_answers import RATING, SAID_YES, VERSION
from experiment.materials.formats.pairs import BAD_WORDS, GOOD_WORDS
from experiment.records import Variant

# Usual names of answer columns; a name only decides between otherwise equal candidates.
_ANSWERED = ("rating", "said", "response", "answer", "judg", "accept", "likert", "score", "value",
             "choice", "button", "key", "natural", "plausib")  # fmt: skip
_CHOSEN = ("chosen", "choice", "choose", "chose", "select", "prefer", "pick", "respon", "answer")
_WORDS = (
    ("good", "bad"), ("grammatical", "ungrammatical"), ("acceptable", "unacceptable"),
    ("plausible", "implausible"), ("expected", "unexpected"), ("match", "mismatch"),
    ("congruent", "incongruent"), ("felicitous", "infelicitous"), ("possible", "impossible"),
)  # fmt: skip
_HIGHEST, _FEWEST, _TWO, _LIKELY = 9, 3, 2, 0.9
_DESIGN = re.compile("correct|expected|target|key|type|time|latency|rt", re.IGNORECASE)
# Among shown sentences, the versions are balanced; among chosen ones, most are good.
_SHOWN = (0.3, 0.7)
# A sentence gets several different ratings, but only one value of a property of the sentence.
_SAME = 0.95


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


def single_answers(
    rows: pd.DataFrame, item: str, known: Known, person: str | None
) -> SingleAnswers | None:
    """Return the columns of ratings or yes-or-no answers; None if the rows have neither.

    Args:
        rows: A row for each answer.
        item: The column with the items' ids.
        known: The items' texts.
        person: The participant column.
    """
    rows = rows[rows[item].isin(list(known))]
    if rows.empty:
        return None
    alone = all(not known[one].written[1] for one in rows[item].unique())
    version = None if alone else _version(rows, item, known)
    if version is None and not alone:
        return None
    sentence = rows[item] + "\n" + (rows[version[0]] if version else "")
    taken = {item, person, version[0] if version else None}
    others = [one for one in rows.columns if one not in taken]
    answered = [one for one in others if any(word in simple(one) for word in _ANSWERED)]
    kinds = _kinds(rows, others, sentence, person)
    if not kinds:
        # If the name indicates answers, all participants may have given the same answer.
        told = [one for one in answered if not _DESIGN.search(one)]
        kinds = _kinds(rows, told, None, person)
    if not kinds:
        return None
    columns = {VERSION: version[0]} if version else {}
    values = {VERSION: version[1]} if version and version[1] else {}
    left = [one for one in kinds if one in answered] or list(kinds)
    if len(left) > 1:
        listed = ", ".join(f'"{one}"' for one in left)
        return SingleAnswers(columns, values, (f"one column of answers (there are {listed})",))
    return SingleAnswers(columns | {kinds[left[0]]: left[0]}, values)


def _version(rows: pd.DataFrame, item: str, known: Known) -> tuple[str, dict[str, str]] | None:
    """Return the column of the version shown, and the meaning of its values."""
    for column in rows.columns.drop(item):
        if any(word in simple(column) for word in _CHOSEN):
            continue
        told = versions_beside(rows[item], rows[column], known).dropna()
        good = float((told == Variant.GOOD).mean()) if len(told) else 0.0
        if len(told) > _LIKELY * len(rows) and _SHOWN[0] < good < _SHOWN[1]:
            return column, {}
    for column in rows.columns.drop(item):
        values = {str(one): str(one).strip().lower() for one in rows[column].unique() if one != ""}
        for pair in _WORDS:
            if set(values.values()) == set(pair):
                good_ones = [theirs for theirs, one in values.items() if one == pair[0]]
                share = float(rows[column].isin(good_ones).mean())
                if _SHOWN[0] < share < _SHOWN[1]:
                    ours = dict(zip(pair, ("good", "bad"), strict=True))
                    means = {theirs: ours[one] for theirs, one in values.items()}
                    return column, {} if set(values) == set(ours.values()) else means
    return None


def _kinds(
    rows: pd.DataFrame,
    columns: Sequence[str],
    sentence: "pd.Series[str] | None",
    person: str | None,
) -> dict[str, str]:
    found = {name: _kind(rows, name, sentence, person) for name in columns}
    return {name: kind for name, kind in found.items() if kind}


def _kind(
    rows: pd.DataFrame, column: str, sentence: "pd.Series[str] | None", person: str | None
) -> str | None:
    """Return whether a column may contain ratings or yes-or-no answers; None if neither."""
    filled = rows[column] != ""
    cells = rows[column][filled]
    if cells.nunique() < _TWO or filled.mean() < 1 / 2:
        return None
    described = sentence is not None and _function(cells, sentence[filled])
    if described or _of_person(cells, rows[person][filled] if person else None):
        return None
    lower = set(cells.str.strip().str.lower())
    if lower <= GOOD_WORDS | BAD_WORDS and lower & GOOD_WORDS and lower & BAD_WORDS:
        return None if _is_truth(column) else SAID_YES
    numbers = pd.to_numeric(cells, errors="coerce")
    whole = bool(((numbers >= 1) & (numbers <= _HIGHEST) & (numbers == numbers.round())).all())
    return RATING if whole and cells.nunique() >= _FEWEST else None


def _is_truth(column: str) -> bool:
    """Return whether a column records if answers were right."""
    return simple(column) in ("correct", "iscorrect", "accuracy", "acc", "hit", "right")


def _of_person(cells: "pd.Series[str]", person: "pd.Series[str] | None") -> bool:
    """Return whether a column describes participants, or the order of trials."""
    if person is None:
        return False
    # An age is constant for a participant; a trial number differs in each of their trials.
    once = pd.DataFrame({"person": person, "cell": cells})
    each = once.groupby("person", observed=True)["cell"]
    return bool((each.nunique() <= 1).all() or (each.size() == each.nunique()).all())


def _function(cells: "pd.Series[str]", of: "pd.Series[str]") -> bool:
    """Return whether a column is a function of the sentence: one value for each."""
    groups = pd.DataFrame({"of": of, "cell": cells}).groupby("of", observed=True)["cell"]
    sizes = groups.size()
    several = sizes[sizes > 1].index
    return bool(len(several)) and float((groups.nunique()[several] == 1).mean()) > _SAME
