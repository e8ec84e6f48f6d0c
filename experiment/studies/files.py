"""A study's files, and where its materials are from."""

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from experiment.errors import StudyError
from experiment.grammar.grammar import list_files
from experiment.studies.page_files import CATALOGUE_FILE, FONT_SUFFIX
from experiment.studies.study import PLAN_FILE, PUBLISHED_FILE, STUDY_FILE, Study

# The origin and the licence of materials that were made from other people's data.
SOURCES_FILE = "SOURCES.md"
SOURCES_SUFFIX = f".{SOURCES_FILE}"


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
