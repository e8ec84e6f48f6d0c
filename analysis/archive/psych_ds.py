"""Psych-DS: one CSV file for each table, and a description of every column.

The standard: https://psychds-docs.readthedocs.io. Names of files are keywords and values.
"""

import json
import re
from pathlib import Path

from analysis.archive.coarsen import Rows
from analysis.archive.metadata import Metadata, person
from analysis.archive.package import Package
from experiment.tables.column import Column
from experiment.tables.files import write_table

_README = """\
# {title}

{description}

The folder `data` has each table as a file; `dataset_description.json` says what every column
means. Participants appear under random references.
"""


def write_psych_ds(package: Package, rows: Rows, about: Metadata, folder: Path) -> None:
    """Write the tables and their description into a new folder."""
    (folder / "data").mkdir(parents=True)
    study = re.sub(r"[^A-Za-z0-9]", "", about.study.name)
    columns: dict[str, Column] = {}
    for table in package.tables:
        path = folder / "data" / f"study-{study}_description-{table.name}_data.csv"
        write_table(table, rows(table), path)
        for column in table.columns:
            columns.setdefault(column.name, column)
    content = {
        "@context": "http://schema.org/",
        "@type": "Dataset",
        "name": about.name,
        "description": about.description,
        "variableMeasured": [_variable(one) for one in columns.values()],
        "schemaVersion": "Psych-DS 0.4.0",
        "license": about.license_url,
        "author": [person(one) for one in about.creators],
        "datePublished": about.about.date_published,
        "citation": about.citation,
        "keywords": about.keywords,
        "version": about.version,
    }
    content = {name: value for name, value in content.items() if value not in ([], "")}
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    (folder / "dataset_description.json").write_text(text, "utf-8", newline="\n")
    written = _README.format(title=about.title, description=about.description)
    (folder / "README.md").write_text(written, "utf-8", newline="\n")


def _variable(column: Column) -> dict[str, str]:
    found = {
        "@type": "PropertyValue",
        "name": column.name,
        "description": column.description,
        "unitText": column.unit,
    }
    return {name: value for name, value in found.items() if value}
