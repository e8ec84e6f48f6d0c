"""Which words a language model knows."""

from collections.abc import Container
from pathlib import Path

from experiment.errors import MaterialsError, why_unread


class AnyWord:
    """The vocabulary of a model that is not named: it holds every word."""

    def __contains__(self, _word: object) -> bool:
        return True


def read_vocabulary(path: Path | None) -> Container[str]:
    """Return the words of a file, one on each line; every word when there is no file.

    What follows a word on its line, after white space, is ignored.

    Raises:
        MaterialsError: The file is missing, no text, or empty.
    """
    if path is None:
        return AnyWord()
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise MaterialsError(
            f"the vocabulary cannot be read ({why_unread(error)})",
            where=str(path),
            expected="a UTF-8 text with a word on each line",
        ) from error
    words = frozenset(line.split()[0] for line in lines if line.strip())
    if not words:
        raise MaterialsError(
            "the vocabulary is empty", where=str(path), expected="a word on each line"
        )
    return words
