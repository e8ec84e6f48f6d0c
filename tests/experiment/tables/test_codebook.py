"""The page about exports holds the codebook that the schemas give."""

from pathlib import Path

from experiment.tables.codebook import codebook_markdown
from experiment.tables.schemas import EXPORT_TABLES

PAGE = Path(__file__).parents[3] / "docs" / "export.md"


def test_the_page_holds_the_codebook_as_it_is():
    written = PAGE.read_text(encoding="utf-8").partition("## Tables\n\n")[2]
    assert written == codebook_markdown(), (
        "write codebook_markdown() below the heading Tables of docs/export.md"
    )


def test_the_codebook_has_every_column_of_every_table():
    lines = codebook_markdown().splitlines()
    for table in EXPORT_TABLES:
        assert f"### {table.name}" in lines
    assert sum(line.startswith("| `") for line in lines) == sum(
        len(table.columns) for table in EXPORT_TABLES
    )
