"""The text of a study on which its small language models are trained."""

from pathlib import Path

TEXT_GRAMMAR = "training_text.toml"
TRAINING_TEXT = "training_text.txt"


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
