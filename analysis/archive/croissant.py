"""Write Croissant 1.1 metadata: the tables as record sets for machine-learning programs.

The specification: https://docs.mlcommons.org/croissant/docs/croissant-spec-1.1.html
"""

import json
from collections.abc import Iterator
from pathlib import Path

from analysis.archive.metadata import Metadata, person_entry
from analysis.archive.package import Package, sha256
from experiment.tables.column import TableSchema

CROISSANT_FILE = "croissant.json"
_JSON_LD_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "containedIn": "cr:containedIn",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
_TYPES = {
    "string": "sc:Text",
    "integer": "sc:Integer",
    "number": "sc:Float",
    "boolean": "sc:Boolean",
    "datetime": "sc:DateTime",
}


def write_croissant(package: Package, about: Metadata, data: Path) -> None:
    """Write the description of the tables into their folder.

    Args:
        package: The export.
        about: The data set's metadata.
        data: The folder with the tables as CSV and Parquet.
    """
    content = {
        "@context": _JSON_LD_CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.1",
        "name": about.name,
        "description": about.description,
        "license": about.licence_ids,
        **({"url": url} if (url := about.about.data_url or _doi_address(about)) else {}),
        "version": _pad_version(about.version),
        "datePublished": about.about.date_published,
        "creator": [person_entry(creator) for creator in about.creators],
        "citeAs": about.citation,
        "keywords": about.keywords,
        "inLanguage": about.study.study.language,
        "distribution": [_file_entry(data / f"{table.name}.csv") for table in package.tables],
        "recordSet": [_record_set(table) for table in package.tables],
    }
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    (data / CROISSANT_FILE).write_text(text, "utf-8", newline="\n")


def _doi_address(about: Metadata) -> str:
    return f"https://doi.org/{about.about.doi}" if about.about.doi else ""


def _pad_version(version: str) -> str:
    """Return a version in Croissant's three-number form; return other versions unchanged."""
    parts = version.split(".")
    if all(part.isdecimal() for part in parts) and len(parts) < 3:
        return ".".join([*parts, *["0"] * (3 - len(parts))])
    return version


def _file_entry(path: Path) -> dict[str, object]:
    return {
        "@type": "cr:FileObject",
        "@id": path.name,
        "name": path.name,
        "contentUrl": path.name,
        "contentSize": f"{path.stat().st_size} B",
        "encodingFormat": "text/csv",
        "sha256": sha256(path),
    }


def _record_set(table: TableSchema) -> dict[str, object]:
    return {
        "@type": "cr:RecordSet",
        "@id": table.name,
        "name": table.name,
        "description": table.description,
        "key": [{"@id": f"{table.name}/{name}"} for name in table.primary_key],
        "field": list(_field_entries(table)),
    }


def _field_entries(table: TableSchema) -> Iterator[dict[str, object]]:
    for column in table.columns:
        yield {
            "@type": "cr:Field",
            "@id": f"{table.name}/{column.name}",
            "name": column.name,
            "description": column.description,
            "dataType": _TYPES[column.type],
            "source": {
                "fileObject": {"@id": f"{table.name}.csv"},
                "extract": {"column": column.name},
            },
        }
