"""What an import of many judgments holds in memory, in bytes for each row."""

import subprocess
import sys
from pathlib import Path

import pandas as pd

from analysis.commands.import_judgments import make_judgments_table
from analysis.readers import texts
from analysis.readers.delimited_tables import read_delimited
from analysis.readers.guess import guess_mapping
from analysis.readers.judgments import interpret_source, read_known_items
from analysis.readers.mapping import read_mapping
from analysis.readers.sources import read_source
from experiment.materials.formats.delimited import open_text

PEOPLE, ITEMS = 10_000, 1_000
# Runs a command of Parallax and prints the most memory that it held, in KiB.
MEASURED = (
    "import resource, sys; from parallax import cli; "
    "cli(sys.argv[1:], standalone_mode=False); "
    "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
)
FEW, MANY = 20_000, 420_000
# Ten million rows in 3 GiB, with 200 MiB for what does not grow.
MOST = 290


def write(folder: Path, rows: int) -> None:
    """Write the items, the judgments and the mapping."""
    lines = [f"i{n},agreement,c{n % 4},It {n} is.,It {n} are." for n in range(ITEMS)]
    items = ["item_id,construction,condition,good,bad", *lines]
    (folder / "items.csv").write_text("\n".join(items) + "\n")
    with (folder / "judgments.csv").open("w") as file:
        file.write("worker,stimulus,answer,rt\n")
        for n in range(rows):
            person, item = divmod(n, max(1, rows // PEOPLE))
            choice = "bad" if (person * 7 + item * 3) % 11 == 0 else "good"
            file.write(f"w{person},i{item % ITEMS},{choice},{700 + n % 900}\n")
    (folder / "mapping.toml").write_text(
        '[columns]\nparticipant = "worker"\nitem = "stimulus"\nchosen = "answer"\nrt_ms = "rt"\n'
    )


def command(folder: Path) -> list[str]:
    """Return the command that imports what ``write`` wrote."""
    named = (
        folder / "judgments.csv", "--items", folder / "items.csv",
        "--mapping", folder / "mapping.toml", "--out", folder / "out", "--yes",
    )  # fmt: skip
    return ["import", "judgments", *map(str, named)]


def bytes_per_row(frame: pd.DataFrame) -> float:
    return float(frame.memory_usage(deep=True, index=False).sum()) / len(frame)


def test_tables_of_many_judgments_hold_each_text_once(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "PEOPLE", 100)
    write(tmp_path, FEW)
    source = read_source(tmp_path / "judgments.csv")
    assert bytes_per_row(source.table) < 60
    items = read_known_items(tmp_path / "items.csv")
    run = interpret_source(source, read_mapping(tmp_path / "mapping.toml"), items).run
    assert len(run.responses) == FEW
    assert bytes_per_row(run.responses) + bytes_per_row(run.trials) < 80
    assert bytes_per_row(make_judgments_table(run)) < 60


def test_a_text_is_compared_once_in_each_column_however_many_rows_have_it(tmp_path, monkeypatch):
    compared, compare = [], texts.comparable_text
    monkeypatch.setattr(
        texts, "comparable_text", lambda text: compared.append(text) or compare(text)
    )
    monkeypatch.setattr(sys.modules[__name__], "ITEMS", 20)
    write(tmp_path, 0)
    items = read_known_items(tmp_path / "items.csv")
    calls = []
    for people in (10, 110):
        lines = [
            f"w{person},{items[n].good},{items[n].bad},{1 + (person * n % 7 == 6)}"
            for person in range(people)
            for n in range(ITEMS)
        ]
        path = tmp_path / "texts.csv"
        path.write_text("\n".join(["worker,sentence1,sentence2,answer", *lines]) + "\n")
        compared.clear()
        guess = guess_mapping(read_source(path), items)
        assert guess.mapping.item_by_texts == ["sentence1", "sentence2"]
        calls.append(len(compared))
    # A hundred participants' names in a few columns and rules, and not their 2,000 rows.
    assert calls[1] - calls[0] < 5 * 100


def test_a_row_more_takes_no_more_memory_than_ten_million_have(tmp_path):
    peaks = {}
    for rows in (FEW, MANY):
        folder = tmp_path / str(rows)
        folder.mkdir()
        write(folder, rows)
        done = subprocess.run(
            [sys.executable, "-c", MEASURED, *command(folder)],
            check=True,
            capture_output=True,
            text=True,
        )
        peaks[rows] = int(done.stdout.split()[-1])
    assert (peaks[MANY] - peaks[FEW]) * 1024 / (MANY - FEW) < MOST


def test_a_table_read_piece_by_piece_is_the_table(tmp_path, monkeypatch):
    write(tmp_path, 1_000)
    path = tmp_path / "judgments.csv"
    path.write_text("# exported today\n\n" + path.read_text(), encoding="utf-16")
    whole = read_delimited(open_text(path))
    monkeypatch.setattr("analysis.readers.delimited_tables._ROWS_AT_ONCE", 7)
    pieces = read_delimited(open_text(path))
    pd.testing.assert_frame_equal(whole.table, pieces.table)
    assert (len(pieces.table), pieces.before, next(iter(pieces.table))) == (1_000, 2, "worker")
