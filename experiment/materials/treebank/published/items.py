"""Published test sets as items, and the published result tables."""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from experiment.errors import MaterialsError, TableError, why_unread
from experiment.materials.treebank.agreement_test import AgreementTest, make_item
from experiment.materials.treebank.published.generated import (
    SENTENCE_END,
    Key,
    agreement_tests,
    read_generated,
    read_lines,
    read_sentences,
)
from experiment.records import Item, Kind
from experiment.tables.atomic_write import atomic_write

KEYS = ("pattern", "constr_id", "sent_id")
COLUMNS = (
    *KEYS, "correct_number", "form", "class", "type", "prefix", "n_attr", "punct", "freq",
    "len_context", "len_prefix", "sent",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ResultsTable:
    """A published table with two rows per sentence: its correct and its wrong form.

    Attributes:
        columns: The names of the columns; those after ``sent`` are models' log-probabilities in
            nats, and further columns (``full_id``, ``mturk_count``).
        rows: The values by column, as in the file.
    """

    columns: tuple[str, ...]
    rows: list[dict[str, str]]

    def attractors(self) -> dict[Key, int]:
        """Return the number of attractors of each sentence."""
        return {key_of(row): int(row["n_attr"]) for row in self.rows}

    def pairs(self, column: str) -> Iterator[tuple[dict[str, str], float, float]]:
        """Yield each sentence's correct row, and a column's values for correct and wrong."""
        correct = {key_of(row): row for row in self.rows if row["class"] == "correct"}
        wrong = {key_of(row): row for row in self.rows if row["class"] == "wrong"}
        for key, row in correct.items():
            yield row, float(row[column]), float(wrong[key][column])


def key_of(row: Mapping[str, str]) -> Key:
    """Return the unique key of a row's sentence."""
    return row["pattern"], int(row["constr_id"]), int(row["sent_id"])


def read_results(path: Path) -> ResultsTable:
    """Return a published table.

    Raises:
        TableError: The file is missing, not text, or lacks a column.
    """
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file, delimiter="\t")
            columns, rows = tuple(reader.fieldnames or ()), list(reader)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise TableError(
            f"the table cannot be read ({why_unread(error)})",
            where=str(path),
            expected="a UTF-8 text table",
        ) from error
    if missing := [name for name in COLUMNS if name not in columns]:
        raise TableError(
            f"the table lacks the column(s) {', '.join(missing)}",
            where=str(path),
            expected=f"the columns {', '.join(COLUMNS)}",
        )
    return ResultsTable(columns, rows)


def write_results(path: Path, results: ResultsTable) -> None:
    """Write a table in the format of the published tables."""
    with atomic_write(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, results.columns, delimiter="\t", lineterminator="\n")
        writer.writeheader()
        writer.writerows(results.rows)


def results_of(tests: Iterable[AgreementTest], frequencies: Mapping[str, int]) -> ResultsTable:
    """Return the table of agreement tests, to which models' columns can be added.

    Args:
        tests: The sentences.
        frequencies: The number of a form's occurrences in the training text; 0 if missing.
    """
    rows = [row for test in tests for row in _make_rows(test, frequencies)]
    return ResultsTable(COLUMNS, rows)


def _make_rows(test: AgreementTest, frequencies: Mapping[str, int]) -> Iterator[dict[str, str]]:
    for form, class_ in ((test.good, "correct"), (test.bad, "wrong")):
        values = (
            test.construction, test.instance, test.version, test.number, form, class_,
            "generated" if test.version else "original", " ".join(test.words[: test.target]),
            test.attractors, "PUNCT" in test.tags, frequencies.get(form, 0),
            test.target - test.cue, test.target, " ".join([*test.words, SENTENCE_END]),
        )  # fmt: skip
        yield dict(zip(COLUMNS, map(str, values), strict=True))


_COLUMNS_OF_SUBJECT_VERB = 4
CONSTRUCTION = "subject_verb_agreement"
_COLUMNS = 4
_TARGET = 0


@dataclass(frozen=True, slots=True)
class SubjectVerb:
    """A sentence of the subject-verb agreement set of Linzen et al. (2016).

    Attributes:
        target: The verb's index, from 0.
        correct: The verb in the sentence.
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

    The number of columns distinguishes the sets of Gulordava et al. (2018) from that of Linzen et
    al. (2016). For the former, ``stem.tab`` gives the attractors; without this file they are 0.

    Raises:
        MaterialsError: A file is missing or the three are inconsistent; with file:line.
        TableError: The table lacks a column.
    """
    first = next(iter(read_lines(Path(f"{stem}.gold"))), "")
    if len(first.split("\t")) == _COLUMNS_OF_SUBJECT_VERB:
        return subject_verb_items(read_subject_verb(stem))
    table = Path(f"{stem}.tab")
    attractors = read_results(table).attractors() if table.is_file() else None
    return [make_item(test) for test in agreement_tests(read_generated(stem), attractors)]


def read_subject_verb(stem: Path) -> list[SubjectVerb]:
    """Return the sentences of ``stem.text``, ``stem.gold`` and ``stem.eval``, in order.

    Raises:
        MaterialsError: A file is missing or the three are inconsistent; with file:line.
    """
    sentences = []
    for number, (values, words) in enumerate(read_sentences(stem, _COLUMNS, _TARGET), start=1):
        target, correct, wrong, attractors = values
        if not attractors.isdecimal():
            raise MaterialsError(
                f'the number of attractors is "{attractors}"', where=f"{stem}.gold:{number}"
            )
        words = words[:-1] if words[-1] == SENTENCE_END else words
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
