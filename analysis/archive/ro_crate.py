"""Write RO-Crate 1.2 metadata: every file of the archive, its creators, run and software."""

import json
from pathlib import Path

from analysis.archive.licences import Licence
from analysis.archive.metadata import Metadata
from analysis.archive.package import media_type_of, sha256

RO_CRATE_FILE = "ro-crate-metadata.json"
JSON_LD_CONTEXT = "https://w3id.org/ro/crate/1.2/context"
_SPECIFICATION = "https://w3id.org/ro/crate/1.2"
_PROGRAM = "#parallax"


def write_ro_crate(about: Metadata, folder: Path) -> None:
    """Write the description of all files in a folder into that folder."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    files = [_file_entry(path, folder) for path in paths if path.name != RO_CRATE_FILE]
    people = [_person_entry(about, number) for number in range(len(about.creators))]
    places = {
        creator.affiliation: {"@id": _local_id(creator.affiliation), "@type": "Organization",
                          "name": creator.affiliation}
        for creator in about.creators
        if creator.affiliation
    }  # fmt: skip
    graph = [
        {
            "@id": RO_CRATE_FILE,
            "@type": "CreativeWork",
            "conformsTo": {"@id": _SPECIFICATION},
            "about": {"@id": "./"},
        },
        _root_entry(about, files, people),
        *map(_licence_entry, about.licences),
        *people,
        *places.values(),
        {
            "@id": _PROGRAM,
            "@type": "SoftwareApplication",
            "name": "Parallax",
            "version": str(about.provenance["code_version"]),
            "url": "https://pypi.org/project/parallax-experiments/",
        },
        {
            "@id": "#run",
            "@type": "CreateAction",
            "name": f"Run {about.provenance['run']} of {about.provenance['study']}",
            "instrument": {"@id": _PROGRAM},
            "result": {"@id": "./"},
            "agent": [{"@id": person["@id"]} for person in people],
        },
        *files,
    ]
    text = json.dumps({"@context": JSON_LD_CONTEXT, "@graph": graph}, indent=2, ensure_ascii=False)
    (folder / RO_CRATE_FILE).write_text(text + "\n", "utf-8", newline="\n")


def _root_entry(
    about: Metadata, files: list[dict[str, object]], people: list[dict[str, object]]
) -> dict[str, object]:
    declared = about.about
    licences = [{"@id": _licence_id(licence)} for licence in about.licences]
    root: dict[str, object] = {
        "@id": "./",
        "@type": "Dataset",
        "name": about.title,
        "description": about.description,
        "datePublished": declared.date_published,
        "license": licences[0] if len(licences) == 1 else licences,
        "version": about.version,
        "keywords": about.keywords,
        "creditText": about.citation,
        "author": [{"@id": person["@id"]} for person in people],
        "mentions": {"@id": "#run"},
        "hasPart": [{"@id": file["@id"]} for file in files],
    }
    if declared.doi:
        root["identifier"] = f"https://doi.org/{declared.doi}"
    if declared.funding:
        root["funding"] = declared.funding
    for name, text in about.statements.items():
        root.setdefault("usageInfo", [])
        usage = root["usageInfo"]
        assert isinstance(usage, list)
        usage.append(f"{name}: {text}")
    return {key: value for key, value in root.items() if value not in ([], "")}


def _licence_id(licence: Licence) -> str:
    return licence.url or _local_id(licence.name)


def _licence_entry(licence: Licence) -> dict[str, object]:
    listed = ", as SPDX lists it" if licence.url else ""
    return {
        "@id": _licence_id(licence),
        "@type": "CreativeWork",
        "name": licence.name,
        "description": f"The licence {licence.name}{listed}.",
    }


def _person_entry(about: Metadata, number: int) -> dict[str, object]:
    contributor = about.creators[number]
    fields: dict[str, object] = {
        "@id": f"https://orcid.org/{contributor.orcid}"
        if contributor.orcid
        else f"#person-{number + 1}",
        "@type": "Person",
        "name": contributor.name,
        "givenName": contributor.given_name,
        "familyName": contributor.family_name,
    }
    if contributor.affiliation:
        fields["affiliation"] = {"@id": _local_id(contributor.affiliation)}
    if contributor.roles:
        # The role names of the CRediT taxonomy.
        fields["description"] = f"CRediT: {', '.join(contributor.roles)}"
    return fields


def _local_id(name: str) -> str:
    return "#" + "-".join("".join(c if c.isalnum() else " " for c in name.lower()).split())


def _file_entry(path: Path, folder: Path) -> dict[str, object]:
    name = path.relative_to(folder).as_posix()
    return {
        "@id": name,
        "@type": "File",
        "name": name,
        "description": f"The file {path.name} of {Path(name).parent.name or 'the archive'}.",
        "encodingFormat": media_type_of(path.name),
        "contentSize": str(path.stat().st_size),
        "sha256": sha256(path),
    }
