"""Pairs as three published sets keep them: marked lines, rows of two, and pickled templates.

CLAMS (Mueller et al. 2020) has lines of ``True<TAB>sentence``, each followed by the same sentence
with ``False``. LM_syneval (Marvin & Linzen 2018) has pickles: a dictionary from conditions to
lists of pairs, or of triples whose second sentence is the intrusive one. The tables of Gulordava
et al. (2018), "Colorless green recurrent networks dream hierarchically", NAACL, have two rows for
each sentence: its right and its wrong form.
"""

import pickle
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from experiment.errors import MaterialsError, shown
from experiment.materials.formats.pairs import Draft
from experiment.materials.formats.raw import RawRow, RawTable, read_text

PICKLES = (".pickle", ".pkl")
_TEXTS = (".txt", ".tsv", ".tab")
_TRIPLE = 3
_COLUMNS = {"pattern", "constr_id", "sent_id", "form", "class", "type", "prefix"}
_CLASSES = ("correct", "wrong")
# What tells more of the sentence, and nothing of a model.
_KEPT = ("correct_number", "n_attr", "punct", "freq", "len_context", "len_prefix")


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
    # A damaged pickle fails with an error of any kind.
    except Exception as error:
        raise _no_templates(f"the pickle cannot be read ({error})", str(path)) from error
    if not isinstance(found, dict):
        raise _no_templates(f"the pickle holds {shown(found)}", str(path))
    drafts = [
        _draft(path, condition, number, versions)
        for condition, every in found.items()
        for number, versions in enumerate(
            every if isinstance(every, list | tuple) else [every], start=1
        )
    ]
    triples = sum(bool(one.distractor) for one in drafts)
    note = (
        f"{triples:,} items have three versions: the first is read as good, the second as "
        "distractor, the third as bad."
    )
    return drafts, ("Read as templates of LM_syneval.", *([note] if triples else []))


def _no_templates(problem: str, where: str) -> MaterialsError:
    return MaterialsError(
        problem,
        where=where,
        expected="a dictionary from conditions to lists of pairs or triples of sentences, as "
        "LM_syneval has them",
    )


def _draft(path: Path, condition: object, number: int, versions: object) -> Draft:
    place = f"{path}, {condition}, {number}"
    several = versions if isinstance(versions, list | tuple) else []
    # Nothing that would have to be written out as a text is taken for one.
    texts = [text for text in (condition, *several) if isinstance(text, str)]
    if len(texts) < 1 + len(several) or len(several) not in (_TRIPLE - 1, _TRIPLE):
        raise _no_templates(f"{shown(versions)} is no pair and no triple of sentences", place)
    name, good, *others = texts
    bad, distractor = others[-1], others[0] if len(several) == _TRIPLE else ""
    return Draft(place, good, bad, distractor=distractor, construction=path.stem, condition=name)


def is_colorless_green(columns: Iterable[str]) -> bool:
    """Return whether a table with these columns is one of theirs."""
    return set(columns) >= _COLUMNS


def read_colorless_green(
    table: RawTable, *, identical: bool = False
) -> tuple[list[Draft], tuple[str, ...]]:
    """Return each sentence's beginning with its two forms, and notes, without models' columns.

    The published Italian table has a sentence whose two forms are one word, which nobody can choose
    between.

    Args:
        table: The file's rows.
        identical: Whether a sentence's two forms may be the same word; else it is left out, with a
            note.

    Raises:
        MaterialsError: A sentence has not exactly one correct and one wrong form.
    """
    sentences: dict[tuple[str, str, str], dict[str, RawRow]] = {}
    for row in table.rows:
        key = (row.values["pattern"], row.values["constr_id"], row.values["sent_id"])
        forms = sentences.setdefault(key, {})
        class_ = row.values["class"]
        if class_ in forms or class_ not in _CLASSES:
            raise MaterialsError(
                f'the sentence {"-".join(key)} has more than one form "{class_}"',
                where=row.place,
                expected="two rows for each sentence, class correct and wrong",
            )
        forms[class_] = row
    drafts = [_sentence_pair(key, forms) for key, forms in sentences.items()]
    same = [] if identical else [draft for draft in drafts if draft.good == draft.bad]
    notes = tuple(
        f'Sentence {draft.item_id} was left out: both of its forms are "{draft.good}", so nobody '
        "could choose between them."
        for draft in same
    )
    return [draft for draft in drafts if draft not in same], notes


def _sentence_pair(key: tuple[str, str, str], forms: dict[str, RawRow]) -> Draft:
    if set(forms) != set(_CLASSES):
        (alone,) = forms.values()
        raise MaterialsError(
            f"the sentence {'-'.join(key)} has only one form",
            where=alone.place,
            expected="two rows for each sentence, class correct and wrong",
        )
    pattern, instance, version = key
    right = forms["correct"].values
    return Draft(
        forms["correct"].place,
        good=right["form"],
        bad=forms["wrong"].values["form"],
        context=right["prefix"],
        item=f"{instance}-{version}",
        item_id="-".join(key),
        condition=right["type"],
        construction=pattern,
        extra={name: right[name] for name in _KEPT if name in right},
    )
