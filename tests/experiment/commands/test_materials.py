"""``parallax materials`` at the shell."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

import parallax
from experiment.errors import MaterialsError, TableError, UnknownNameError
from experiment.materials.read import load_items, materials_hash, read_items
from experiment.studies.load import load_study
from experiment.tables.files import FORMATS


def invoke(*arguments: str | Path) -> Result:
    return CliRunner().invoke(parallax.cli, ["materials", *map(str, arguments)])


@pytest.mark.parametrize("suffix", FORMATS)
def test_items_are_written_in_the_format_of_the_suffix_and_pass_the_check(
    tmp_path: Path, suffix: str
):
    out = tmp_path / f"items{suffix}"
    written = invoke("write", "minimal", "--out", out)
    assert written.exit_code == 0, written.output
    items = list(load_items(load_study("minimal")))
    assert list(read_items(out)) == items
    assert f"{len(items)} items of minimal 1.0" in written.output
    assert materials_hash(items) in written.output
    checked = invoke("check", out)
    assert checked.exit_code == 0, checked.output
    assert checked.output.count("passed") == 6


def test_a_parquet_file_says_what_its_items_are(tmp_path: Path):
    out = tmp_path / "items.parquet"
    invoke("write", "minimal", "--out", out)
    metadata = pq.read_schema(out).metadata
    identity = materials_hash(load_items(load_study("minimal")))
    assert metadata[b"study"] == b"minimal"
    assert metadata[b"study_version"] == b"1.0"
    assert metadata[b"materials_hash"] == identity.encode()
    assert b"code_version" in metadata


def test_a_failed_check_prints_the_table_and_ends_with_an_error(tmp_path: Path):
    out = tmp_path / "items.tsv"
    invoke("write", "minimal", "--out", out)
    lines = out.read_text("utf-8").splitlines()
    out.write_text("\n".join([*lines, lines[1]]), encoding="utf-8")
    checked = invoke("check", out)
    assert "item ids are unique" in checked.output
    assert isinstance(checked.exception, MaterialsError)
    assert "2 check(s) failed: item ids are unique; conditions" in str(checked.exception)


def test_what_cannot_be_written_leaves_no_file(tmp_path: Path):
    assert isinstance(
        invoke("write", "minimal", "--out", tmp_path / "items.xls").exception, TableError
    )
    assert isinstance(
        invoke("write", "minimall", "--out", tmp_path / "items.tsv").exception, UnknownNameError
    )
    assert list(tmp_path.iterdir()) == []


def test_an_error_ends_as_one_paragraph_and_exit_code_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr("sys.argv", ["parallax", "materials", "check", "nowhere.tsv"])
    with pytest.raises(SystemExit) as ended:
        parallax.main()
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("Error: nowhere.tsv: ")
