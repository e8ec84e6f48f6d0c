"""A static study as a study archive of JATOS (.jzip): its files, and a description of the study.

The description is of version 3, which JATOS reads since its version 2
(``StudyDeserializer.java`` of JATOS/JATOS).
"""

import io
import json
import zipfile
from collections.abc import Mapping
from uuid import NAMESPACE_URL, uuid5

_DAY = (2000, 1, 1, 0, 0, 0)


def study_archive(
    folder: str, title: str, description: str, files: Mapping[str, bytes], page: str
) -> bytes:
    """Return the archive; the same study gives the same bytes and the same ids.

    Args:
        folder: The version of the study's folder.
        title: What JATOS shows.
        description: And below it.
        files: The study's files by their names.
        page: Which of them is the page.
    """
    about = _about(folder, title, description, page)
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(files.items()):
            archive.writestr(zipfile.ZipInfo(f"parallax_{folder}/{name}", _DAY), content)
        description_file = zipfile.ZipInfo(f"parallax_{folder}.jas", _DAY)
        archive.writestr(description_file, json.dumps(about, ensure_ascii=False))
    return made.getvalue()


def _about(folder: str, title: str, description: str, page: str) -> dict[str, object]:
    """Return the description, in which a study has one component and one batch."""
    return {
        "version": "3",
        "data": {
            "uuid": _uuid(folder, "study"),
            "title": title,
            "description": description,
            "groupStudy": False,
            "linearStudy": False,
            "allowPreview": False,
            "dirName": f"parallax_{folder}",
            "comments": "",
            "studyInput": None,
            "endRedirectUrl": None,
            "studyEntryMsg": None,
            "componentList": [
                {
                    "uuid": _uuid(folder, "component"),
                    "title": title,
                    "htmlFilePath": page,
                    # Who reloads the page, or comes back to it, goes on where they were.
                    "reloadable": True,
                    "active": True,
                    "comments": "",
                    "componentInput": None,
                }
            ],
            "batchList": [
                {
                    "uuid": _uuid(folder, "batch"),
                    "title": "Default",
                    "active": True,
                    "maxActiveMembers": None,
                    "maxTotalMembers": None,
                    "maxTotalWorkers": None,
                    "allowedWorkerTypes": [
                        "GeneralSingle", "GeneralMultiple", "PersonalSingle", "PersonalMultiple",
                        "Jatos", "MT", "MTSandbox",
                    ],
                    "comments": None,
                    "batchInput": None,
                }
            ],
        },
    }  # fmt: skip


def _uuid(folder: str, what: str) -> str:
    return str(uuid5(NAMESPACE_URL, f"parallax static {folder} {what}"))
