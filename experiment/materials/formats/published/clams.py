"""Pairs of CLAMS: each line ``True<TAB>sentence`` is followed by its counterpart with ``False``.

Mueller, A., Nicolai, G., Petrou-Zeniou, P., Talmina, N., & Linzen, T. (2020). Cross-linguistic
syntactic evaluation of word prediction models. ACL 2020.
"""

from pathlib import Path

from experiment.errors import MaterialsError
from experiment.materials.formats.format import Drafts, Format, ReadOptions
from experiment.materials.formats.pairs import Draft
from experiment.materials.formats.raw import read_text

_SUFFIXES = (".txt", ".tsv", ".tab")


def _is_marked_lines(path: Path) -> bool:
    """Return whether a file's first line is marked True or False, without headers."""
    if path.suffix.lower() not in _SUFFIXES or not path.is_file():
        return False
    with path.open("rb") as file:
        first = file.readline().removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    return first.startswith(("True\t", "False\t"))


def _read(path: Path, terms: ReadOptions) -> Drafts:
    """Return the pairs of a file of marked lines.

    Raises:
        MaterialsError: The file is not text, or a line is not followed by its counterpart.
    """
    text, notes = read_text(path, terms.language)
    lines = [(n, line) for n, line in enumerate(text.splitlines(), start=1) if line.strip()]
    drafts = []
    for (number, good), wrong_line in zip(lines[::2], [*lines[1::2], None], strict=False):
        mark, _, sentence = good.partition("\t")
        wrong_mark, _, wrong = wrong_line[1].partition("\t") if wrong_line else ("", "", "")
        if (mark, wrong_mark) != ("True", "False") or not (sentence.strip() and wrong.strip()):
            raise MaterialsError(
                f'"{good[:60]}" is not followed by its counterpart',
                where=f"{path}, line {number}",
                expected="True, a tab and a sentence; in the next line False, a tab and the same "
                "sentence made wrong",
            )
        location = f"{path}, line {number}"
        drafts.append(
            Draft(location, sentence.strip(), wrong.strip(), construction=path.stem,
                  condition=path.stem)
        )  # fmt: skip
    note = "Read as CLAMS writes pairs: each True line with the False one below."
    return Drafts(drafts, (*notes, note))


FORMAT = Format(
    name="pairs as CLAMS has them",
    documentation="| CLAMS (`.txt`) | lines that begin with `True` or `False` and a tab | each "
    "`True` line and the `False` line below it are a pair; the file's name is the construction |",
    recognises=_is_marked_lines,
    read=_read,
)
