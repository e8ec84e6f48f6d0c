"""The stores for answers of a study without a server, and how each store draws sessions.

For JATOS, the study is a study archive (.jzip): its files, and a description of version 3, which
JATOS reads since its version 2 (``StudyDeserializer.java`` of JATOS/JATOS).
"""

import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit
from uuid import NAMESPACE_URL, uuid5

from webapp.core.addresses import is_loopback
from webapp.errors import WebappError

DATAPIPE = "https://pipe.jspsych.org"
STORE_KINDS = ("file", "post", "datapipe", "jatos")


@dataclass(frozen=True, slots=True)
class Store:
    """The store of a folder.

    Attributes:
        kind: One of ``KINDS``.
        keeper: The organisation that stores the answers; empty if the participant keeps them.
        hosts: The further sources that a page may connect to, in policy syntax.
        settings: The store's settings for the page's script.
        counts: Whether the store has a counter that assigns the next session.
        scripts: The scripts that its host serves and the page loads first.
    """

    kind: str
    keeper: str
    hosts: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    counts: bool = False
    scripts: tuple[str, ...] = ()

    @property
    def assignment(self) -> str:
        """How sessions are drawn when no link names one."""
        return "counter" if self.counts else "chance"


def make_store(
    kind: str, *, url: str = "", experiment: str = "", staging: str = "", count: bool = True
) -> Store:
    """Return the store that a command's options describe.

    Args:
        kind: One of ``KINDS``.
        url: The URL to which ``post`` sends answers; another DataPipe deployment for ``datapipe``.
        experiment: DataPipe's id of the experiment.
        staging: The URL of the database in which DataPipe stages single answers.
        count: Whether to use the store's counter, if it has one.

    Raises:
        WebappError: An option is missing, or does not apply to this store.
    """
    options = {"--url": url, "--experiment": experiment, "--staging": staging}
    takes = {"post": ("--url",), "datapipe": ("--url", "--experiment", "--staging")}
    for name, value in options.items():
        if value and name not in takes.get(kind, ()):
            raise WebappError(f"the option {name} does not apply to the store {kind}", where=name)
    if kind == "post":
        site = _check_site(url, "--url")
        return Store(kind, urlsplit(url).netloc, (site,), {"url": url})
    if kind == "datapipe":
        return _make_datapipe_store(url or DATAPIPE, experiment, staging, count=count)
    if kind == "jatos":
        # JATOS itself serves jatos.js and its libraries next to the page.
        return Store(kind, "JATOS", (), counts=count, scripts=("jatos.js",))
    return Store(kind, "")


def _make_datapipe_store(url: str, experiment: str, staging: str, *, count: bool) -> Store:
    if not experiment.isalnum():
        raise WebappError(
            f'"{experiment}" is not the id of a DataPipe experiment',
            where="--experiment",
            expected="the experiment's id, twelve letters and digits",
            remedy="Copy it from the experiment's page at pipe.jspsych.org",
        )
    sites = [_check_site(url, "--url"), *([_check_site(staging, "--staging")] if staging else [])]
    settings = {
        "url": url.rstrip("/"),
        "experiment": experiment,
        "counts": count,
        "staged": bool(staging),
    }
    return Store("datapipe", f"DataPipe ({urlsplit(url).netloc})", tuple(sites), settings, count)


def _check_site(url: str, option: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc or parts.username:
        raise WebappError(
            f'"{url}" is not an address to which answers can be sent',
            where=option,
            expected="an address such as https://example.org/keep",
        )
    if parts.scheme == "http" and not is_loopback(url):
        raise WebappError(
            f'"{url}" would send participants\' answers unencrypted',
            where=option,
            expected="an address that begins with https",
        )
    return f"{parts.scheme}://{parts.netloc}"


_DAY = (2000, 1, 1, 0, 0, 0)


def make_study_archive(
    folder: str, title: str, description: str, files: Mapping[str, bytes], page: str
) -> bytes:
    """Return the JATOS archive; the same study gives the same bytes and the same ids.

    Args:
        folder: The version of the study's folder.
        title: The title that JATOS shows.
        description: The description that JATOS shows below it.
        files: The study's files by name.
        page: The name of the page among them.
    """
    about = _describe_for_jatos(folder, title, description, page)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(files.items()):
            archive.writestr(zipfile.ZipInfo(f"parallax_{folder}/{name}", _DAY), content)
        description_file = zipfile.ZipInfo(f"parallax_{folder}.jas", _DAY)
        archive.writestr(description_file, json.dumps(about, ensure_ascii=False))
    return buffer.getvalue()


def _describe_for_jatos(folder: str, title: str, description: str, page: str) -> dict[str, object]:
    """Return JATOS's description of the study, with one component and one batch."""
    return {
        "version": "3",
        "data": {
            "uuid": _make_uuid(folder, "study"),
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
                    "uuid": _make_uuid(folder, "component"),
                    "title": title,
                    "htmlFilePath": page,
                    # Participants who reload the page or return to it continue where they were.
                    "reloadable": True,
                    "active": True,
                    "comments": "",
                    "componentInput": None,
                }
            ],
            "batchList": [
                {
                    "uuid": _make_uuid(folder, "batch"),
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


def _make_uuid(folder: str, what: str) -> str:
    return str(uuid5(NAMESPACE_URL, f"parallax static {folder} {what}"))
