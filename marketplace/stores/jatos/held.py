"""JATOS's data: imported studies, their runs and results, and their batch sessions."""

import io
import json
import secrets
import threading
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

# The most result data of one component in one run, by JATOS's default.
LARGEST_RESULT_BYTES = 5 * 1024 * 1024


@dataclass
class StudyRun:
    """One participant's run of the study; JATOS calls it a study result.

    Attributes:
        number: The run's number, from 1.
        said: The query arguments of the link that started the run.
        data: The results of each start of the component.
        finished: Whether the run has ended.
    """

    number: int
    said: dict[str, str] = field(default_factory=dict)
    data: list[str] = field(default_factory=list)
    finished: bool = False


@dataclass
class Study:
    """An imported study archive.

    Attributes:
        component: The id of its only component.
        page: The component's page.
        assets: The study's files, by name.
        runs: The runs, by id.
        batch: The batch session.
        version: The batch session's version; every change increases it.
        listening: Called with every change of the batch session.
        largest_bytes: The most result data of one component start, in bytes.
    """

    component: str
    page: str
    assets: dict[str, bytes]
    runs: dict[str, StudyRun] = field(default_factory=dict)
    batch: dict[str, Any] = field(default_factory=dict)
    version: int = 1
    listening: list[Callable[[dict[str, Any]], None]] = field(default_factory=list)
    largest_bytes: int = LARGEST_RESULT_BYTES


class ArchiveError(Exception):
    """A file is not a study archive that JATOS can import."""


class Jatos:
    """All data of a JATOS server."""

    def __init__(self) -> None:
        self.studies: dict[str, Study] = {}
        self.lock = threading.RLock()

    def bring_in(self, archive: bytes) -> str:
        """Import a study archive, and return the code of its study link.

        Raises:
            ArchiveError: It does not contain exactly one .jas file of version 3 and one folder.
        """
        with zipfile.ZipFile(io.BytesIO(archive)) as found:
            named = [name for name in found.namelist() if name.endswith(".jas")]
            folders = {name.split("/")[0] for name in found.namelist() if "/" in name}
            if len(named) != 1 or "/" in named[0] or len(folders) != 1:
                raise ArchiveError("expected one .jas file and one folder")
            about = json.loads(found.read(named[0]))
            if int(about["version"]) != 3:
                raise ArchiveError("unsupported study version")
            study, [top] = about["data"], folders
            [component] = study["componentList"]
            assets = {
                name.removeprefix(f"{top}/"): found.read(name)
                for name in found.namelist()
                if name.startswith(f"{top}/") and not name.endswith("/")
            }
        if component["htmlFilePath"] not in assets or not study["uuid"] or not study["title"]:
            raise ArchiveError("the component's page is not in the folder")
        code = secrets.token_hex(6)
        self.studies[code] = Study(component["uuid"], component["htmlFilePath"], assets)
        return code

    def run_of(self, result: str) -> tuple[Study, StudyRun] | None:
        """Return a run and its study."""
        found = next((each for each in self.studies.values() if result in each.runs), None)
        return (found, found.runs[result]) if found else None

    def results(self, code: str) -> bytes:
        """Return the archive of a study's results, as JATOS exports it."""
        study, made, number = self.studies[code], io.BytesIO(), 0
        with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
            for run in study.runs.values():
                for data in run.data:
                    number += 1
                    at = f"study_result_{run.number}/comp-result_{number}"
                    archive.writestr(f"{at}/data.txt", data)
            archive.writestr("metadata.json", json.dumps({"apiVersion": "1.0.1", "data": []}))
        return made.getvalue()
