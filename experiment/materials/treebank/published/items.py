"""A published test set as items, which scoring, lists and serving read like any others."""

from pathlib import Path

from experiment.materials.treebank.agreement_test import item
from experiment.materials.treebank.published.generated import agreement_tests, read_generated
from experiment.materials.treebank.published.lines import read_lines
from experiment.materials.treebank.published.linzen import read_subject_verb, subject_verb_items
from experiment.materials.treebank.published.results import read_results
from experiment.records import Item

_COLUMNS_OF_SUBJECT_VERB = 4


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
