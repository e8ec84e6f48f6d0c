"""Vectors of answers, from a file of word vectors or an encoder on this machine."""

import gzip
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from analysis.errors import AnalysisError
from experiment.errors import why_unread

Floats = NDArray[np.float64]
_EXPECTED = (
    "word vectors in the text format of word2vec, GloVe and fastText (in each line a word and its "
    "numbers, separated by spaces; also as .gz), or the folder of a Hugging Face encoder"
)


@dataclass(frozen=True, slots=True)
class Embedding:
    """What gives vectors to answers.

    Attributes:
        name: The name of the file or folder.
        sha256: The hash of the file; of a folder, of its files and the computing libraries.
        kind: What it is, in words.
        embed: Returns the vectors of answers, of shape ``(answers, dimensions)`` and length 1; NaN
            for an answer without a vector.
    """

    name: str
    sha256: str
    kind: str
    embed: Callable[[Sequence[str]], Floats]

    @property
    def in_words(self) -> str:
        """The embedding in words, with the beginning of its hash."""
        return f"{self.name} ({self.kind}; SHA-256 {self.sha256[:12]})"


def read_embedding(path: Path) -> Embedding:
    """Return the embedding of a file of word vectors or of an encoder's folder.

    Raises:
        AnalysisError: The file does not exist or has no word vectors.
        LmError: The folder has no encoder.
    """
    if path.is_dir():
        # The libraries take seconds to import.
        from lm.huggingface.encoder import Encoder
        from lm.model_folder import model_identity

        encoder = Encoder(path)
        kind = f"mean over the tokens of a {encoder.kind}"
        embed = partial(_embed_whole, encoder.embed)
        return Embedding(path.resolve().name, model_identity(str(path)), kind, embed)
    n_dimensions = _count_dimensions(path)
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    kind = f"word vectors of {n_dimensions} dimensions"
    return Embedding(path.name, sha256, kind, partial(_embed_words, path, n_dimensions))


def scale_to_length_one(vectors: Floats) -> Floats:
    """Return vectors of length 1; NaN for a vector of zeros."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, np.nan), np.float64)


def _embed_whole(embed: Callable[[Sequence[str]], Floats], answers: Sequence[str]) -> Floats:
    return scale_to_length_one(embed(answers))


def _embed_words(path: Path, n_dimensions: int, answers: Sequence[str]) -> Floats:
    """Return the vectors of answers; of several words, the mean of their vectors of length 1."""
    words = _read_vectors(path, n_dimensions, {word for text in answers for word in text.split()})
    none = np.full(n_dimensions, np.nan)
    rows = [
        np.mean([words.get(word, none) for word in text.split() or [""]], axis=0)
        for text in answers
    ]
    return scale_to_length_one(np.array(rows).reshape(len(rows), n_dimensions))


def _read_vectors(path: Path, n_dimensions: int, wanted: set[str]) -> Mapping[str, Floats]:
    """Return the vectors of words, of length 1.

    The first line of a word counts, without regard to case: in the usual files the most frequent
    words come first, so that *hund* has the vector of *Hund*.

    Raises:
        AnalysisError: A line has other numbers than the first.
    """
    vectors: dict[str, Floats] = {}
    for number, line in _read_lines(path):
        start = line.split(" ", 1)[0].casefold()
        if start not in wanted or start in vectors:
            continue
        # Some files have entries with spaces in them.
        word, *values = line.rstrip().rsplit(" ", n_dimensions)
        if word.casefold() != start:
            continue
        vector = _parse_numbers(values)
        if vector is None or len(vector) != n_dimensions:
            raise _make_error(path, number, f'"{word}" has no {n_dimensions} numbers')
        vectors[start] = scale_to_length_one(vector)
    return vectors


def _count_dimensions(path: Path) -> int:
    """Return the number of dimensions by the first line with a vector.

    Raises:
        AnalysisError: The file does not exist or is no text with vectors.
    """
    for number, line in _read_lines(path, errors="strict"):
        fields = line.split()
        is_header = number == 1 and len(fields) == 2 and all(map(str.isdecimal, fields))
        if is_header:
            continue
        if len(fields) < 3 or _parse_numbers(fields[1:]) is None:
            raise _make_error(path, number, "this line has no word with its vector")
        return len(fields) - 1
    raise AnalysisError("the file has no word vectors", where=str(path), expected=_EXPECTED)


def _read_lines(path: Path, errors: str = "replace") -> Iterator[tuple[int, str]]:
    """Yield each line with its number; some published files have words that are not UTF-8."""
    opened = gzip.open if path.suffix == ".gz" else open
    number = 0
    try:
        with cast(BinaryIO, opened(path, "rb")) as lines:
            for number, line in enumerate(lines, start=1):
                yield number, line.decode(errors=errors).replace("\t", " ")
    except (OSError, EOFError, UnicodeDecodeError) as error:
        where = f"{path}, line {number}" if number else str(path)
        raise AnalysisError(
            f"the word vectors cannot be read: {why_unread(error)}",
            where=where,
            expected=_EXPECTED,
        ) from error


def _parse_numbers(values: Sequence[str]) -> Floats | None:
    try:
        numbers = np.array(values, np.float64)
    except ValueError:
        return None
    return numbers if np.isfinite(numbers).all() else None


def _make_error(path: Path, number: int, problem: str) -> AnalysisError:
    return AnalysisError(problem, where=f"{path}, line {number}", expected=_EXPECTED)
