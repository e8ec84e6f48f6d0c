"""A small run, exported, and one model's scores of it."""

from pathlib import Path

import pytest

from tests.analysis import small_run


@pytest.fixture
def export(tmp_path: Path) -> Path:
    return small_run.write_export(tmp_path / "export")


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    return small_run.write_scores(tmp_path / "scores.parquet")
