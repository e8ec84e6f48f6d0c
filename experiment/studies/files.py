"""A study's files, including its own translations of the pages' buttons and messages."""

import re
import string
from collections.abc import Iterator, Mapping
from functools import lru_cache
from io import BytesIO
from pathlib import Path, PurePosixPath

from babel.messages.pofile import PoFileError, read_po

from experiment.errors import StudyError, why_unread
from experiment.grammar.grammar import list_files
from experiment.studies.study import PLAN_FILE, PUBLISHED_FILE, STUDY_FILE, Study

CATALOGUE_FILE = "messages.po"
# The origin and the licence of materials that were made from other people's data.
SOURCES_FILE = "SOURCES.md"
SOURCES_SUFFIX = f".{SOURCES_FILE}"
_PERCENT = re.compile(r"%\((\w+)\)s")


def find_sources(items: Path) -> Path | None:
    """Return the file that says where a table of items is from; None if there is none.

    Its name begins with the table's (``approved.SOURCES.md``), or it is the SOURCES.md of the
    table's study, lists or export, in which a table is called ``items``, or it names the table.
    """
    own = items.with_name(items.stem + SOURCES_SUFFIX)
    if own.is_file():
        return own
    candidates = (items.with_name(SOURCES_FILE), items.parent / "study" / SOURCES_FILE)
    path = next((path for path in candidates if path.is_file()), None)
    return path if path and (items.stem == "items" or _names_table(path, items)) else None


def describe_other_sources(items: Path) -> str:
    """Return that a SOURCES.md next to a table of items is of another one; empty if none is."""
    path = items.with_name(SOURCES_FILE)
    if find_sources(items) or not path.is_file():
        return ""
    return (
        f"{path} does not name {items.name}, so it is not copied. If it says where these items are "
        f"from, rename it to {items.stem}{SOURCES_SUFFIX}."
    )


def _names_table(sources: Path, items: Path) -> bool:
    text = sources.read_bytes().decode("utf-8", "replace")
    return re.search(rf"(?<![\w.-]){re.escape(items.stem)}\.\w", text) is not None


def catalogue_name(language: str) -> str:
    """Return the path of a study's own translations within its folder."""
    return f"texts/{language}/{CATALOGUE_FILE}"


def own_messages(study: Study) -> Mapping[str, str]:
    """Return the study's own translations by English message; empty if there are none.

    Raises:
        StudyError: The catalogue cannot be read, or a translation has different placeholders.
    """
    name = catalogue_name(study.study.language)
    try:
        text = study.read(name)
    except FileNotFoundError:
        return {}
    except UnicodeDecodeError as error:
        raise _make_unreadable_error(str(study.folder / name), why_unread(error)) from error
    return read_messages(text, str(study.folder / name))


@lru_cache(maxsize=64)
def read_messages(text: str, location: str) -> Mapping[str, str]:
    """Return a catalogue's translations by English message; see ``own_messages``."""
    try:
        read = read_po(BytesIO(text.encode()), abort_invalid=True)
    except (PoFileError, ValueError) as error:
        raise _make_unreadable_error(location, str(error)) from error
    messages = {}
    for message in read:
        if not (isinstance(message.id, str) and message.id and isinstance(message.string, str)):
            continue
        if not message.string or message.fuzzy:
            continue
        if _find_placeholders(message.id) != _find_placeholders(message.string):
            raise StudyError(
                f"the translation “{message.string}” has different placeholders from its message",
                where=location,
                expected=f"the placeholders of “{message.id}”, written the same way",
            )
        messages[message.id] = message.string
    return messages


def _find_placeholders(text: str) -> set[str]:
    try:
        braces = {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}
    except ValueError:
        return {text}
    return braces | set(_PERCENT.findall(text))


def _make_unreadable_error(location: str, reason: str) -> StudyError:
    return StudyError(
        f"the study's own catalogue cannot be read: {reason}",
        where=location,
        expected="a gettext catalogue (.po) in UTF-8",
    )


FONT_SUFFIX = ".woff2"
LARGEST_STUDY_BYTES = 64 * 1024 * 1024
TEXT_GRAMMAR = "training_text.toml"
TRAINING_TEXT = "training_text.txt"


def study_files(study: Study) -> dict[str, bytes]:
    """Return the content of each of the study's files, by path within the study's folder.

    Raises:
        StudyError: A file lies outside the folder, or the files are too large to store.
    """
    if study.files is not None:
        return dict(study.files)
    files = {name: (study.folder / name).read_bytes() for name in sorted(_list_file_names(study))}
    total = sum(map(len, files.values()))
    if total > LARGEST_STUDY_BYTES:
        largest = max(files, key=lambda name: len(files[name]))
        raise StudyError(
            f"the study's files hold {total:,} bytes, most of them {largest}",
            where=str(study.folder),
            expected=f"at most {LARGEST_STUDY_BYTES:,} bytes, because a run keeps them all",
            remedy="Remove from the materials what no list uses",
        )
    return files


def write_study_files(study: Study, folder: Path) -> None:
    """Write the files of ``study_files`` into a folder, creating the folder if necessary."""
    for name, content in study_files(study).items():
        copy = folder / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(content)


def _list_file_names(study: Study) -> Iterator[str]:
    rates = study.humanness.rates if study.humanness else ""
    font = study.trial.font if study.trial.font.endswith(FONT_SUFFIX) else ""
    file_names = (
        study.materials.grammar or study.materials.items,
        study.trial.practice,
        study.design.inclusion,
        rates,
        font,
    )
    for name in (
        STUDY_FILE,
        PUBLISHED_FILE,
        PLAN_FILE,
        SOURCES_FILE,
        *filter(None, file_names),
        *_grammar_files(study),
    ):
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts:
            raise StudyError(
                f'the file "{name}" lies outside the study',
                where=str(study.folder / STUDY_FILE),
                expected="a file in the study's folder",
            )
        if (study.folder / path).is_file():
            yield path.as_posix()
    for pattern in ("*.md", CATALOGUE_FILE):
        yield from (_name(study, path) for path in (study.folder / "texts").rglob(pattern))


def _grammar_files(study: Study) -> list[str]:
    """Return the files that the study's grammar reads, by name within the study's folder."""
    grammar = study.materials.grammar
    if not grammar or not study.grammar_path.is_file():
        return []
    folder = PurePosixPath(grammar).parent
    return [(folder / name).as_posix() for name in list_files(study.grammar_path)]


def _name(study: Study, path: Path) -> str:
    return path.relative_to(study.folder).as_posix()


def training_text(folder: Path) -> Path | None:
    """Return the path of a study's own training text, existing or to be generated.

    Args:
        folder: The study's folder.

    Returns:
        The path of the text, which may not exist yet if only its grammar does; None without either.
    """
    if any((folder / name).exists() for name in (TRAINING_TEXT, TEXT_GRAMMAR)):
        return folder / TRAINING_TEXT
    return None
