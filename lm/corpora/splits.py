"""The parts of a split corpus, and their files."""

from pathlib import Path

from lm.errors import LmError

TRAIN, VALID, TEST = "train", "valid", "test"


def split_files(folder: Path, expected: str) -> dict[str, Path]:
    """Return the paths of a folder's texts, keyed ``train``, ``valid`` and, if present, ``test``.

    Args:
        folder: The folder with ``train.txt`` and the others.
        expected: A sentence on what the folder should contain.

    Raises:
        LmError: train.txt or valid.txt is missing.
    """
    files = {name: folder / f"{name}.txt" for name in (TRAIN, VALID, TEST)}
    for name in (TRAIN, VALID):
        if not files[name].is_file():
            raise LmError(f"{folder} has no {name}.txt. {expected}")
    return {name: path for name, path in files.items() if path.is_file()}
