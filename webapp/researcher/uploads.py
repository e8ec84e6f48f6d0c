"""Zip files of study folders: one that came through the browser, read with suspicion; one to send.

An uploaded study names only what is installed: its lists are built and its run is launched by a
process that imports no ``module:NAME`` of anybody's own.
"""

import errno
import io
import lzma
import re
import secrets
import shutil
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from experiment.studies.load import built_in_studies
from experiment.studies.study import STUDY_FILE
from webapp.errors import RequestError

LARGEST_ZIP_BYTES = 20 * 1024 * 1024
_LARGEST_STUDY_BYTES = 60 * 1024 * 1024
_MOST_FILES = 500
_NAME = re.compile(r"[A-Za-z0-9][\w-]{0,63}", re.ASCII)
_FOLDER = "studies"
# What reading a damaged or hostile archive ends in, by the kind of its compression.
_UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    NotImplementedError,
    RuntimeError,
    EOFError,
    OSError,
    ValueError,
    IndexError,
    struct.error,
)


def known_studies(instance: Path, project_id: int | None = None) -> dict[str, str]:
    """Return what can be launched: the built-in studies and the uploaded ones.

    Args:
        instance: The instance folder.
        project_id: The project, which has uploads of its own; None for what belongs to none.

    Returns:
        The name or the folder of each by what the pages call it.
    """
    uploaded = sorted(uploads_of(instance, project_id).glob(f"*/*/{STUDY_FILE}"))
    own = {f"{path.parent.name} ({path.parent.parent.name})": str(path.parent) for path in uploaded}
    return {name: name for name in built_in_studies()} | own


def uploads_of(instance: Path, project_id: int | None) -> Path:
    """Return the folder of the studies that were uploaded in a project, or in none."""
    if project_id is None:
        return instance / _FOLDER
    return instance / "projects" / str(project_id) / _FOLDER


def uploaded_bytes(folder: Path) -> int:
    """Return how large all the files of a folder are, however deep they lie."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def store_upload(
    uploads: Path, content: bytes, check_size: Callable[[int], None] = lambda _: None
) -> str:
    """Store the study folder of a zip file, whole or not at all.

    Args:
        uploads: The folder of the uploaded studies.
        content: The zip file.
        check_size: Called with the size of the unpacked study; raises where that is too much.

    Returns:
        What the pages call it.

    Raises:
        RequestError: It is no zip file of one study folder, or too large.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            files = _files(archive)
    except _UNREADABLE as error:
        raise _refused(f"The file cannot be read as a zip file ({error}).") from error
    name, files = _study_folder(files)
    check_size(sum(map(len, files.values())))
    label = secrets.token_hex(4)
    folder = uploads / label
    try:
        for path, data in files.items():
            target = folder / name / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
    except (OSError, ValueError, RecursionError) as error:
        shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EACCES, errno.EROFS):
            raise
        raise _refused("A name in the zip file cannot be a file's or a folder's.") from error
    return f"{name} ({label})"


def _files(archive: zipfile.ZipFile) -> dict[PurePosixPath, bytes]:
    entries = [entry for entry in archive.infolist() if not entry.is_dir()]
    if len(entries) > _MOST_FILES:
        raise _refused(f"The zip file holds {len(entries)} files; {_MOST_FILES} are allowed.")
    files = dict[PurePosixPath, bytes]()
    left = _LARGEST_STUDY_BYTES
    for entry in entries:
        path = PurePosixPath(entry.filename)
        if path.name.startswith(".") or "__MACOSX" in path.parts:
            continue
        if (
            not path.parts
            or path.is_absolute()
            or ".." in path.parts
            or "\\" in entry.filename
            or "\0" in str(path)
        ):
            raise _refused(
                f"The zip file holds a path that leads out of its folder: {entry.filename!r}."
            )
        if stat.S_ISLNK(entry.external_attr >> 16):
            raise _refused(f"The zip file holds a link: {entry.filename!r}.")
        # What the file says of its own size may be a lie, so one byte more is asked for.
        with archive.open(entry) as stream:
            data = stream.read(left + 1)
        left -= len(data)
        if left < 0:
            raise _refused(f"Unpacked, the study is larger than {_LARGEST_STUDY_BYTES:,} bytes.")
        files[path] = data
    return files


def _study_folder(files: dict[PurePosixPath, bytes]) -> tuple[str, dict[PurePosixPath, bytes]]:
    tops = {path.parts[0] for path in files}
    if len(tops) != 1 or PurePosixPath(next(iter(tops)), STUDY_FILE) not in files:
        raise _refused("The zip file must hold one folder, and study.toml directly in it.")
    (name,) = tops
    if not _NAME.fullmatch(name):
        raise _refused(f"{name!r} cannot be a study's name: use letters, digits, _ and -.")
    return name, {path.relative_to(name): data for path, data in files.items()}


def _refused(problem: str) -> RequestError:
    return RequestError(f"{problem} Nothing was stored.", status=400, code="bad_upload")


def zipped(folder: Path) -> io.BytesIO:
    """Return a zip file of a folder and all that is in it, under the folder's name."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as zip_file:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                zip_file.write(path, path.relative_to(folder.parent))
    archive.seek(0)
    return archive
