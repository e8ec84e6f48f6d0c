"""Lexicons: words with their forms and inherent features, from a grammar or from tables."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from experiment.errors import MaterialsError, suggest
from experiment.grammar.source import Place, read_cells, read_source
from experiment.grammar.tables import LexiconTable
from experiment.plugins import unknown_name

_COLUMNS = ["lemma", "form", "features"]
_SHOWN = 6


@dataclass(frozen=True, slots=True)
class _Cell:
    """One inflected form.

    Attributes:
        form: The form.
        features: The features as written, such as ``V;PRS;3;SG``.
        where: ``file:line`` of the form.
    """

    form: str
    features: str
    where: str

    @property
    def values(self) -> frozenset[str]:
        """The features as separate values; an underscore replaces signs such as dots in them."""
        return frozenset(re.sub(r"[^\w;]", "_", self.features).split(";"))


@dataclass(frozen=True, slots=True)
class Paradigms:
    """The forms of each lemma in a file."""

    path: Path
    cells: Mapping[str, Sequence[_Cell]]

    def find(self, lemma: str, form: str) -> str:
        """Return the only form of a lemma that has some features.

        Args:
            lemma: The lemma.
            form: The features, separated by spaces.

        Raises:
            MaterialsError: The file lacks the lemma or the form, or has several such forms.
        """
        if lemma not in self.cells:
            raise MaterialsError(
                f'{self.path} has no lemma "{lemma}"',
                expected="a lemma in the first column of that file",
                remedy=suggest(lemma, self.cells),
            )
        of_lemma = self.cells[lemma]
        fitting = {cell.form: cell for cell in of_lemma if cell.values.issuperset(form.split())}
        if not fitting:
            known = [cell.features for cell in of_lemma]
            further = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
            raise MaterialsError(
                f'{self.path} has no form "{form}" of "{lemma}"',
                expected=f"features that it has: {', '.join(known[:_SHOWN])}{further}",
                remedy="Add a line with this form to the file, or leave the word out",
            )
        if len(fitting) > 1:
            one, other, *_ = fitting.values()
            raise MaterialsError(
                f'two forms of "{lemma}" are "{form}": "{one.form}" ({one.features}, {one.where}) '
                f'and "{other.form}" ({other.features}, {other.where})',
                expected="one form",
                remedy="Name a further feature in forms, or remove a line from the file",
            )
        return next(iter(fitting))


def read_paradigms(path: Path) -> Paradigms:
    """Return the paradigms of a file: UniMorph's three columns, or the same as .csv.

    Raises:
        MaterialsError: The file is missing, or a line is not a lemma, a form and features.
    """
    source = read_source(path, "the file of paradigms")
    is_csv = path.suffix == ".csv"
    rows = read_cells(source, "," if is_csv else "\t", quoted=is_csv)
    cells: dict[str, list[_Cell]] = {}
    for number, row in rows:
        if not any(row) or (number == 1 and row == _COLUMNS):
            continue
        if len(row) < len(_COLUMNS) or not all(map(str.strip, row[:3])):
            raise MaterialsError(
                "the line is not a lemma, a form and features",
                where=f"{path}:{number}",
                expected="three columns, such as sleep, sleeps, V;PRS;3;SG",
            )
        lemma, form, features = (" ".join(text.split()) for text in row[:3])
        cells.setdefault(lemma, []).append(_Cell(form, features, f"{path}:{number}"))
    return Paradigms(path, cells)


_WORD = "word"


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Words of one kind.

    Attributes:
        name: The lexicon's name.
        forms: The names of the forms, each one or several values such as "singular accusative";
            empty if the words are not inflected.
        entries: Each word's forms in the order of ``forms``; the first one is the lemma.
        inherent: The features that a word has in all its forms, with each entry's value.
        lines: Where each entry is written, as ``file:line``.
        place: The lexicon's table.
    """

    name: str
    forms: tuple[str, ...]
    entries: tuple[tuple[str, ...], ...]
    inherent: Mapping[str, tuple[str, ...]]
    lines: tuple[str, ...]
    place: Place

    @property
    def values(self) -> tuple[str, ...]:
        """The values that distinguish the forms, in order of appearance."""
        return tuple(dict.fromkeys(value for form in self.forms for value in form.split()))


def read_lexicon(
    name: str,
    table: LexiconTable,
    place: Place,
    read: Callable[[Path], Paradigms] = read_paradigms,
) -> Lexicon:
    """Return the lexicon that a table describes.

    Args:
        name: The lexicon's name.
        table: The table.
        place: Where the table is.
        read: Reads a file of paradigms.

    Raises:
        MaterialsError: An entry has too few or too many forms, a name or lemma occurs twice, or a
            file of words cannot be used.
    """
    forms = _read_names(table.forms, "forms", "singular | plural", place)
    inherent = _read_names(table.inherent, "inherent", "gender | animacy", place)
    if both := set(inherent) & set(forms):
        raise place.error(
            f'"{min(both)}" is both a form and an inherent feature',
            key="inherent",
            expected="a different name for each of the two",
        )
    paradigms = None
    if table.paradigms:
        paradigms = read(place.beside(table.paradigms, "paradigms"))
    columns = (_WORD,) if paradigms or not forms else forms
    rows = list(_list_rows(table, (*columns, *inherent), place))
    if not rows:
        raise place.error(f"the file {table.entries} has no words below its header", key="entries")
    words = [row.cells[: len(columns)] for row in rows]
    if paradigms:
        words = [_inflect(paradigms, forms or (_WORD,), row, place) for row in rows]
    _check_lemmas(rows, [word[0] for word in words], place)
    values = zip(*(row.cells[len(columns) :] for row in rows), strict=True)
    return Lexicon(
        name,
        forms,
        tuple(words),
        dict(zip(inherent, values, strict=True)),
        tuple(row.where for row in rows),
        place,
    )


def _read_names(text: str, key: str, example: str, place: Place) -> tuple[str, ...]:
    names = _split_columns(text) if text else ()
    by_values = {frozenset(name.split()) for name in names}
    if not all(re.fullmatch(r"\w+( \w+)*", name) for name in names) or len(by_values) < len(names):
        raise place.error(
            f'"{text}" does not name the {key}',
            key=key,
            expected=f'different names between bars, such as "{example}"',
        )
    return names


def _split_columns(text: str) -> tuple[str, ...]:
    return tuple(" ".join(column.split()) for column in text.split("|"))


@dataclass(frozen=True, slots=True)
class _Row:
    """One entry as it is written."""

    text: str
    cells: tuple[str, ...]
    where: str


def _list_rows(table: LexiconTable, columns: tuple[str, ...], place: Place) -> Iterator[_Row]:
    if isinstance(table.entries, str):
        yield from _read_rows(place.beside(table.entries, "entries"), columns, place)
        return
    for text in table.entries:
        where = place.source.where(place.kind, place.table, "entries", f'"{text}"')
        row = _Row(text, _split_columns(text), where)
        _check_row(row, columns, place)
        yield row


def _read_rows(path: Path, columns: tuple[str, ...], place: Place) -> Iterator[_Row]:
    """Yield the rows of a file whose header names at least these columns."""
    source = read_source(path, "the file of words")
    lines = read_cells(source, "\t" if path.suffix == ".tsv" else ",")
    _, names = next(lines, (1, []))
    header = [" ".join(name.split()) for name in names]
    for column in columns:
        if column not in header:
            unknown = unknown_name("column", column, header)
            raise MaterialsError(
                f"{place.title}: {unknown.problem}",
                where=f"{path}:1",
                expected=f"a column for each of {', '.join(columns)}",
                remedy=unknown.remedy,
            )
    positions = [header.index(column) for column in columns]
    for number, cells in lines:
        if not any(cells):
            continue
        padded = [*cells, *[""] * (len(header) - len(cells))]
        words = tuple(" ".join(padded[position].split()) for position in positions)
        row = _Row(" | ".join(words), words, f"{path}:{number}")
        _check_row(row, columns, place)
        yield row


def _check_row(row: _Row, columns: tuple[str, ...], place: Place) -> None:
    pairs = list(zip_longest(columns, row.cells))
    missing = [name for name, word in pairs if name and not word]
    if missing:
        expected = " | ".join(word or f"<{name}>" for name, word in pairs if name)
        raise _make_row_error(
            row, f'the entry "{row.text}" lacks {", ".join(missing)}', f'"{expected}"', place
        )
    if len(row.cells) > len(columns):
        raise _make_row_error(
            row,
            f'the entry "{row.text}" has {len(row.cells)} columns where the lexicon has '
            f"{len(columns)}",
            f'one word for each of "{" | ".join(columns)}"',
            place,
        )


def _make_row_error(
    row: _Row, problem: str, expected: str, place: Place, remedy: str = ""
) -> MaterialsError:
    return MaterialsError(
        f"{place.title}: {problem}", where=row.where, expected=expected, remedy=remedy
    )


def _inflect(
    paradigms: Paradigms, forms: tuple[str, ...], row: _Row, place: Place
) -> tuple[str, ...]:
    """Return the forms of a row's lemma."""
    lemma = row.cells[0]
    try:
        return tuple(paradigms.find(lemma, form) for form in forms)
    except MaterialsError as error:
        raise _make_row_error(row, error.problem, error.expected, place, error.remedy) from error


def _check_lemmas(rows: list[_Row], lemmas: list[str], place: Place) -> None:
    first: dict[str, _Row] = {}
    for row, lemma in zip(rows, lemmas, strict=True):
        if lemma in first:
            raise _make_row_error(
                row,
                f'two entries begin with "{lemma}"; the other is at {first[lemma].where}',
                "a different first form in each entry, because it names the entry",
                place,
            )
        first[lemma] = row


def check_agreement(lexicons: Mapping[str, Lexicon]) -> None:
    """Raise a MaterialsError if two lexicons give the same word different inherent features."""
    seen: dict[tuple[str, tuple[str, ...]], tuple[str, str, str]] = {}
    for lexicon in lexicons.values():
        for feature, values in lexicon.inherent.items():
            for entry, value, where in zip(lexicon.entries, values, lexicon.lines, strict=True):
                other_value, other_name, other_where = seen.setdefault(
                    (feature, entry), (value, lexicon.name, where)
                )
                if other_value != value:
                    raise MaterialsError(
                        f'two lexicons disagree: the {feature} of "{entry[0]}" is "{value}" in '
                        f'"{lexicon.name}" and "{other_value}" in "{other_name}" ({other_where})',
                        where=where,
                        expected="the same value in both",
                    )
