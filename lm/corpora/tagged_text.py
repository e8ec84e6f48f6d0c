"""Texts with supertags: ``word<TAB>tag`` on a line, a blank line between sentences."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lm.corpora.folder import find_split_files
from lm.corpora.vocab import Vocabulary
from lm.errors import LmError, why_unread

Ids = NDArray[np.int32]
# The tags for unseen tags and for the end of a sentence.
UNKNOWN_TAG, END_TAG = "<unk>", "<eos>"


@dataclass(frozen=True, slots=True, eq=False)
class TaggedText:
    """A tagged text as numbers, each sentence followed by ``<eos>``, which has a tag of its own.

    Attributes:
        words: int32, shape ``(tokens,)``.
        tags: int32, shape ``(tokens,)``: the tag of the word at the same index.
    """

    words: Ids
    tags: Ids


def read_tagged(path: Path) -> Iterator[list[tuple[str, str]]]:
    """Yield each sentence as (word, tag) pairs.

    Raises:
        LmError: The file is missing, empty, not UTF-8, or a line lacks a column.
    """
    sentence: list[tuple[str, str]] = []
    n_sentences = 0
    for number, line in enumerate(_read_lines(path), start=1):
        if line.strip():
            sentence.append(_split_tagged_word(line, path, number))
        elif sentence:
            n_sentences += 1
            yield sentence
            sentence = []
    if sentence:
        yield sentence
    elif not n_sentences:
        raise LmError(f"{path} holds no tagged words. Expected a word, a tab and a tag per line.")


def _read_lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise LmError(
            f"cannot read the tagged text {path} ({why_unread(error, path)}). Expected UTF-8 text "
            "with a word, a tab and a supertag per line, and a blank line between sentences."
        ) from error


def _split_tagged_word(line: str, path: Path, number: int) -> tuple[str, str]:
    columns = line.rstrip("\r").split("\t")
    if len(columns) != 2 or not all(column.strip() for column in columns):
        raise LmError(
            f'{path}, line {number}: "{line[:60]}" has {len(columns)} column(s). Expected two: a '
            "word, a tab and its supertag; sentences are separated by blank lines."
        )
    return columns[0].strip(), columns[1].strip()


def tagged_files(folder: Path) -> dict[str, Path]:
    """Return a folder's tagged texts, keyed ``train``, ``valid`` and, if present, ``test``.

    Raises:
        LmError: train.txt or valid.txt is missing.
    """
    return find_split_files(
        folder,
        "Expected train.txt and valid.txt with a word, a tab and a supertag per line, and a blank "
        "line between sentences.",
    )


def tags_by_frequency(sentences: Iterable[Sequence[tuple[str, str]]]) -> tuple[str, ...]:
    """Return the tags in the order of their numbers: the two special tags, then by frequency."""
    counts = Counter(tag for sentence in sentences for _, tag in sentence)
    ranked = sorted(counts, key=lambda tag: (-counts[tag], tag))
    special = (UNKNOWN_TAG, END_TAG)
    return (*special, *(tag for tag in ranked if tag not in special))


def encode_tagged(
    sentences: Iterable[Sequence[tuple[str, str]]], vocabulary: Vocabulary, tags: Sequence[str]
) -> TaggedText:
    """Return a tagged text as numbers."""
    number_of = {tag: number for number, tag in enumerate(tags)}
    unknown, end = number_of[UNKNOWN_TAG], number_of[END_TAG]
    words: list[int] = []
    tag_ids: list[int] = []
    for sentence in sentences:
        for word, tag in sentence:
            words.append(vocabulary[word])
            tag_ids.append(number_of.get(tag, unknown))
        words.append(vocabulary.end)
        tag_ids.append(end)
    return TaggedText(np.array(words, np.int32), np.array(tag_ids, np.int32))
