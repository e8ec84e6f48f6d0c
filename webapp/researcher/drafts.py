"""Studies that are written in the browser: their files, read and saved a text at a time.

A study lies in a folder of the instance, apart from every run: a run has a frozen copy of its own,
so nothing here changes what people already see.
"""

import re
import shutil
from hashlib import sha256
from pathlib import Path

from experiment.studies.load import BUILT_IN, built_in_studies
from experiment.studies.study import STUDY_FILE
from webapp.errors import RequestError
from webapp.researcher.uploads import uploads_of

# Files that somebody writes by hand; others are replaced by uploading the study anew.
_WRITTEN = frozenset({".toml", ".md", ".txt", ".tsv", ".csv"})
LARGEST_TEXT_BYTES = 1024 * 1024
_LABEL = re.compile(r"[A-Za-z0-9][\w-]{0,63} \([0-9a-f]{8}\)", re.ASCII)
_NAME_LINE = re.compile(r'^name = "[^"]*"', re.MULTILINE)


class StaleTextError(Exception):
    """Somebody else saved the text since it was read; nothing was stored.

    Attributes:
        stored: What it says now.
    """

    def __init__(self, stored: str) -> None:
        super().__init__(stored)
        self.stored = stored


def own_study(instance: Path, project_id: int | None, called: str) -> Path:
    """Return the folder of an own study by what the pages call it, ``name (label)``.

    Raises:
        RequestError: There is none.
    """
    if _LABEL.fullmatch(called):
        name, _, label = called.partition(" (")
        folder = uploads_of(instance, project_id) / label.rstrip(")") / name
        if (folder / STUDY_FILE).is_file():
            return folder
    raise RequestError(
        f"There is no study {called!r} that can be edited here.",
        status=404,
        code="unknown_study",
    )


def texts_of(folder: Path) -> list[str]:
    """Return the files of a study that can be edited, study.toml first."""
    found = [
        path.relative_to(folder).as_posix()
        for path in sorted(folder.rglob("*"))
        if path.suffix in _WRITTEN and path.is_file() and path.stat().st_size <= LARGEST_TEXT_BYTES
    ]
    return sorted(found, key=lambda name: (name != STUDY_FILE, name))


def read_text(folder: Path, name: str) -> str:
    """Return one of the texts of a study.

    Raises:
        RequestError: It has no such file, or the file is no text in UTF-8.
    """
    if name not in texts_of(folder):
        problem = f"The study has no text {name!r}."
        raise RequestError(problem, status=404, code="unknown_text")
    try:
        return (folder / name).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise RequestError(
            f"{name} is not written in UTF-8. Save it in UTF-8 and upload the study again.",
            status=409,
            code="no_utf8",
        ) from error


def digest_of_text(text: str) -> str:
    """Return what tells whether a text has changed."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def save_text(folder: Path, name: str, text: str, seen: str) -> None:
    """Store a text, unless somebody else stored another one since it was read.

    Args:
        folder: The study's.
        name: The file.
        text: What it shall say; a browser's ends of lines become the file's.
        seen: The digest of what it said when it was read.

    Raises:
        StaleTextError: It says something else now.
        RequestError: There is no such file, or the text is too long or no text.
    """
    stored = read_text(folder, name)
    if digest_of_text(stored) != seen:
        raise StaleTextError(stored)
    try:
        content = text.replace("\r\n", "\n").encode("utf-8")
    except UnicodeEncodeError as error:
        raise RequestError(
            "The text holds characters that cannot be stored. Nothing was stored.",
            status=400,
            code="bad_text",
        ) from error
    if len(content) > LARGEST_TEXT_BYTES:
        raise RequestError(
            f"The text has {len(content):,} bytes; {LARGEST_TEXT_BYTES:,} are allowed. Nothing "
            "was stored.",
            status=413,
            code="long_text",
        )
    # Written whole beside it first: whoever reads it meanwhile sees the old text or the new one.
    temporary = (folder / name).with_suffix(".being_written")
    temporary.write_bytes(content)
    temporary.replace(folder / name)


def copied(source: Path, target: Path) -> None:
    """Copy a study under the name of another folder."""
    shutil.copytree(source, target)
    path = target / STUDY_FILE
    text = path.read_text(encoding="utf-8")
    path.write_text(
        _NAME_LINE.sub(f'name = "{target.name}"', text, count=1), encoding="utf-8", newline="\n"
    )


def source_of(instance: Path, project_id: int | None, called: str) -> Path:
    """Return the folder of a built-in study or an own one.

    Raises:
        RequestError: There is none.
    """
    if called in built_in_studies():
        return BUILT_IN / called
    return own_study(instance, project_id, called)
