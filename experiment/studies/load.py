"""Finding and reading of study folders."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pydantic import ValidationError

from experiment.errors import ParallaxError, StudyError, format_value
from experiment.plugins import unknown_name
from experiment.studies.key_errors import KeyErrors, TomlLines
from experiment.studies.page_files import own_messages
from experiment.studies.study import EARLIER_RESPONSE, STUDY_FILE, Study
from experiment.untrusted import read_toml

STUDIES_FOLDER = Path(__file__).parent
_NUL = "\0"


def built_in_studies() -> list[str]:
    """Return the names of the built-in studies."""
    return sorted(path.parent.name for path in STUDIES_FOLDER.glob("*/study.toml"))


def find_study(name_or_folder: str) -> Path:
    """Return the folder of a built-in study, or the given folder.

    Raises:
        StudyError: The folder has no study.toml.
        UnknownNameError: The name is neither a folder nor a built-in study.
    """
    built_in = STUDIES_FOLDER / name_or_folder
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
        StudyError: study.toml is malformed, a key is missing or invalid, or a text is missing.
        UnknownNameError: The study is unknown.
    """
    folder = find_study(name_or_folder)
    return _parse_study(folder, None, (folder / STUDY_FILE).read_bytes())


def frozen_study(files: Mapping[str, bytes], folder: Path) -> Study:
    """Return the study in these stored files, independent of its folder.

    Args:
        files: The files' contents by name: ``study_files`` of the study.
        folder: The files' original folder, for messages.

    Raises:
        StudyError: The files are invalid: see ``load_study``.
    """
    return _parse_study(folder, files, files.get(STUDY_FILE, b""))


class StudyErrors(StudyError):
    """Several mistakes in one study folder.

    Args:
        errors: The mistakes.
        folder: The study's folder.
    """

    def __init__(self, errors: Sequence[ParallaxError], folder: Path) -> None:
        self.all = tuple(errors)
        first, n_more = errors[0], len(errors) - 1
        more_errors_note = f"`parallax study check {folder}` names this and {n_more} more"
        remedy = ". ".join(
            filter(None, (first.remedy.rstrip("."), more_errors_note if n_more else ""))
        )
        super().__init__(first.problem, where=first.where, expected=first.expected, remedy=remedy)


def _parse_study(folder: Path, files: Mapping[str, bytes] | None, toml: bytes) -> Study:
    path = folder / STUDY_FILE
    try:
        # Editors on Windows write a byte order mark, which TOML does not allow.
        text = toml.decode("utf-8-sig")
        keys = read_toml(text)
    except UnicodeDecodeError as error:
        raise StudyError(
            f"the file is not UTF-8 text (byte {error.start})",
            where=str(path),
            expected="a text in UTF-8",
            remedy="Choose the encoding UTF-8 in your editor and save it again",
        ) from error
    except tomllib.TOMLDecodeError as error:
        raise _syntax_error(path, text, error) from error
    except (ValueError, RecursionError) as error:
        raise StudyError(
            "a number has too many digits, or brackets are nested too deeply",
            where=str(path),
            expected="numbers and lists as docs/studies.md shows them",
        ) from error
    try:
        # TOML values have types: "2" is not a number, and 2.0 is not a count. Runs that were
        # launched before this check are read leniently, as they were then.
        tables = {**_rename_reserved_keys(keys), "folder": folder, "files": files}
        if files is None and any(_NUL in part for part in _list_texts(keys)):
            raise StudyError(
                r"a text holds a NUL (\u0000), which no database stores",
                where=str(path),
                expected="texts of characters that can be read",
                remedy=r"Search the file for \u0000 and \U00000000, and remove them",
            )
        study = Study.model_validate(tables, strict=files is None)
    except ValidationError as error:
        lines = TomlLines(text, {"response": EARLIER_RESPONSE})
        errors = KeyErrors(Study, str(path), lines).of(error)
        raise StudyErrors(errors, folder) from error
    if missing := list(text_errors(study)):
        raise StudyErrors(missing, folder)
    own_messages(study)
    return study


def _list_texts(value: object) -> Iterator[str]:
    """Yield every text in a file's keys and values."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from value
        yield from (text for inner in value.values() for text in _list_texts(inner))
    elif isinstance(value, list):
        yield from (text for inner in value for text in _list_texts(inner))


def _rename_reserved_keys(keys: Mapping[str, object]) -> dict[str, object]:
    """Return a file's keys; reserved keys are renamed so that they are reported as unknown."""
    reserved = {"folder", "files"}
    return {f"{key} " if key in reserved else key: value for key, value in keys.items()}


def _syntax_error(path: Path, text: str, error: tomllib.TOMLDecodeError) -> StudyError:
    message, _, position = str(error).partition(" (at ")
    match = re.match(r"line (\d+), column (\d+)", position)
    lines = text.splitlines() or [""]
    number = min(int(match.group(1)), len(lines)) if match else len(lines)
    return StudyError(
        f"the line is not valid TOML: {message}: {format_value(lines[number - 1].strip())}",
        where=f"{path}, line {number}",
        expected='a line such as name = "a text", lists = 2 or [design]',
        remedy=(
            "Look at this line and the one before it: a quotation mark, a bracket or an "
            "equals sign may be missing"
        ),
    )


def text_errors(study: Study) -> Iterator[StudyError]:
    """Report the pages whose text is missing, empty or unreadable."""
    for page in study.texts:
        path = study.folder / "texts" / study.study.language / f"{page}.md"
        problem = ""
        try:
            text = study.text(page)
            if not text.strip():
                problem = f'the text of the page "{page}" is missing or empty'
            elif _NUL in text and study.files is None:
                problem = f'the text of the page "{page}" holds a NUL, which no database stores'
        except FileNotFoundError:
            problem = f'the text of the page "{page}" is missing or empty'
        except OSError as error:
            problem = f'the text of the page "{page}" cannot be read ({error.strerror})'
        except UnicodeDecodeError:
            problem = f'the text of the page "{page}" is not in UTF-8'
        if problem:
            yield StudyError(
                problem,
                where=str(path),
                expected="a Markdown text that participants read, in UTF-8",
                remedy=_describe_languages(study),
            )


def _describe_languages(study: Study) -> str:
    folders = sorted(path.name for path in (study.folder / "texts").glob("*") if path.is_dir())
    if study.files is not None or study.study.language in folders or not folders:
        return ""
    return f"The folder texts has {', '.join(folders)}, but [study] says {study.study.language}"
