"""The page about exports names every table; the codebook has every column."""

import re
from pathlib import Path

from experiment.tables.codebook import codebook_markdown
from experiment.tables.schemas import EXPORT_TABLES

PAGE = Path(__file__).parents[3] / "docs" / "export.md"


def test_the_page_names_every_table():
    tables = PAGE.read_text(encoding="utf-8").partition("## Tables\n\n")[2]
    assert [table.name for table in EXPORT_TABLES] == re.findall(r"^\| `(\w+)` \|", tables, re.M)


def test_the_codebook_has_every_column_of_every_table():
    lines = codebook_markdown().splitlines()
    for table in EXPORT_TABLES:
        assert f"### {table.name}" in lines
    assert sum(line.startswith("| `") for line in lines) == sum(
        len(table.columns) for table in EXPORT_TABLES
    )
