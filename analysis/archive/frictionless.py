"""Write the export as self-describing packages of tables: Frictionless 2 and Psych-DS.

A Data Package has a licence and contributors. Psych-DS requires one CSV file per table and a
description of every column (https://psychds-docs.readthedocs.io); its file names consist of
keywords and values.
"""

import json
import re
import shutil
from pathlib import Path

from analysis.archive.metadata import Metadata, person
from analysis.archive.package import DESCRIPTION, Package
from analysis.archive.traces import Rows
from experiment.studies.publication import Contributor
from experiment.tables.codebook import MEDIA_TYPES, datapackage, readme
from experiment.tables.column import Column
from experiment.tables.files import spreadsheet_safe, write_table
from experiment.tables.schemas import ANSWERS

# Folders of an export with texts only, without participants' data.
_TEXTS = ("study", "consent")
_README = """\
# {title}

{description}

The folder `data` has each table as a file; `dataset_description.json` says what every column
means. Participants appear under random references.
"""


def write_frictionless(package: Package, rows: Rows, about: Metadata, folder: Path) -> None:
    """Write every table as CSV and Parquet, the study folder, and the package's description."""
    folder.mkdir()
    for table in package.tables:
        for suffix in MEDIA_TYPES:
            texts = table.name == ANSWERS.name and suffix == ".csv"
            found = (
                {**row, "value": spreadsheet_safe(str(row["value"]))} if texts else row
                for row in rows(table)
            )
            write_table(table, found, folder / f"{table.name}{suffix}")
    for name in _TEXTS:
        if (package.folder / name).is_dir():
            shutil.copytree(package.folder / name, folder / name, copy_function=shutil.copyfile)
    described = datapackage(folder, package.name, about.title, package.provenance, package.tables)
    described = {
        "$schema": described.pop("$schema"),
        **described,
        "description": about.description,
        "version": about.version,
        "licenses": [{"name": about.about.license, "path": about.license_url}],
        "keywords": about.keywords,
        "contributors": [_contributor(creator) for creator in about.creators],
        **({"homepage": about.about.data_url} if about.about.data_url else {}),
        "statements": about.statements,
    }
    text = json.dumps(described, indent=2, ensure_ascii=False) + "\n"
    (folder / DESCRIPTION).write_text(text, "utf-8", newline="\n")
    written = readme(about.title, package.provenance, package.tables)
    (folder / "README.md").write_text(written, "utf-8", newline="\n")


def _contributor(one: Contributor) -> dict[str, object]:
    found: dict[str, object] = {
        "title": one.name,
        "givenName": one.given_name,
        "familyName": one.family_name,
        "roles": list(one.roles),
        "organization": one.affiliation,
        "path": f"https://orcid.org/{one.orcid}" if one.orcid else "",
        "email": one.email,
    }
    return {name: value for name, value in found.items() if value}


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
        "author": [person(creator) for creator in about.creators],
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
