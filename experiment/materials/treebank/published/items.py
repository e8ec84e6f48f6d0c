"""Published test sets as items, among them ``subj_agr_filtered`` of Linzen et al. (2016)."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from experiment.errors import MaterialsError
from experiment.materials.treebank.agreement_test import item
from experiment.materials.treebank.published.generated import agreement_tests, read_generated
from experiment.materials.treebank.published.lines import (
    END,
    read_lines,
    read_sentences,
)
from experiment.materials.treebank.published.results import read_results
from experiment.records import Item, Kind

_COLUMNS_OF_SUBJECT_VERB = 4
CONSTRUCTION = "subject_verb_agreement"
_COLUMNS = 4
_TARGET = 0


@dataclass(frozen=True, slots=True)
class SubjectVerb:
    """A sentence of the set.

    Attributes:
        target: The verb's index, from 0.
        correct: The verb as it stands.
        wrong: The verb in the other number.
        attractors: Nouns of the other number between subject and verb.
        words: The sentence without the closing ``<eos>``.
    """

    target: int
    correct: str
    wrong: str
    attractors: int
    words: tuple[str, ...]


def published_items(stem: Path) -> list[Item]:
    """Return the items of ``stem.text``, ``stem.gold`` and ``stem.eval``.

    The number of columns tells the sets of Gulordava et al. (2018) from that of Linzen et al.
    (2016). Of the former, ``stem.tab`` tells the attractors; without it there are none.

    Raises:
        MaterialsError: A file is missing or the three do not fit together; with file:line.
        TableError: The table lacks a column.
    """
    first = next(iter(read_lines(Path(f"{stem}.gold"))), "")
    if len(first.split("\t")) == _COLUMNS_OF_SUBJECT_VERB:
        return subject_verb_items(read_subject_verb(stem))
    table = Path(f"{stem}.tab")
    attractors = read_results(table).attractors() if table.is_file() else None
    return [item(test) for test in agreement_tests(read_generated(stem), attractors)]


def read_subject_verb(stem: Path) -> list[SubjectVerb]:
    """Return the sentences of ``stem.text``, ``stem.gold`` and ``stem.eval``, in their order.

    Raises:
        MaterialsError: A file is missing or the three do not fit together; with file:line.
    """
    sentences = []
    for number, (values, words) in enumerate(read_sentences(stem, _COLUMNS, _TARGET), start=1):
        target, correct, wrong, attractors = values
        if not attractors.isdecimal():
            raise MaterialsError(
                f'the number of attractors is "{attractors}"', where=f"{stem}.gold:{number}"
            )
        words = words[:-1] if words[-1] == END else words
        sentences.append(SubjectVerb(int(target), correct, wrong, int(attractors), words))
    return sentences


def subject_verb_items(sentences: Sequence[SubjectVerb]) -> list[Item]:
    """Return the sentences as items, with the number of attractors as their condition."""
    return [
        Item(
            item_id=f"{CONSTRUCTION}-{number}",
            kind=Kind.TARGET,
            construction=CONSTRUCTION,
            condition=f"attractors {sentence.attractors}",
            template=CONSTRUCTION,
            features=f"attractors={sentence.attractors}",
            frame=f"sentence={number}",
            context=" ".join(sentence.words[: sentence.target]),
            good=sentence.correct,
            bad=sentence.wrong,
        )
        for number, sentence in enumerate(sentences)
    ]
