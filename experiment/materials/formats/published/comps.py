"""Pairs of COMPS: two subjects, of which one has the property that the rest of the sentence states.

Misra, K., Rayz, J., & Ettinger, A. (2023). COMPS: Conceptual minimal pair sentences for testing
robust property knowledge and its inheritance in pre-trained language models. EACL 2023.
"""

from pathlib import Path

from experiment.errors import MaterialsError
from experiment.materials.formats.format import Drafts, Format, ReadOptions
from experiment.materials.formats.pairs import Draft
from experiment.materials.formats.raw import read_raw
from experiment.records import join_context

_GOOD, _BAD, _REST = "prefix_acceptable", "prefix_unacceptable", "property_phrase"
_SUFFIXES = (".jsonl", ".json")


def _is_comps(path: Path) -> bool:
    if path.suffix.lower() not in _SUFFIXES or not path.is_file():
        return False
    with path.open("rb") as file:
        first = file.read(100_000).partition(b"}")[0]
    return all(f'"{name}"'.encode() in first for name in (_GOOD, _BAD, _REST))


def _read(path: Path, terms: ReadOptions) -> Drafts:
    """Return a pair of whole sentences for each row.

    Raises:
        MaterialsError: The file is no JSON, or a row lacks a part of its sentences.
    """
    table = read_raw(path, terms.language)
    drafts = []
    for row in table.rows:
        if empty := [name for name in (_GOOD, _BAD, _REST) if not row.values.get(name)]:
            raise MaterialsError(
                f"the row has no {empty[0]}",
                where=row.place,
                expected=f"{_GOOD}, {_BAD} and {_REST} in every row",
            )
        good, bad = (join_context(row.values[name], row.values[_REST]) for name in (_GOOD, _BAD))
        drafts.append(Draft(row.place, good, bad, construction=path.stem, extra=dict(row.values)))
    note = "Read as COMPS: each sentence is a prefix and the property_phrase of its row."
    return Drafts(drafts, (*table.notes, note))


FORMAT = Format(
    name="pairs of COMPS",
    documentation="| COMPS (`.jsonl`) | `prefix_acceptable`, `prefix_unacceptable`, "
    "`property_phrase` | each prefix with the property phrase is a sentence; the file's name is "
    "the construction |",
    recognises=_is_comps,
    read=_read,
)
