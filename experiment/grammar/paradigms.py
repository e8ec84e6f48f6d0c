"""Tables of inflected forms: lemma, form and features, as UniMorph publishes them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from experiment.errors import MaterialsError, suggest
from experiment.grammar.source import read_cells, read_source

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
