"""A small run, exported, and one model's scores of it."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from matplotlib.backends import _backend_pdf_ps as fonts

from analysis.findings.finding import Comparison
from tests.analysis import small_run


def share_fonts() -> None:
    """Let figures of this process that hold the same letters share the font in their PDF.

    To cut the font down to them takes almost half of the time in which a figure is saved.
    """
    cut, to_file = fonts.get_glyphs_subset, fonts.font_as_file
    made = dict[object, fonts.SubsetResults]()

    @contextmanager
    def shared(font_file: Any, glyphs: Iterable[int]) -> Iterator[fonts.SubsetResults]:
        key = (font_file, font_file.face_index, frozenset(glyphs))
        if key not in made:
            with cut(font_file, set(key[2])) as subset:
                made[key] = subset._replace(font=to_file(subset.font).getvalue())
        yield made[key]

    # What is shared is the file itself.
    fonts.get_glyphs_subset, fonts.font_as_file = shared, BytesIO


share_fonts()


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
