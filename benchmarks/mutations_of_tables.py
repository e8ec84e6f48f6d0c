"""Change 40 files of others in 1,000 ways, and see whether each is read to its number or refused.

    python -m benchmarks.mutations_of_tables [CLONES] [--mutations 1000] [--seed 1] [--only N]

The files are those of public_files.toml that are read to their number, each cut to its first rows.
Every mutation applies one operator to the file's cells, and knows what is right afterwards: the
same number, if the operator loses no information; otherwise the number that pandas computes from
the changed table, or a refusal, or a refusal alone.

Each mutation ends as "right", "refused truly", "refused needlessly" (nothing was lost), "WRONG"
(read to another number, or although it must be refused) or "trace" (an exception without message).
"""

import argparse
import os
import random
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import pandas as pd

from analysis.readers.mapping import LONG
from analysis.readers.reading_times.mapped.mapping import USUAL
from benchmarks.public_files import REGISTRY, PublicFile, alike, attempt, evaluate, files, load

RIGHT, TRULY, NEEDLESSLY, WRONG, TRACE = (
    "right", "refused truly", "refused needlessly", "WRONG", "trace",
)  # fmt: skip
_FILES = 40
_ROWS = (40, 200, 1_000_000)
_MARKS = ("NA", "N/A", "NaN", "null", "")
_SPACES = (" ", "  ", "\t")
_NEARLY_ALL = 0.97


@dataclass(frozen=True)
class Base:
    """A good file, cut to its first rows: how it is read, and its cells."""

    file: PublicFile
    table: pd.DataFrame

    @property
    def named(self) -> list[str]:
        """The columns that the right number is computed from."""
        used = f"{self.file.right} {self.file.table}"
        return [
            c
            for c in self.table
            if re.search(rf"(?<![\w']){re.escape(c)}(?![\w'])|'{re.escape(c)}'", used)
        ]

    @property
    def unread(self) -> list[str]:
        """The columns of the number that the file's mapping does not name, if it names any.

        What it does not name is not read, but for columns that have Parallax's own names: the
        number stands without it.
        """
        mapping = self.file.mapping
        named = [c for c in self.named if c in (*LONG, *USUAL) or f'"{c}"' in mapping]
        return [c for c in self.named if "[columns]" in mapping and c not in named]

    def right(self, table: pd.DataFrame) -> list[float]:
        """Return the number that is right for a table with these columns."""
        return [float(number) for number in evaluate(self.file.right, t=table)]


@dataclass(frozen=True)
class Mutation:
    """A changed file: its cells, how it is read now, and the numbers that may be read from it.

    Attributes:
        table: The cells.
        file: The file with its options and mapping, which follow renamed headers.
        right: The right number; None if only a refusal is right.
        lost: Whether a refusal is right too.
    """

    table: pd.DataFrame
    file: PublicFile
    right: list[float] | None
    lost: bool


def rename(base: Base, headers: dict[str, str]) -> Mutation:
    """Return a table with other headers, which options and mapping follow."""
    options = [_followed(option, headers) for option in base.file.options]
    mapping = base.file.mapping
    for old, new in headers.items():
        mapping = mapping.replace(f'"{old}"', f'"{new}"')
    file = replace(base.file, options=options, mapping=mapping)
    return Mutation(base.table.rename(columns=headers), file, base.right(base.table), False)


def _followed(option: str, headers: dict[str, str]) -> str:
    ours, named, header = option.partition("=")
    return f"{ours}={headers.get(header, header)}" if named else option


def header_renamed(base: Base, draw: random.Random) -> Mutation:
    """Give a column another header, which says nothing of its role.

    A column with a single value says nothing of it either, so its role would be lost.
    """
    varied = [column for column in base.table if base.table[column].nunique() > 1]
    return replace(rename(base, {draw.choice(varied): "column_7"}), lost=True)


def role_doubled(base: Base, draw: random.Random) -> Mutation:
    """Repeat a column of the number, under another header."""
    column, table = draw.choice(base.named), base.table.copy()
    table.insert(draw.randint(0, len(table.columns)), f"{column}_copy", table[column])
    return Mutation(table, base.file, base.right(base.table), False)


def case_changed(base: Base, draw: random.Random) -> Mutation:
    """Write every header in other letters."""
    change = draw.choice([str.upper, str.lower, str.title])
    headers = {column: change(column) for column in base.table}
    if len({*headers.values()}) < len(headers):
        headers = {}
    return rename(base, headers)


def column_dropped(base: Base, draw: random.Random) -> Mutation:
    """Leave out a column: one that the number needs must be missed, unless another says it."""
    column = draw.choice(list(base.table))
    lost = column in _needed(base) and not _is_repeated(base.table, column)
    lost = lost and column not in base.unread and not _is_told_by_texts(base, column)
    right = None if lost else base.right(base.table)
    return Mutation(base.table.drop(columns=column), base.file, right, True)


def _is_repeated(table: pd.DataFrame, column: str) -> bool:
    """Return whether a column of two values is another's opposite or copy, as Incorrect is."""
    two = 2
    others = [table[other] for other in table if other != column]
    return table[column].nunique() == two and any(
        other.nunique() == two == len({*zip(table[column], other, strict=True)}) for other in others
    )


def _is_told_by_texts(base: Base, column: str) -> bool:
    """Return whether a column of the items' texts determines a column of the table."""
    if not base.file.table:
        return False
    _, *item_texts = evaluate(base.file.table, t=base.table)
    texts = {str(text) for values in item_texts for text in values}
    others = [other for other in base.table if other != column]
    return any(
        set(base.table[other]) <= texts and base.table.groupby(other)[column].nunique().max() == 1
        for other in others
    )


def _needed(base: Base) -> list[str]:
    """Return the columns without which the number is lost.

    The parts of the items' ids are none of them where the items' texts tell the items apart.
    """
    if not base.file.table:
        return base.named
    ids, *item_texts = evaluate(base.file.table, t=base.table)
    items = pd.DataFrame(
        {"id": list(ids), "text": ["\t".join(t) for t in zip(*item_texts, strict=True)]}
    )
    if items.drop_duplicates()["text"].duplicated().any():
        return base.named
    texts = [set(map(str, column)) for column in item_texts]
    return [
        column
        for column in base.named
        if re.search(rf"\b{re.escape(column)}\b", base.file.right)
        or set(base.table[column]) in texts
    ]


def rows_shifted(base: Base, draw: random.Random) -> Mutation:
    """Move one column down by a row, which must be refused where the texts show it."""
    column, table = draw.choice(base.named), base.table.copy()
    table[column] = [*table[column].iloc[-1:], *table[column].iloc[:-1]]
    if column in base.unread:
        return Mutation(table, base.file, base.right(base.table), True)
    others = [other for other in base.named if other != column]
    seen = any(_shows_shift(base.table[column], base.table[other]) for other in others)
    return Mutation(table, base.file, None if seen else _right_if_any(base, table), True)


def _right_if_any(base: Base, table: pd.DataFrame) -> list[float] | None:
    """Return the number that is right for a changed table; None if it has none."""
    try:
        return base.right(table)
    except ValueError:
        return None


def _shows_shift(column: pd.Series, other: pd.Series) -> bool:
    """Return whether each text resembles that of its row more than that of the row above."""
    texts = [[{*pairwise(text)} for text in c] for c in (column, other)]
    above = [*texts[0][-1:], *texts[0][:-1]]
    alike = [
        len(mine & its) > len(before & its)
        for mine, before, its in zip(texts[0], above, texts[1], strict=True)
    ]
    return sum(alike) > _NEARLY_ALL * len(alike)


def rows_shuffled(base: Base, draw: random.Random) -> Mutation:
    """Write the rows in another order."""
    order = draw.sample(range(len(base.table)), len(base.table))
    table = base.table.iloc[order].reset_index(drop=True)
    ordered = base.file.path.endswith(".txt")  # Lines that follow one another are a pair.
    return Mutation(table, base.file, base.right(base.table), ordered)


def missing_marked(base: Base, draw: random.Random) -> Mutation:
    """Mark some cells of the number's first column as missing: their rows are no answers."""
    used = [column for column in base.named if column in base.file.right]
    column, mark = min(used, key=base.file.right.index), draw.choice(_MARKS)
    table = base.table.copy()
    gone = draw.sample(range(len(table)), max(1, len(table) // 20))
    table.loc[table.index[gone], column] = mark
    if column in base.unread:
        return Mutation(table, base.file, base.right(base.table), True)
    # A version may be left without its counterpart.
    right = _right_if_any(base, base.table.drop(index=base.table.index[gone]))
    # A count of people is no answer that may be missing.
    lost = base.file.run != "judgments" or bool(base.file.ours)
    return Mutation(table, base.file, right, lost)


def space_changed(base: Base, draw: random.Random) -> Mutation:
    """Put white space around cells and headers, but where white space divides them."""
    space = "" if base.file.read.get("sep") == r"\s+" else draw.choice(_SPACES)
    table = base.table.map(lambda cell: f"{space}{cell}{space}" if cell else cell)
    table.columns = [f"{column}{space.rstrip(chr(9))}" for column in table]
    return Mutation(table, base.file, base.right(base.table), False)


OPERATORS: dict[str, Callable[[Base, random.Random], Mutation]] = {
    "header renamed": header_renamed,
    "role column doubled": role_doubled,
    "case of headers changed": case_changed,
    "column dropped": column_dropped,
    "column shifted by a row": rows_shifted,
    "rows in another order": rows_shuffled,
    "missing values marked": missing_marked,
    "white space changed": space_changed,
}


def write(table: pd.DataFrame, path: Path, file: PublicFile) -> None:
    """Write cells in the file's own format."""
    if path.suffix == ".jsonl":
        table.to_json(path, orient="records", lines=True, force_ascii=False)
        return
    separator = {".csv": ",", ".tsv": "\t", ".tab": "\t"}.get(path.suffix, "\t")
    told = str(file.read.get("sep", separator))
    table.to_csv(path, sep=told if len(told) == 1 else " ", index=False)


def bases(clones: Path, registry: Path) -> list[Base]:
    """Return the good files, each cut to the first rows from which it is read to their number."""
    read = [file for file in files(registry) if file.right]
    further = [
        replace(file, path=path, name=Path(path).stem) for file in read for path in file.more
    ]
    tables = [*read, *further]
    found = (base for file in tables if (base := _base(file, clones)))
    return [base for base, _ in zip(found, range(_FILES), strict=False)]


def _base(file: PublicFile, clones: Path) -> Base | None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if not file.fetch(clones, folder):
            return None
        table = load(folder / Path(file.path).name, file.read)
    if not isinstance(table, pd.DataFrame) or "names" in file.read:
        return None
    for rows in _ROWS:
        base = Base(file, table.head(rows))
        if (
            base.named
            and verdict(Mutation(base.table, file, base.right(base.table), False), clones)[0]
            == RIGHT
        ):
            return base
    return None


def verdict(mutation: Mutation, clones: Path) -> tuple[str, str]:
    """Read a changed file; return how it ends, and the numbers or the message."""
    file = mutation.file
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file.fetch(clones, folder)
        path = file.prepare(folder)
        write(mutation.table, path, file)
        ours, reason = attempt(file, path, folder)
    if ours:
        is_right = mutation.right is not None and alike(ours, mutation.right)
        return (RIGHT if is_right else WRONG), f"{ours} for {mutation.right}"
    if reason.startswith("trace"):
        return TRACE, reason
    return (TRULY if mutation.lost else NEEDLESSLY), reason


def main() -> None:
    """Print each mutation that does not end well, then the table by operator."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clones", type=Path, nargs="?", default=os.environ.get("PUBLISHED_CLONES"))
    parser.add_argument("--files", type=Path, default=REGISTRY, help="another registry of files")
    parser.add_argument("--mutations", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, action="append", help="the mutations of this number")
    options = parser.parse_args()
    if options.clones is None:
        parser.error("which clones? Name the folder")
    clones = Path(options.clones)
    good = bases(clones, options.files)
    print(f"{len(good)} files: {', '.join(base.file.name for base in good)}\n", flush=True)
    ends: dict[str, Counter[str]] = {name: Counter() for name in OPERATORS}
    for number in options.only or range(options.mutations if good else 0):
        base = good[number % len(good)]
        operator = list(OPERATORS)[(number // len(good)) % len(OPERATORS)]
        mutation = OPERATORS[operator](base, random.Random(f"{options.seed} {number}"))
        end, told = verdict(mutation, clones)
        ends[operator][end] += 1
        if end not in (RIGHT, TRULY):
            print(f"{number} {base.file.name}, {operator}: {end}: {told[:300]}", flush=True)
    print(*by_operator(ends), sep="\n")


def by_operator(ends: dict[str, Counter[str]]) -> Sequence[str]:
    """Return the lines of the table by operator, with a last line for all."""
    columns = (RIGHT, TRULY, NEEDLESSLY, WRONG, TRACE)
    every = {**ends, "all": sum(ends.values(), Counter())}
    return [
        f"\n| Operator | {' | '.join(columns)} |\n|---|{'---|' * len(columns)}",
        *(
            f"| {name} | {' | '.join(str(counts[column]) for column in columns)} |"
            for name, counts in every.items()
        ),
    ]


if __name__ == "__main__":
    main()
