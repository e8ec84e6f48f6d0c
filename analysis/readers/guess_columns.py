"""Find the columns of item ids, sides of a choice and single answers, by their contents."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import pandas as pd

from analysis.readers.mapping import ROLES, columns_of, first_of, simple
from analysis.readers.single_answers import RATING, SAID_YES, VERSION
from analysis.readers.texts import Options, comparable, items_by_texts
from experiment.materials.formats.pairs import BAD_WORDS, GOOD_WORDS
from experiment.records import Item, Variant

LIKELY = 0.9
Known = Mapping[str, Options]
CHOSEN_WORDS = ("chosen", "choice", "answer", "response", "select", "judgment")
_EXPECTED_WORDS = ("good", "correct", "expected", "target", "right")
_PAIRS = (("first", "second"), ("left", "right"), ("top", "bottom"), ("up", "down"))
_SIDES = {side: place for pair in _PAIRS for side, place in zip(pair, _PAIRS[0], strict=True)}
_KEYS = ("l", "r"), ("arrowleft", "arrowright"), ("arrowup", "arrowdown"), ("f", "j"), ("a", "b")
_TWO = 2
# Two columns with the same pair of words that agree only by chance are unrelated.
_AGREE = 0.75


@dataclass(frozen=True, slots=True)
class Choice:
    """The columns that define the choice, and the meaning of their values.

    ``sure`` is False if they always give the same version.
    """

    columns: dict[str, str]
    values: dict[str, dict[str, str]]
    sure: bool = True


def share(values: "pd.Series[str]", among: object) -> float:
    """Return the share of non-empty cells whose value is among the given values."""
    filled = values[values != ""]
    return float(filled.isin(list(among)).mean()) if len(filled) else 0.0  # type: ignore[call-overload]


def item_column(table: pd.DataFrame, known: Known) -> str | None:
    """Return the column with item ids; None if no column qualifies, or the choice is ambiguous."""
    if not known:
        return first_of(table, "item")
    # Rows of instructions and pauses have other words in the item column.
    hits = {name: int(table[name].isin(list(known)).sum()) for name in table.columns}
    likely = sorted((name for name in hits if hits[name]), key=lambda name: -hits[name])
    if not all(item_id.isdecimal() for item_id in known):
        return next(iter(likely), None)
    # Numeric item ids may also be ratings, participants, ages or positions.
    likely = [name for name in likely if hits[name] > LIKELY * hits[likely[0]]]
    called = [name for name in likely if simple(name) in ROLES["item"].names]
    told = _beside_texts(table, called or likely, known)
    return told[0] if len(told) == 1 or (told and called) else None


def _beside_texts(table: pd.DataFrame, columns: Sequence[str], known: Known) -> list[str]:
    """Return the columns whose ids agree with the item texts in every text column."""
    every = {comparable(text) for options in known.values() for text in options.written if text}
    texts = [
        name
        for name in table.columns
        if (filled := table[name][table[name] != ""]).size
        and filled.map(comparable).isin(every).mean() > LIKELY
    ]
    return [
        column
        for column in columns
        if all(_told(table, column, name, known) > LIKELY for name in texts)
    ]


def _told(table: pd.DataFrame, item: str, text: str, known: Known) -> float:
    """Return the share of rows with an item and a text in which the text is the item's."""
    both = table[table[item].isin(list(known)) & (table[text] != "")]
    told = versions_beside(both[item], both[text], known)
    return float(told.notna().mean()) if len(told) else 0.0


def versions_beside(
    items: "pd.Series[str]", texts: "pd.Series[str]", known: Known
) -> "pd.Series[str]":
    """Return each text's version of its item; empty if the text is not the item's."""
    pairs = pd.DataFrame({"item": items, "text": texts})
    each = pairs.drop_duplicates()
    told = {
        (str(item), str(text)): known[str(item)].version(str(text))
        for item, text in zip(each["item"], each["text"], strict=True)
    }
    versions = [told[pair] for pair in zip(pairs["item"], pairs["text"], strict=True)]
    return pd.Series(versions, items.index, object)


def text_columns(table: pd.DataFrame, items: Sequence[Item]) -> list[str]:
    """Return two columns with both options of an item, or one column with one option's text."""
    texts = {way for item in items for way in _ways(item)}
    holding = [
        column
        for column in table.columns
        if (table[column] != "").any()
        and table[column][table[column] != ""].map(comparable).isin(texts).mean() > LIKELY
    ]
    known = {item.item_id for item in items}
    pairs = [[one, other] for n, one in enumerate(holding) for other in holding[n + 1 :]]
    for columns in pairs or [[one] for one in holding]:
        filled = table[columns][(table[columns] != "").all(axis=1)]
        found = pd.Series(items_by_texts(filled, items))
        if len(found) and found.isin(list(known)).mean() > LIKELY:
            return columns
    return []


def _ways(item: Item) -> Iterator[str]:
    for text in (item.good, item.alternative):
        yield comparable(text)
        yield comparable(item.after_context(text))


def side_of(rows: pd.DataFrame, column: str, versions: Callable[[str], set[str]]) -> Choice | None:
    """Return the choice of a side, if another column gives the version on that side.

    Args:
        rows: The rows of judgments.
        column: The candidate column of sides.
        versions: Returns the versions, of the row's item, in a column.
    """
    values = set(rows[column].map(comparable)) - {""}
    for side in columns_of(rows, "good_side"):
        if side == column:
            # No column has two roles.
            continue
        sides = set(rows[side].map(comparable)) - {""}
        if values & sides and len(values | sides) <= _TWO:
            return Choice({"chosen": column, "good_side": side}, {})
    written = sorted(set(rows[column]) - {""})
    first = next(
        (header for header in columns_of(rows, "option_first") if len(versions(header)) > 1), None
    )
    if first is not None and values and values <= set(_SIDES):
        means = {value: _SIDES[comparable(value)] for value in written}
        return Choice({"chosen": column, "option_first": first}, {"chosen": means})
    if len(written) == _TWO:
        texts = [
            header for header in rows.columns if header != column and len(versions(header)) > 1
        ]
        for first, means in _named_places(texts, written):
            return Choice({"chosen": column, "option_first": first}, {"chosen": means})
    return None


def _named_places(
    columns: Sequence[str], values: Iterable[str]
) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield pairs of text columns whose names start or end with the two values: A and sentenceA."""
    for pair in combinations(columns, _TWO):
        names = [simple(header) for header in pair]
        means = {}
        for value in values:
            word = simple(value)
            fits = [name.startswith(word) or name.endswith(word) for name in names]
            if word and sum(fits) == 1:
                means[value] = _PAIRS[0][fits.index(True)]
        if len(set(means.values())) == _TWO:
            yield pair[0], means


def sides_by_contents(rows: pd.DataFrame, item: str, shown: Sequence[str]) -> Choice | None:
    """Return two columns that contain the same two sides and mostly agree, whatever their names.

    One is the chosen side, the other the expected version's side, which follows from what was shown
    where; without columns of that, the roles are interchangeable: a choice is right if both are
    equal.

    Args:
        rows: The rows of judgments.
        item: The column with the items' ids.
        shown: The columns with the texts on each side.
    """
    held = {header: frozenset(rows[header].map(comparable)) - {""} for header in rows.columns}
    for pair in map(frozenset, (*_PAIRS, *_KEYS)):
        columns = [one for one, values in held.items() if values == pair]
        if len(columns) != _TWO:
            continue
        one, other = columns
        both = rows[(rows[one] != "") & (rows[other] != "")]
        agree = both[one].map(comparable) == both[other].map(comparable)
        if len(both) and agree.mean() >= _AGREE:
            expected = any(word in simple(one) for word in _EXPECTED_WORDS)
            if shown:
                display = rows[[item, *shown]].agg("\n".join, axis=1)
                follows = [_one_for_each(rows[name], display) for name in (one, other)]
                expected = follows[0] if follows[0] != follows[1] else expected
            chosen, good = (other, one) if expected else (one, other)
            return Choice({"chosen": chosen, "good_side": good}, {})
    return None


def _one_for_each(cells: "pd.Series[str]", of: "pd.Series[str]") -> bool:
    """Return whether a column has one value for each value of another, where it has any."""
    filled = cells != ""
    groups = cells[filled].map(comparable).groupby(of[filled])
    return bool((groups.nunique() <= 1).all())


# Usual names of answer columns; a name only decides between otherwise equal candidates.
_ANSWERED = ("rating", "said", "response", "answer", "judg", "accept", "likert", "score", "value",
             "choice", "button", "key", "natural", "plausib")  # fmt: skip
_CHOSEN = ("chosen", "choice", "choose", "chose", "select", "prefer", "pick", "respon", "answer")
_WORDS = (
    ("good", "bad"), ("grammatical", "ungrammatical"), ("acceptable", "unacceptable"),
    ("plausible", "implausible"), ("expected", "unexpected"), ("match", "mismatch"),
    ("congruent", "incongruent"), ("felicitous", "infelicitous"), ("possible", "impossible"),
)  # fmt: skip
_HIGHEST, _FEWEST = 9, 3
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
    alone = all(not known[item_id].written[1] for item_id in rows[item].unique())
    version = None if alone else _version(rows, item, known)
    if version is None and not alone:
        return None
    sentence = rows[item] + "\n" + (rows[version[0]] if version else "")
    taken = {item, person, version[0] if version else None}
    others = [header for header in rows.columns if header not in taken]
    answered = [header for header in others if any(word in simple(header) for word in _ANSWERED)]
    kinds = _kinds(rows, others, sentence, person)
    if not kinds:
        # If the name indicates answers, all participants may have given the same answer.
        told = [header for header in answered if not _DESIGN.search(header)]
        kinds = _kinds(rows, told, None, person)
    if not kinds:
        return None
    columns = {VERSION: version[0]} if version else {}
    values = {VERSION: version[1]} if version and version[1] else {}
    left = [kind for kind in kinds if kind in answered] or list(kinds)
    if len(left) > 1:
        listed = ", ".join(f'"{header}"' for header in left)
        return SingleAnswers(columns, values, (f"one column of answers (there are {listed})",))
    return SingleAnswers(columns | {kinds[left[0]]: left[0]}, values)


def _version(rows: pd.DataFrame, item: str, known: Known) -> tuple[str, dict[str, str]] | None:
    """Return the column of the version shown, and the meaning of its values."""
    for column in rows.columns.drop(item):
        if any(word in simple(column) for word in _CHOSEN):
            continue
        told = versions_beside(rows[item], rows[column], known).dropna()
        good = float((told == Variant.GOOD).mean()) if len(told) else 0.0
        if len(told) > LIKELY * len(rows) and _SHOWN[0] < good < _SHOWN[1]:
            return column, {}
    for column in rows.columns.drop(item):
        values = {
            str(value): str(value).strip().lower() for value in rows[column].unique() if value != ""
        }
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
