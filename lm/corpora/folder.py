"""Corpora for training: train, valid and test as memory-mapped word numbers.

Texts are read twice, sentence by sentence, and written as they are read: memory use depends on
the number of different words and of sentences, not on the number of tokens.
"""

import hashlib
import json
import shutil
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lm.corpora.text import read_sentences, text_sha256
from lm.corpora.vocab import (
    DEFAULT_MAX_WORDS,
    STREAM_WORDS,
    Vocabulary,
    read_vocabulary,
    vocabulary_by_frequency,
    write_vocabulary,
)
from lm.errors import LmError, why_unread
from lm.model_folder import atomic_folder
from lm.text.generated import describe_text

TRAIN, VALID, TEST = "train", "valid", "test"


def find_split_files(folder: Path, expected: str) -> dict[str, Path]:
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


Ids = NDArray[np.int32]
Shown = Callable[[Iterable[list[str]], str], Iterable[list[str]]]

CACHE_FOLDER = ".prepared"
_VOCABULARY, _FACTS = "vocab.txt", "facts.json"
_CACHE_FORMAT = 1
_SENTENCES_AT_A_TIME = 100_000


@dataclass(frozen=True, slots=True)
class CorpusChoices:
    """The settings that turn texts into numbers.

    Attributes:
        max_words: The number of known words: the most frequent of the training text.
        min_count: Words that occur less often in it are unknown.
        seed: The seed of the split and of the order of the training sentences.
        valid_share: The share of validation sentences if the corpus is a single file; the
            default is the one of Gulordava et al. (2018): eight parts to train, one to validate.
    """

    max_words: int = DEFAULT_MAX_WORDS
    min_count: int = 1
    seed: int = 1
    valid_share: float = 1 / 9


@dataclass(frozen=True, slots=True, eq=False)
class Corpus:
    """Texts as word numbers, each sentence followed by ``<eos>``.

    Attributes:
        vocabulary: The words.
        splits: int32 arrays on disk, keyed ``train``, ``valid`` and, if present, ``test``.
        n_sentences: The number of sentences by split.
        described: A description of the training text.
        sha256: The hash of the texts and the choices.
    """

    vocabulary: Vocabulary
    splits: Mapping[str, Ids]
    n_sentences: Mapping[str, int]
    described: str
    sha256: str


def _read_silently(sentences: Iterable[list[str]], task: str) -> Iterable[list[str]]:
    return sentences


def prepare(
    source: Path, choices: CorpusChoices, cache: Path | None = None, shown: Shown = _read_silently
) -> Corpus:
    """Return the corpus of a folder or a file; use the cache if it was prepared before.

    Args:
        source: A folder with train.txt, valid.txt, and optionally test.txt and vocab.txt (a word a
            line, which fixes the vocabulary), or one text, which is split.
        choices: The settings.
        cache: The folder of prepared corpora; default: ``.prepared`` in the folder or by the file.
        shown: Wraps the sentences during reading, for a progress bar.

    Raises:
        LmError: A text is missing or cannot be used, or the cache cannot be written.
    """
    texts = _read_texts(source)
    fixed = source / _VOCABULARY
    vocabulary = read_vocabulary(fixed) if fixed.is_file() else None
    hashes = {name: text_sha256(path) for name, path in texts.items()}
    identity = [_CACHE_FORMAT, hashes, asdict(choices), vocabulary and vocabulary.sha256]
    sha256 = hashlib.sha256(json.dumps(identity).encode()).hexdigest()
    home = cache or (source if source.is_dir() else source.parent) / CACHE_FOLDER
    prepared = home / sha256[:16]
    if not prepared.is_dir():
        with atomic_folder(prepared) as folder:
            _Preparation(texts, choices, shown, folder).write(vocabulary)
    description = describe_text(texts[TRAIN], hashes[TRAIN])
    return _load(prepared, description, sha256)


def _read_texts(source: Path) -> dict[str, Path]:
    if not source.is_dir():
        return {TRAIN: source}
    return find_split_files(
        source,
        "Expected train.txt, valid.txt and perhaps test.txt, one tokenised sentence per line. To "
        "split a text automatically, give its file instead.",
    )


def _load(folder: Path, described: str, sha256: str) -> Corpus:
    try:
        facts = json.loads((folder / _FACTS).read_text(encoding="utf-8"))
        splits = {name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in facts}
    except (OSError, ValueError, EOFError) as error:
        raise LmError(
            f"the prepared corpus {folder} is damaged ({why_unread(error, folder / _FACTS)}). "
            "Remove that folder and try again."
        ) from error
    return Corpus(read_vocabulary(folder / _VOCABULARY), splits, facts, described, sha256)


@dataclass(frozen=True, slots=True)
class _Preparation:
    texts: Mapping[str, Path]
    choices: CorpusChoices
    shown: Shown
    folder: Path

    def write(self, vocabulary: Vocabulary | None) -> None:
        counts: Counter[str] = Counter()
        sizes: dict[str, tuple[int, int]] = {}
        for name, path in self.texts.items():
            word_counts = counts if name == TRAIN and vocabulary is None else Counter()
            sizes[name] = self._count(path, word_counts)
        if vocabulary is None:
            vocabulary = vocabulary_by_frequency(
                counts, self.choices.max_words, self.choices.min_count, STREAM_WORDS
            )
        facts: dict[str, int] = {}
        for name, path in self.texts.items():
            ids, lengths = self._encode(path, vocabulary, sizes[name])
            facts |= self._split(name, ids, lengths)
        write_vocabulary(self.folder / _VOCABULARY, vocabulary)
        (self.folder / _FACTS).write_text(json.dumps(facts), encoding="utf-8", newline="\n")
        shutil.rmtree(self.folder / "unsorted")

    def _count(self, path: Path, counts: Counter[str]) -> tuple[int, int]:
        n_sentences = n_tokens = 0
        for tokens in self.shown(read_sentences(path), f"Counting {path.name}"):
            counts.update(tokens)
            n_sentences += 1
            n_tokens += len(tokens)
        return n_sentences, n_tokens

    def _encode(
        self, path: Path, vocabulary: Vocabulary, size: tuple[int, int]
    ) -> tuple[Ids, NDArray[np.int32]]:
        """Write a text in its own order; return it and its sentences' lengths with their ends."""
        n_sentences, n_tokens = size
        (self.folder / "unsorted").mkdir(exist_ok=True)
        ids = np.lib.format.open_memmap(
            self.folder / "unsorted" / f"{path.stem}.npy", "w+", np.int32, (n_tokens + n_sentences,)
        )
        lengths = np.empty(n_sentences, np.int32)
        filled = done = 0
        sentences = self.shown(read_sentences(path), f"Reading {path.name}")
        for numbers, block_lengths in _encode_blocks(sentences, vocabulary):
            ids[filled : filled + len(numbers)] = numbers
            lengths[done : done + len(block_lengths)] = block_lengths
            filled, done = filled + len(numbers), done + len(block_lengths)
        return ids, lengths

    def _split(self, name: str, ids: Ids, lengths: NDArray[np.int32]) -> dict[str, int]:
        """Write the text's parts, the training sentences in random order."""
        order = np.arange(len(lengths))
        if name == TRAIN:
            order = np.random.default_rng([self.choices.seed, 1]).permutation(len(lengths))
        if len(self.texts) > 1:
            return {name: self._write(name, order, ids, lengths)}
        n_valid = round(len(order) * self.choices.valid_share)
        if not 0 < n_valid < len(order):
            raise LmError(
                f"{self.texts[TRAIN]} has {len(order):,} sentence(s), too few to hold out "
                f"{self.choices.valid_share:.1%} of them. Give a longer text."
            )
        return {
            TRAIN: self._write(TRAIN, order[n_valid:], ids, lengths),
            VALID: self._write(VALID, order[:n_valid], ids, lengths),
        }

    def _write(
        self, name: str, order: NDArray[np.int64], ids: Ids, lengths: NDArray[np.int32]
    ) -> int:
        starts = np.cumsum(lengths, dtype=np.int64) - lengths
        shape = (int(lengths[order].sum(dtype=np.int64)),)
        out = np.lib.format.open_memmap(self.folder / f"{name}.npy", "w+", np.int32, shape)
        filled = 0
        for first in range(0, len(order), _SENTENCES_AT_A_TIME):
            block = order[first : first + _SENTENCES_AT_A_TIME]
            n = lengths[block].astype(np.int64)
            # For each word, the number of its sentence, and its position in the sentence.
            within = np.arange(n.sum()) - np.repeat(np.cumsum(n) - n, n)
            out[filled : filled + len(within)] = ids[np.repeat(starts[block], n) + within]
            filled += len(within)
        return len(order)


def _encode_blocks(
    sentences: Iterable[list[str]], vocabulary: Vocabulary
) -> Iterator[tuple[Ids, list[int]]]:
    """Yield blocks of sentences: their word numbers and their lengths."""
    ids, lengths = array("i"), list[int]()
    number_of = vocabulary.__getitem__
    for tokens in sentences:
        ids.extend(map(number_of, tokens))
        ids.append(vocabulary.end)
        lengths.append(len(tokens) + 1)
        if len(lengths) == _SENTENCES_AT_A_TIME:
            yield np.array(ids, np.int32), lengths
            ids, lengths = array("i"), []
    if lengths:
        yield np.array(ids, np.int32), lengths
