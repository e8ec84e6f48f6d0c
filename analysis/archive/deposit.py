"""Write deposit metadata for Zenodo and Dataverse, as the files that their interfaces accept."""

import json
from collections.abc import Iterator
from pathlib import Path

from analysis.archive.metadata import Metadata

ZENODO, DATAVERSE = "zenodo.json", "dataverse.json"


def write_deposits(about: Metadata, folder: Path) -> None:
    """Write both metadata files into a new folder."""
    folder.mkdir()
    for name, content in (
        (ZENODO, _zenodo_metadata(about)),
        (DATAVERSE, _dataverse_metadata(about)),
    ):
        text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
        (folder / name).write_text(text, "utf-8", newline="\n")


def _join_statements(about: Metadata) -> str:
    return " ".join(f"{name}: {text}" for name, text in about.statements.items())


def _zenodo_metadata(about: Metadata) -> dict[str, object]:
    declared = about.about
    related = [
        {"identifier": url, "relation": relation, "scheme": "url"}
        for url, relation in (
            (declared.paper_url, "isSupplementTo"),
            (declared.materials_url, "isDerivedFrom"),
            (declared.code_url, "isCompiledBy"),
        )
        if url
    ]
    fields: dict[str, object] = {
        "title": about.title,
        "upload_type": "dataset",
        "description": about.description,
        "creators": [
            {
                "name": f"{creator.family_name}, {creator.given_name}",
                **({"orcid": creator.orcid} if creator.orcid else {}),
                **({"affiliation": creator.affiliation} if creator.affiliation else {}),
            }
            for creator in about.creators
        ],
        "license": about.strictest_licence.name.lower(),
        "access_right": "open",
        "publication_date": declared.date_published,
        "keywords": about.keywords,
        "language": about.study.study.language,
        "version": about.version,
        "notes": _join_statements(about),
        "related_identifiers": related,
        "contributors": [],
    }
    return {"metadata": {name: value for name, value in fields.items() if value not in ([], "")}}


def _dataverse_metadata(about: Metadata) -> dict[str, object]:
    licence = about.strictest_licence
    citation = {"displayName": "Citation Metadata", "fields": list(_citation_fields(about))}
    return {
        "datasetVersion": {
            "license": {"name": licence.name, "uri": licence.url},
            "metadataBlocks": {"citation": citation},
        }
    }


def _citation_fields(about: Metadata) -> Iterator[dict[str, object]]:
    yield _primitive_field("title", about.title)
    yield _compound_field("author", [
        {
            "authorName": f"{creator.family_name}, {creator.given_name}",
            "authorAffiliation": creator.affiliation,
            "authorIdentifier": creator.orcid,
        }
        for creator in about.creators
    ])  # fmt: skip
    contacts = [creator for creator in about.creators if creator.email] or list(about.creators[:1])
    yield _compound_field("datasetContact", [
        {
            "datasetContactName": f"{contact.family_name}, {contact.given_name}",
            "datasetContactEmail": contact.email,
        }
        for contact in contacts
    ])  # fmt: skip
    yield _compound_field("dsDescription", [{"dsDescriptionValue": about.description}])
    yield {
        "typeName": "subject", "typeClass": "controlledVocabulary", "multiple": True,
        "value": ["Social Sciences", "Arts and Humanities"],
    }  # fmt: skip
    if about.keywords:
        yield _compound_field("keyword", [{"keywordValue": keyword} for keyword in about.keywords])
    if notes := _join_statements(about):
        yield _primitive_field("notesText", notes)


def _primitive_field(name: str, value: str) -> dict[str, object]:
    return {"typeName": name, "typeClass": "primitive", "multiple": False, "value": value}


def _compound_field(name: str, parts: list[dict[str, str]]) -> dict[str, object]:
    value = [
        {key: _primitive_field(key, text) for key, text in part.items() if text} for part in parts
    ]
    return {"typeName": name, "typeClass": "compound", "multiple": True, "value": value}
