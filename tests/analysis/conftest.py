"""A small run, exported, and one model's scores of it."""

from pathlib import Path

import pytest

from analysis.result import Comparison
from tests.analysis import small_run


@pytest.fixture(scope="session")
def small_comparison(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    """The comparison of both, made once; no test changes it."""
    folder = tmp_path_factory.mktemp("small_run")
    return small_run.compared(
        small_run.write_export(folder / "export"), small_run.write_scores(folder / "s.parquet")
    )


@pytest.fixture
def export(tmp_path: Path) -> Path:
    return small_run.write_export(tmp_path / "export")


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    return small_run.write_scores(tmp_path / "scores.parquet")
