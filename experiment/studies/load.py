"""Finding and reading a study folder."""

import tomllib
from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from experiment.errors import StudyError
from experiment.plugins import unknown_name
from experiment.studies.study import STUDY_FILE, Study
from experiment.validation import wrong_keys

BUILT_IN = Path(__file__).parent
PAGES = ("consent", "instructions", "debrief")


def built_in_studies() -> list[str]:
    """Return the names of the studies that ship with Parallax."""
    return sorted(path.parent.name for path in BUILT_IN.glob("*/study.toml"))


def find_study(name_or_folder: str) -> Path:
    """Return the folder of a built-in study, or the folder given.

    Raises:
        StudyError: The folder holds no study.toml.
        UnknownNameError: It is neither a folder nor a built-in study.
    """
    built_in = BUILT_IN / name_or_folder
    if name_or_folder in built_in_studies():
        return built_in
    folder = Path(name_or_folder)
    if (folder / STUDY_FILE).is_file():
        return folder
    if folder.is_dir():
        raise StudyError(
            "the folder holds no study.toml",
            where=str(folder),
            expected="a study folder",
            remedy="docs/studies.md says how to write one",
        )
    raise unknown_name("study", name_or_folder, built_in_studies())


def load_study(name_or_folder: str) -> Study:
    """Read and check a study folder.

    Raises:
        StudyError: study.toml is malformed, a key is missing or wrong, or a text is missing.
        UnknownNameError: There is no such study.
    """
    folder = find_study(name_or_folder)
    return _checked(folder, None, (folder / STUDY_FILE).read_bytes())


def frozen_study(files: Mapping[str, bytes], folder: Path) -> Study:
    """Return the study that these files make, which needs its folder no more.

    Args:
        files: The files' contents by name: ``study_files`` of the study.
        folder: Where they once lay, for messages.

    Raises:
        StudyError: As ``load_study`` has it of a folder.
    """
    return _checked(folder, files, files.get(STUDY_FILE, b""))


def _checked(folder: Path, files: Mapping[str, bytes] | None, toml: bytes) -> Study:
    path = folder / STUDY_FILE
    try:
        keys = tomllib.loads(toml.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise StudyError(f"not valid TOML: {error}", where=str(path)) from error
    try:
        study = Study(folder=folder, files=files, **keys)
    except (ValidationError, TypeError) as error:
        raise _key_error(path, error) from error
    _check_texts(study)
    return study


def _key_error(path: Path, error: ValidationError | TypeError) -> StudyError:
    if isinstance(error, TypeError):
        return StudyError(str(error), where=str(path))
    return StudyError(
        f"{error.error_count()} key(s) are wrong: {wrong_keys(error)}",
        where=str(path),
        remedy="docs/studies.md lists every key",
    )


def _check_texts(study: Study) -> None:
    for page in PAGES:
        try:
            empty = not study.text(page).strip()
        except FileNotFoundError:
            empty = True
        if empty:
            raise StudyError(
                f'the text of the page "{page}" is missing or empty',
                where=str(study.folder / "texts" / study.study.language / f"{page}.md"),
                expected="a Markdown text that participants read",
            )
