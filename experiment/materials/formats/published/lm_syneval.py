"""Templates of LM_syneval: a pickled dictionary from conditions to lists of pairs or triples.

Marvin, R., & Linzen, T. (2018). Targeted syntactic evaluation of language models. EMNLP 2018. The
second sentence of a triple is the intrusive one.
"""

import pickle
from pathlib import Path
from typing import Any

from experiment.errors import MaterialsError, format_value
from experiment.materials.formats.format import Drafts, Format, ReadOptions
from experiment.materials.formats.pairs import Draft

_SUFFIXES = (".pickle", ".pkl")
_TRIPLE = 3


class _Plain(pickle.Unpickler):
    """An unpickler for lists, tuples, dictionaries and texts that refuses any class."""

    def find_class(self, module: str, name: str) -> Any:  # noqa: ANN401
        raise pickle.UnpicklingError(f"it names {module}.{name}, which is not run")


def _read(path: Path, _: ReadOptions) -> Drafts:
    """Return the items of a pickle of LM_syneval, without executing anything in it.

    Raises:
        MaterialsError: The file is not such a pickle.
    """
    try:
        with path.open("rb") as file:
            document = _Plain(file, encoding="utf-8").load()
    # A damaged pickle can raise any kind of error.
    except Exception as error:
        raise _make_no_templates_error(f"the pickle cannot be read ({error})", str(path)) from error
    if not isinstance(document, dict):
        raise _make_no_templates_error(f"the pickle holds {format_value(document)}", str(path))
    drafts = [
        _make_draft(path, condition, number, versions)
        for condition, pairs in document.items()
        for number, versions in enumerate(
            pairs if isinstance(pairs, list | tuple) else [pairs], start=1
        )
    ]
    triples = sum(bool(draft.distractor) for draft in drafts)
    note = (
        f"{triples:,} items have three versions: the first is read as good, the second as "
        "distractor, the third as bad."
    )
    return Drafts(drafts, ("Read as templates of LM_syneval.", *([note] if triples else [])))


def _make_no_templates_error(problem: str, location: str) -> MaterialsError:
    return MaterialsError(
        problem,
        where=location,
        expected="a dictionary from conditions to lists of pairs or triples of sentences, as "
        "LM_syneval has them",
    )


def _make_draft(path: Path, condition: object, number: int, versions: object) -> Draft:
    location = f"{path}, {condition}, {number}"
    several = versions if isinstance(versions, list | tuple) else []
    # Only strings are accepted as texts; other values are not converted.
    texts = [text for text in (condition, *several) if isinstance(text, str)]
    if len(texts) < 1 + len(several) or len(several) not in (_TRIPLE - 1, _TRIPLE):
        raise _make_no_templates_error(
            f"{format_value(versions)} is neither a pair nor a triple of sentences", location
        )
    name, good, *other_texts = texts
    bad, distractor = other_texts[-1], other_texts[0] if len(several) == _TRIPLE else ""
    return Draft(location, good, bad, distractor=distractor, construction=path.stem, condition=name)


FORMAT = Format(
    name="templates of LM_syneval",
    documentation="| templates of LM_syneval (`.pickle`) | the file's ending | a "
    "dictionary from conditions to pairs or triples; the second "
    "sentence of a triple is the distractor. Parallax runs no code "
    "from the pickle |",
    recognises=lambda path: path.suffix.lower() in _SUFFIXES,
    read=_read,
    suffixes=_SUFFIXES,
)
