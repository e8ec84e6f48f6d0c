"""What an import of many judgments holds in memory, in bytes for each row."""

import subprocess
import sys

import pandas as pd

from analysis.readers.delimited import read_delimited
from analysis.readers.judgments import interpreted, read_known_items
from analysis.readers.mapping import read_mapping
from analysis.readers.preview import judgments_table
from analysis.readers.sources import read_source
from benchmarks import import_large
from experiment.materials.formats.delimited import open_text

FEW, MANY = 20_000, 420_000
# Ten million rows in 3 GiB, with 200 MiB for what does not grow.
MOST = 290


def bytes_per_row(frame: pd.DataFrame) -> float:
    return float(frame.memory_usage(deep=True, index=False).sum()) / len(frame)


def test_tables_of_many_judgments_hold_each_text_once(tmp_path, monkeypatch):
    monkeypatch.setattr(import_large, "PEOPLE", 100)
    import_large.write(tmp_path, FEW)
    source = read_source(tmp_path / "judgments.csv")
    assert bytes_per_row(source.table) < 60
    items = read_known_items(tmp_path / "items.csv")
    run = interpreted(source, read_mapping(tmp_path / "mapping.toml"), items).run
    assert len(run.responses) == FEW
    assert bytes_per_row(run.responses) + bytes_per_row(run.trials) < 80
    assert bytes_per_row(judgments_table(run)) < 60


def test_a_row_more_takes_no_more_memory_than_ten_million_have(tmp_path):
    peaks = {}
    for rows in (FEW, MANY):
        folder = tmp_path / str(rows)
        folder.mkdir()
        import_large.write(folder, rows)
        done = subprocess.run(
            [sys.executable, "-c", import_large.MEASURED, *import_large.command(folder)],
            check=True,
            capture_output=True,
            text=True,
        )
        peaks[rows] = int(done.stdout.split()[-1])
    assert (peaks[MANY] - peaks[FEW]) * 1024 / (MANY - FEW) < MOST


def test_a_table_read_piece_by_piece_is_the_table(tmp_path, monkeypatch):
    import_large.write(tmp_path, 1_000)
    path = tmp_path / "judgments.csv"
    path.write_text("# exported today\n\n" + path.read_text(), encoding="utf-16")
    whole = read_delimited(open_text(path))
    monkeypatch.setattr("analysis.readers.delimited._ROWS_AT_ONCE", 7)
    pieces = read_delimited(open_text(path))
    pd.testing.assert_frame_equal(whole.table, pieces.table)
    assert (len(pieces.table), pieces.before, next(iter(pieces.table))) == (1_000, 2, "worker")
