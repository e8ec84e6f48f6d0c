"""Write the export as self-describing packages of tables: Frictionless 2 and Psych-DS.

A Data Package has a licence and contributors. Psych-DS requires one CSV file per table and a
description of every column (https://psychds-docs.readthedocs.io); its file names consist of
keywords and values.
"""

import json
import re
import shutil
from pathlib import Path

from analysis.archive.licences import Licence
from analysis.archive.metadata import Metadata, person_entry
from analysis.archive.package import DESCRIPTION, Package
from analysis.archive.traces import Rows, escape_texts
from experiment.studies.publication import Contributor
from experiment.tables.codebook import MEDIA_TYPES, datapackage, readme
from experiment.tables.column import Column
from experiment.tables.files import write_table

# Folders of an export with texts only, without participants' data.
_TEXT_FOLDERS = ("study", "consent")
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
            rows_of = escape_texts(rows) if suffix == ".csv" else rows
            write_table(table, rows_of(table), folder / f"{table.name}{suffix}")
    for name in _TEXT_FOLDERS:
        if (package.folder / name).is_dir():
            shutil.copytree(package.folder / name, folder / name, copy_function=shutil.copyfile)
    description = datapackage(folder, package.name, about.title, package.provenance, package.tables)
    description = {
        "$schema": description.pop("$schema"),
        **description,
        "description": about.description,
        "version": about.version,
        "licenses": [_licence_entry(licence) for licence in about.licences],
        "keywords": about.keywords,
        "contributors": [_contributor_entry(creator) for creator in about.creators],
        **({"homepage": about.about.data_url} if about.about.data_url else {}),
        "statements": about.statements,
    }
    text = json.dumps(description, indent=2, ensure_ascii=False) + "\n"
    (folder / DESCRIPTION).write_text(text, "utf-8", newline="\n")
    readme_text = readme(about.title, package.provenance, package.tables)
    (folder / "README.md").write_text(readme_text, "utf-8", newline="\n")


def _licence_entry(licence: Licence) -> dict[str, str]:
    if licence.url:
        return {"name": licence.name, "path": licence.url}
    # A name of the Data Package has no spaces.
    return {"name": re.sub(r"[^A-Za-z0-9.]+", "-", licence.name), "title": licence.name}


def _contributor_entry(contributor: Contributor) -> dict[str, object]:
    fields: dict[str, object] = {
        "title": contributor.name,
        "givenName": contributor.given_name,
        "familyName": contributor.family_name,
        "roles": list(contributor.roles),
        "organization": contributor.affiliation,
        "path": f"https://orcid.org/{contributor.orcid}" if contributor.orcid else "",
        "email": contributor.email,
    }
    return {name: value for name, value in fields.items() if value}


def write_psych_ds(package: Package, rows: Rows, about: Metadata, folder: Path) -> None:
    """Write the tables and their description into a new folder."""
    (folder / "data").mkdir(parents=True)
    study = re.sub(r"[^A-Za-z0-9]", "", about.study.name)
    columns: dict[str, Column] = {}
    for table in package.tables:
        path = folder / "data" / f"study-{study}_description-{table.name}_data.csv"
        write_table(table, escape_texts(rows)(table), path)
        for column in table.columns:
            columns.setdefault(column.name, column)
    content = {
        "@context": "http://schema.org/",
        "@type": "Dataset",
        "name": about.name,
        "description": about.description,
        "variableMeasured": [_variable_entry(column_) for column_ in columns.values()],
        "schemaVersion": "Psych-DS 0.4.0",
        "license": about.licence_ids,
        "author": [person_entry(creator) for creator in about.creators],
        "datePublished": about.about.date_published,
        "citation": about.citation,
        "keywords": about.keywords,
        "version": about.version,
    }
    content = {name: value for name, value in content.items() if value not in ([], "")}
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    (folder / "dataset_description.json").write_text(text, "utf-8", newline="\n")
    readme_text = _README.format(title=about.title, description=about.description)
    (folder / "README.md").write_text(readme_text, "utf-8", newline="\n")


def _variable_entry(column: Column) -> dict[str, str]:
    fields = {
        "@type": "PropertyValue",
        "name": column.name,
        "description": column.description,
        "unitText": column.unit,
    }
    return {name: value for name, value in fields.items() if value}
