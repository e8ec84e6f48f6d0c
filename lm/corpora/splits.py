"""The parts that a corpus is split into, and the files that hold them."""

from pathlib import Path

from lm.errors import LmError

TRAIN, VALID, TEST = "train", "valid", "test"


def split_files(folder: Path, expected: str) -> dict[str, Path]:
    """Return the texts of a folder by ``train``, ``valid`` and perhaps ``test``.

    Args:
        folder: Holds ``train.txt`` and the others.
        expected: What the folder should hold, as a sentence.

    Raises:
        LmError: train.txt or valid.txt is missing.
    """
    files = {name: folder / f"{name}.txt" for name in (TRAIN, VALID, TEST)}
    for name in (TRAIN, VALID):
        if not files[name].is_file():
            raise LmError(f"{folder} has no {name}.txt. {expected}")
    return {name: path for name, path in files.items() if path.is_file()}
