"""Compare what two versions made of one study with the same seeds, table by table.

Usage: python benchmarks/same_study.py FOLDER_BEFORE FOLDER_AFTER

Each folder is one that ``parallax demo`` (``make study``) filled: ``instance/studies/NAME-...``.
For every table that both have, the first of these lines that is true is printed:

bytes       the files are the same, byte for byte
rows        the rows are the same; only what the file says of its making differs, which is named
references  the same once people are called by list and place, and times are left out
columns     so are all columns that both have; a column that one lacks is named
orders      the same once the trials' positions are left out too: only their order differs
differs     the columns that differ, and in how many rows

Simulated participants draw their answers in the order of their trials, so other orders are other
answers. The last line therefore lets the present simulated participants answer the earlier run's
trials in the earlier run's orders, and counts the answers that are the same to the last digit.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq

from experiment.records import Kind, Side
from experiment.responses.registry import response_of
from experiment.seeds import generator
from experiment.simulation.responders import (
    accuracy_of,
    assign_responders,
    load_responder,
    reaction_time_ms,
)
from experiment.studies.load import load_study
from experiment.studies.published import read_published
from webapp.simulation.visit import INPUT_METHODS

# Drawn anew by every run, whatever the seed: references are secrets, and clocks go on.
_TIMES = (
    "arrived_at",
    "consented_at",
    "returned_at",
    "finished_at",
    "client_time",
    "recorded_at",
    "paid_at",
)
_RUN = ("number", "seconds", "tokens_per_second")
_TABLES = ("items", "lists", "export", "models", "scores", "text")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--seed", type=int, default=1, help="the run's")
    options = parser.parse_args()
    counts = dict.fromkeys(("bytes", "rows", "references", "columns", "orders", "differs"), 0)
    for name, verdict, detail in compared(options.before, options.after):
        counts[verdict] += 1
        print(f"{verdict:<11} {name:<32} {detail}".rstrip())
    print(", ".join(f"{verdict}: {number}" for verdict, number in counts.items()))
    for export in sorted(options.before.glob("export*")):
        same, total = replayed(export, options.seed)
        print(f"{export.name}: {same:,} of {total:,} answers are given again over the same orders")


def compared(before: Path, after: Path) -> Iterator[tuple[str, str, str]]:
    """Yield each table that both have, how far it is the same, and what differs."""
    for path in sorted(before.rglob("*")):
        name = path.relative_to(before)
        other = after / name
        # Reports are made from these tables; databases hold references and times.
        if not name.parts[0].startswith(_TABLES) or not (path.is_file() and other.is_file()):
            continue
        if path.read_bytes() == other.read_bytes():
            yield str(name), "bytes", ""
        elif path.suffix in (".parquet", ".csv"):
            yield str(name), *_tables(path, other)


def _tables(path: Path, other: Path) -> tuple[str, str]:
    first, second = _read(path), _read(other)
    if first.equals(second):
        return "rows", _metadata(path, other)
    first, second = _without_run(first, path.parent), _without_run(second, other.parent)
    if first.equals(second):
        return "references", ""
    shared = [column for column in first if column in set(second)]
    only = _only("before", first, shared) + _only("after", second, shared)
    first, second = first[shared], second[shared]
    if first.equals(second):
        return "columns", "; ".join(only)
    keys = [key for key in ("list", "place", "item_id") if key in first]
    first, second = (
        table.drop(columns="position", errors="ignore").sort_values(keys, ignore_index=True)
        for table in (first, second)
    )
    if first.equals(second):
        return "orders", "; ".join(only)
    if len(first) != len(second):
        return "differs", f"{len(first)} and {len(second)} rows"
    differing = {column: int(_differs(first[column], second[column]).sum()) for column in first}
    found = ", ".join(f"{column} in {n:,}" for column, n in differing.items() if n)
    return "differs", "; ".join([f"{found} of {len(first):,} rows", *only])


def _only(which: str, table: pd.DataFrame, shared: list[str]) -> list[str]:
    alone = [column for column in table if column not in shared]
    return [f"only {which}: {', '.join(alone)}"] if alone else []


def replayed(export: Path, seed: int) -> tuple[int, int]:
    """Return how many of a run's answers its simulated participants give again, and of how many."""
    study = load_study(str(export / "study"))
    accuracy = accuracy_of(read_published(study))
    items = pd.read_csv(export / "items.csv", dtype=str).set_index("item_id")
    people = pd.read_csv(export / "participants.csv").set_index("participant")
    answers = pd.read_csv(export / "responses.csv").merge(
        pd.read_csv(export / "trials.csv"), on=["participant", "position", "item_id"]
    )
    response = response_of(study)
    typical_ms = study.simulation.median_rt_ms or response.typical_rt_ms
    roles = assign_responders(study.simulation.mix, len(people), seed)
    same = 0
    for ref, shown in answers.sort_values("position").groupby("participant"):
        number = int(people.loc[str(ref), "number"])
        rng, choose = generator(seed, "responder", number), load_responder(roles[number - 1]).choose
        for row in shown.itertuples():
            item = items.loc[row.item_id]
            rng.getrandbits(128)  # the answer's own number
            side = choose(
                Kind(row.kind),
                Side(row.good_side),
                accuracy(item.construction, item.condition),
                rng,
            )
            time, method = round(reaction_time_ms(rng, typical_ms), 1), rng.choice(INPUT_METHODS)
            same += (side, time, method) == (row.chosen_side, row.rt_ms, row.input_method)
    return same, len(answers)


def _differs(first: pd.Series, second: pd.Series) -> pd.Series:
    return (first != second) & ~(first.isna() & second.isna())


def _read(path: Path) -> pd.DataFrame:
    return pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path, dtype=str)


def _metadata(path: Path, other: Path) -> str:
    if path.suffix != ".parquet":
        return ""
    first, second = (pq.read_metadata(each).metadata or {} for each in (path, other))
    # Arrow repeats the rest in a form of its own.
    keys = sorted(
        key for key in {*first, *second} - {b"ARROW:schema"} if first.get(key) != second.get(key)
    )
    return "; ".join(
        f"{key.decode()}: {_short(first.get(key))} and {_short(second.get(key))}" for key in keys
    )


def _short(value: bytes | None) -> str:
    return "none" if value is None else repr(value.decode()[:40])


def _without_run(table: pd.DataFrame, folder: Path) -> pd.DataFrame:
    """Return a table with people called by list and place, without what each run draws anew."""
    if "participant" in table:
        people = pd.read_csv(folder / "participants.csv", dtype=str).set_index("participant")
        here = people[["list", "place"]].loc[table["participant"]]
        table = table.drop(columns=["participant", "list", "place"], errors="ignore").assign(
            list=here["list"].to_numpy(), place=here["place"].to_numpy()
        )
    table = table.drop(columns=[*_TIMES, *_RUN], errors="ignore")
    keys = [key for key in ("list", "place", "position") if key in table]
    return table.sort_values(keys, ignore_index=True) if keys else table


if __name__ == "__main__":
    main()
