"""A study's files: what shows it, exports it, judges by its rules, and trains its models."""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from experiment.errors import StudyError
from experiment.studies.catalogue import CATALOGUE_FILE
from experiment.studies.study import PLAN_FILE, PUBLISHED_FILE, STUDY_FILE, Study

FONT_SUFFIX = ".woff2"
LARGEST_STUDY_BYTES = 64 * 1024 * 1024
TEXT_GRAMMAR = "training_text.toml"
TRAINING_TEXT = "training_text.txt"


def study_files(study: Study) -> dict[str, bytes]:
    """Return what each file of the study holds, by its path in the study's folder.

    Raises:
        StudyError: A file lies outside the folder, or all together are too large to be kept.
    """
    if study.files is not None:
        return dict(study.files)
    files = {name: (study.folder / name).read_bytes() for name in sorted(_names(study))}
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
    """Write what ``study_files`` returns into a folder, which is made if it is missing."""
    for name, content in study_files(study).items():
        copy = folder / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(content)


def _names(study: Study) -> Iterator[str]:
    rates = study.humanness.rates if study.humanness else ""
    font = study.trial.font if study.trial.font.endswith(FONT_SUFFIX) else ""
    named = (study.materials.grammar or study.materials.items, study.trial.practice, rates, font)
    for name in (STUDY_FILE, PUBLISHED_FILE, PLAN_FILE, *filter(None, named)):
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


def _name(study: Study, path: Path) -> str:
    return path.relative_to(study.folder).as_posix()


def training_text(folder: Path) -> Path | None:
    """Return where a study's own text to train on is, or is to be generated.

    Args:
        folder: The study's.

    Returns:
        The text's file, which is not there where only its grammar is; None without either.
    """
    if any((folder / name).exists() for name in (TRAINING_TEXT, TEXT_GRAMMAR)):
        return folder / TRAINING_TEXT
    return None
