"""Pairs as two published sets keep them: lines marked True or False, and pickled templates.

CLAMS (Mueller et al. 2020) has lines of ``True<TAB>sentence``, each followed by the same sentence
with ``False``. LM_syneval (Marvin & Linzen 2018) has pickles: a dictionary from conditions to lists
of pairs, or of triples whose second sentence is the intrusive one.
"""

import pickle
from pathlib import Path
from typing import Any

from experiment.errors import MaterialsError
from experiment.materials.formats.pairs import Draft
from experiment.materials.formats.raw import read_text

PICKLES = (".pickle", ".pkl")
_TEXTS = (".txt", ".tsv", ".tab")
_TRIPLE = 3


def is_marked_lines(path: Path) -> bool:
    """Return whether a file begins with a line that is marked True or False, and has no headers."""
    if path.suffix.lower() not in _TEXTS or not path.is_file():
        return False
    with path.open("rb") as file:
        first = file.readline().removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    return first.startswith(("True\t", "False\t"))


def read_marked_lines(path: Path) -> tuple[list[Draft], tuple[str, ...]]:
    """Return the pairs of a file of marked lines, and what was decided.

    Raises:
        MaterialsError: The file is no text, or a line is not followed by its counterpart.
    """
    text, notes = read_text(path)
    lines = [(n, one) for n, one in enumerate(text.splitlines(), start=1) if one.strip()]
    drafts = []
    for (number, good), other in zip(lines[::2], [*lines[1::2], None], strict=False):
        mark, _, sentence = good.partition("\t")
        wrong_mark, _, wrong = other[1].partition("\t") if other else ("", "", "")
        if (mark, wrong_mark) != ("True", "False") or not (sentence.strip() and wrong.strip()):
            raise MaterialsError(
                f'"{good[:60]}" is not followed by its counterpart',
                where=f"{path}, line {number}",
                expected="True, a tab and a sentence; in the next line False, a tab and the same "
                "sentence made wrong",
            )
        place = f"{path}, line {number}"
        drafts.append(
            Draft(place, sentence.strip(), wrong.strip(), construction=path.stem,
                  condition=path.stem)
        )  # fmt: skip
    return drafts, (*notes, "Read as CLAMS writes pairs: each True line with the False one below.")


def is_templates(path: Path) -> bool:
    """Return whether a file's name is one of a pickle."""
    return path.suffix.lower() in PICKLES


class _Plain(pickle.Unpickler):
    """Reads lists, tuples, dictionaries and texts, and refuses whatever names a class."""

    def find_class(self, module: str, name: str) -> Any:  # noqa: ANN401
        raise pickle.UnpicklingError(f"it names {module}.{name}, which is not run")


def read_templates(path: Path) -> tuple[list[Draft], tuple[str, ...]]:
    """Return the items of a pickle of LM_syneval, and what was decided. Nothing in it is run.

    Raises:
        MaterialsError: It is not such a pickle.
    """
    try:
        with path.open("rb") as file:
            found = _Plain(file, encoding="utf-8").load()
        drafts = [
            _draft(path, _text(condition), number, tuple(map(_text, versions)))
            for condition, every in found.items()
            for number, versions in enumerate(every, start=1)
        ]
    # A damaged pickle fails with an error of any kind.
    except Exception as error:
        raise MaterialsError(
            f"the pickle cannot be read ({error})",
            where=str(path),
            expected="a dictionary from conditions to lists of pairs or triples of sentences, as "
            "LM_syneval has them",
        ) from error
    triples = sum(bool(one.distractor) for one in drafts)
    note = (
        f"{triples:,} items have three versions: the first is read as good, the second as "
        "distractor, the third as bad."
    )
    return drafts, ("Read as templates of LM_syneval.", *([note] if triples else []))


def _draft(path: Path, condition: str, number: int, versions: tuple[str, ...]) -> Draft:
    good, *others = versions
    bad, distractor = others[-1], others[0] if len(versions) == _TRIPLE else ""
    place = f"{path}, {condition}, {number}"
    return Draft(
        place, good, bad, distractor=distractor, construction=path.stem, condition=condition
    )


def _text(value: object) -> str:
    """Return a text of a pickle, and nothing that would have to be written out as one."""
    if not isinstance(value, str):
        raise TypeError(f"a {type(value).__name__} stands where a sentence should")
    return value
