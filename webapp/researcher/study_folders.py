"""The folders of the current request's studies: those of its project, or of none."""

import errno
import io
import lzma
import os
import re
import secrets
import shutil
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from hashlib import sha256
from pathlib import Path, PurePosixPath

from flask import current_app

from experiment.studies.load import STUDIES_FOLDER, built_in_studies
from experiment.studies.study import STUDY_FILE
from webapp.core.subprocesses import run_in_thread
from webapp.database.engine import reading
from webapp.database.models import Project
from webapp.errors import RequestError
from webapp.researcher.access import current_user, get_current_project_id
from webapp.services import current_services
from webapp.users.audit_log import record_act
from webapp.users.limits import check_upload_limit, count_job


def get_instance_folder() -> Path:
    """Return the instance folder."""
    return Path(current_app.instance_path)


def get_uploads_folder() -> Path:
    """Return the folder of the current project's studies, or of studies without a project."""
    return get_project_uploads(get_instance_folder(), get_current_project_id())


def list_launchable_studies() -> dict[str, str]:
    """Return the launchable studies, by their names on the pages."""
    return find_studies(get_instance_folder(), get_current_project_id())


def get_project_name() -> str:
    """Return the name of the request's project; empty for none."""
    project_id = get_current_project_id()
    if project_id is None:
        return ""
    with reading(current_services().sessions) as session:
        return session.get_one(Project, project_id).name


def add_project_name(**after: str) -> dict[str, str]:
    """Return values for the audit log, with the project if there is one."""
    return after | ({"project": project} if (project := get_project_name()) else {})


def log_study_act(act: str, **after: str) -> None:
    """Record an act on a study in the audit log."""
    services = current_services()
    with services.sessions.begin() as session:
        record_act(
            session, current_user().name, act, services.now(), after=add_project_name(**after)
        )


def count_long_job() -> AbstractContextManager[None]:
    """Return a context that counts a long job of the current project while it runs."""
    services = current_services()
    return count_job(services.sessions, get_current_project_id(), services.now())


def refuse_large_upload(more_bytes: int) -> None:
    """Check that the current project may store more bytes.

    Raises:
        ProjectError: The project's limit is reached.
    """
    project_id = get_current_project_id()
    if project_id is None:
        return
    with reading(current_services().sessions) as session:
        project = session.get_one(Project, project_id)
    uploads = get_uploads_folder()
    stored_bytes = run_in_thread(lambda: measure_folder_bytes(uploads))
    check_upload_limit(project, stored_bytes, more_bytes)


LARGEST_ZIP_BYTES = 20 * 1024 * 1024
_LARGEST_STUDY_BYTES = 60 * 1024 * 1024
_MOST_FILES, _MOST_FOLDERS = 500, 12
_NAME_PATTERN = re.compile(r"[A-Za-z0-9][\w-]{0,63}", re.ASCII)
_UPLOADS_FOLDER = "studies"
# The exceptions that reading a damaged or hostile archive raises, depending on its compression.
_ZIP_ERRORS = (
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


def find_studies(instance: Path, project_id: int | None = None) -> dict[str, str]:
    """Return the launchable studies: built-in and uploaded ones.

    Args:
        instance: The instance folder.
        project_id: The project, which has its own uploads; None for uploads without a project.

    Returns:
        The name or folder of each study, by its name on the pages.
    """
    uploaded = sorted(get_project_uploads(instance, project_id).glob(f"*/*/{STUDY_FILE}"))
    uploaded_studies = {
        f"{path.parent.name} ({path.parent.parent.name})": str(path.parent) for path in uploaded
    }
    return {name: name for name in built_in_studies()} | uploaded_studies


def get_project_uploads(instance: Path, project_id: int | None) -> Path:
    """Return the folder of a project's uploaded studies, or of uploads without a project."""
    if project_id is None:
        return instance / _UPLOADS_FOLDER
    return instance / "projects" / str(project_id) / _UPLOADS_FOLDER


def measure_folder_bytes(folder: Path) -> int:
    """Return the total size of all files in a folder and its subfolders."""
    return sum(
        file.lstat().st_size
        for path, _, names in os.walk(folder)
        for file in (Path(path, name) for name in names)
    )


def store_upload(
    uploads: Path, content: bytes, check_size: Callable[[int], None] = lambda _: None
) -> str:
    """Store the study folder of a zip file, completely or not at all.

    Args:
        uploads: The folder of the uploaded studies.
        content: The zip file.
        check_size: Called with the size of the unpacked study; raises if it is too large.

    Returns:
        The study's name on the pages.

    Raises:
        RequestError: The file is not a zip file of one study folder, or is too large.
    """
    try:
        files = run_in_thread(lambda: _read_zip_files(content))
    except _ZIP_ERRORS as error:
        raise _make_upload_error(f"The file cannot be read as a zip file ({error}).") from error
    name, files = _find_study_folder(files)
    check_size(sum(map(len, files.values())))
    label = secrets.token_hex(4)
    folder = uploads / label
    try:
        run_in_thread(lambda: _write_files(folder / name, files))
    except (OSError, ValueError, RecursionError) as error:
        run_in_thread(lambda: shutil.rmtree(folder, ignore_errors=True))
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EACCES, errno.EROFS):
            raise
        raise _make_upload_error("A name in the zip file cannot name a file or folder.") from error
    return f"{name} ({label})"


def _write_files(folder: Path, files: dict[PurePosixPath, bytes]) -> None:
    for path, data in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)


def _read_zip_files(content: bytes) -> dict[PurePosixPath, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return _read_entries(archive)


def _read_entries(archive: zipfile.ZipFile) -> dict[PurePosixPath, bytes]:
    entries = [entry for entry in archive.infolist() if not entry.is_dir()]
    if len(entries) > _MOST_FILES:
        raise _make_upload_error(
            f"The zip file holds {len(entries)} files; {_MOST_FILES} are allowed."
        )
    files = dict[PurePosixPath, bytes]()
    bytes_left = _LARGEST_STUDY_BYTES
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
            raise _make_upload_error(
                f"The zip file holds a path that leads out of its folder: {entry.filename!r}."
            )
        if len(path.parts) > _MOST_FOLDERS:
            raise _make_upload_error(
                f"A file of the zip file is nested in {len(path.parts) - 1} "
                f"folders; {_MOST_FOLDERS - 1} are allowed."
            )
        if stat.S_ISLNK(entry.external_attr >> 16):
            raise _make_upload_error(f"The zip file holds a link: {entry.filename!r}.")
        # The entry's declared size may be false, so one byte more is read.
        with archive.open(entry) as stream:
            data = stream.read(bytes_left + 1)
        bytes_left -= len(data)
        if bytes_left < 0:
            raise _make_upload_error(
                f"Unpacked, the study is larger than {_LARGEST_STUDY_BYTES:,} bytes."
            )
        files[path] = data
    return files


def _find_study_folder(files: dict[PurePosixPath, bytes]) -> tuple[str, dict[PurePosixPath, bytes]]:
    tops = {path.parts[0] for path in files}
    if len(tops) != 1 or PurePosixPath(next(iter(tops)), STUDY_FILE) not in files:
        raise _make_upload_error(
            "The zip file must hold one folder, and study.toml directly in it."
        )
    (name,) = tops
    if not _NAME_PATTERN.fullmatch(name):
        raise _make_upload_error(
            f"{name!r} cannot be a study's name: use letters, digits, _ and -."
        )
    return name, {path.relative_to(name): data for path, data in files.items()}


def _make_upload_error(problem: str) -> RequestError:
    return RequestError(f"{problem} Nothing was stored.", status=400, code="bad_upload")


def zip_folder(folder: Path) -> io.BytesIO:
    """Return a zip file of a folder with all its contents, under the folder's name."""
    return run_in_thread(lambda: _zip_files(folder))


def _zip_files(folder: Path) -> io.BytesIO:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as zip_file:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                zip_file.write(path, path.relative_to(folder.parent))
    archive.seek(0)
    return archive


# Editable text files; others are replaced by uploading the study again.
_EDITABLE_SUFFIXES = frozenset({".toml", ".md", ".txt", ".tsv", ".csv"})
LARGEST_TEXT_BYTES = 1024 * 1024
_LABEL_PATTERN = re.compile(r"[A-Za-z0-9][\w-]{0,63} \([0-9a-f]{8}\)", re.ASCII)
_NAME_LINE = re.compile(r'^name = "[^"]*"', re.MULTILINE)


class StaleTextError(Exception):
    """Another user saved the text since it was read; nothing was stored.

    Attributes:
        stored: The text as it is now.
    """

    def __init__(self, stored: str) -> None:
        super().__init__(stored)
        self.stored = stored


def find_editable_study(instance: Path, project_id: int | None, called: str) -> Path:
    """Return the folder of an editable study by its name on the pages, ``name (label)``.

    Raises:
        RequestError: There is no such study.
    """
    if _LABEL_PATTERN.fullmatch(called):
        name, _, label = called.partition(" (")
        folder = get_project_uploads(instance, project_id) / label.rstrip(")") / name
        if (folder / STUDY_FILE).is_file():
            return folder
    raise RequestError(
        f"There is no study {called!r} that can be edited here.",
        status=404,
        code="unknown_study",
    )


def list_study_texts(folder: Path) -> list[str]:
    """Return the editable files of a study, study.toml first."""
    editable_files = [
        path.relative_to(folder).as_posix()
        for path in sorted(folder.rglob("*"))
        if path.suffix in _EDITABLE_SUFFIXES
        and path.is_file()
        and path.stat().st_size <= LARGEST_TEXT_BYTES
    ]
    return sorted(editable_files, key=lambda name: (name != STUDY_FILE, name))


def read_study_text(folder: Path, name: str) -> str:
    """Return one of the texts of a study.

    Raises:
        RequestError: The study has no such file, or the file is not UTF-8 text.
    """
    if name not in list_study_texts(folder):
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


def hash_text(text: str) -> str:
    """Return a digest that changes with the text."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def save_study_text(folder: Path, name: str, text: str, seen: str) -> None:
    """Store a text, unless another user stored a different one since it was read.

    Args:
        folder: The study's folder.
        name: The file.
        text: The new text; its line endings are converted to the file's.
        seen: The digest of the text when it was read.

    Raises:
        StaleTextError: The text has changed since.
        RequestError: There is no such file, or the text is too long or not valid text.
    """
    stored = read_study_text(folder, name)
    if hash_text(stored) != seen:
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
    # Written to another file first, so that readers see either the old or the new text.
    temporary = (folder / name).with_suffix(".being_written")
    temporary.write_bytes(content)
    temporary.replace(folder / name)


def copy_study_folder(source: Path, target: Path) -> None:
    """Copy a study into a folder of another name."""
    run_in_thread(lambda: shutil.copytree(source, target))
    path = target / STUDY_FILE
    text = path.read_text(encoding="utf-8")
    path.write_text(
        _NAME_LINE.sub(f'name = "{target.name}"', text, count=1), encoding="utf-8", newline="\n"
    )


def find_study_source(instance: Path, project_id: int | None, called: str) -> Path:
    """Return the folder of a built-in or an editable study.

    Raises:
        RequestError: There is no such study.
    """
    if called in built_in_studies():
        return STUDIES_FOLDER / called
    return find_editable_study(instance, project_id, called)
