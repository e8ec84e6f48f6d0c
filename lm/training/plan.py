"""The plan of a training run: its model, texts and folder."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from lm.corpora.folder import TRAIN, VALID, Corpus
from lm.corpora.tagged_text import (
    TaggedText,
    encode_tagged,
    read_tagged,
    tagged_files,
    tags_by_frequency,
)
from lm.corpora.vocab import write_vocabulary
from lm.devices import Processes
from lm.model_folder import DISTRIBUTION, write_config
from lm.rnn.folder import MODEL_TYPE, TAGS, VOCABULARY
from lm.rnn.network import NetworkShape
from lm.training.batches import TextColumns
from lm.training.checkpoint import Progress
from lm.training.loop import Texts
from lm.training.settings import TYPE_NAMES, TrainingSettings

TAGS_SHA256 = "tags_sha256"
# A resumed training may differ in these settings: its length, learning rate and clipping.
_CHANGEABLE_SETTINGS = ("epochs", "patience", "lr", "clip")


@dataclass(frozen=True, slots=True, eq=False)
class TagData:
    """The texts of the second task: the tags by number, and the training and validation texts."""

    tags: tuple[str, ...]
    train: TaggedText
    valid: TaggedText

    @property
    def sha256(self) -> str:
        """The hash of the tags and both texts, word by word with its tag, in hexadecimal."""
        digest = hashlib.sha256("\n".join(self.tags).encode())
        for text in (self.train, self.valid):
            digest.update(len(text.words).to_bytes(8, "little"))
            for numbers in (text.words, text.tags):
                digest.update(numbers.astype("<i4").tobytes())
        return digest.hexdigest()


def read_tag_data(folder: Path, corpus: Corpus) -> TagData:
    """Return the supertagged texts of a folder, in the vocabulary of the corpus.

    Raises:
        LmError: A file is missing or malformed.
    """
    files = tagged_files(folder)
    tags = tags_by_frequency(read_tagged(files[TRAIN]))
    train, valid = (
        encode_tagged(read_tagged(files[name]), corpus.vocabulary, tags) for name in (TRAIN, VALID)
    )
    return TagData(tags, train, valid)


@dataclass(frozen=True, slots=True, eq=False)
class TrainingPlan:
    """The model, texts and folder of a training run.

    Attributes:
        settings: The training settings.
        corpus: The texts.
        tag_data: The texts of the second task, for ``multitask``.
        name: The model's name in tables and figures; empty: named after its type.
        out: The model's folder.
    """

    settings: TrainingSettings
    corpus: Corpus
    tag_data: TagData | None
    name: str
    out: Path

    def shape(self) -> NetworkShape:
        """Return the network's shape."""
        settings = self.settings
        return NetworkShape(
            kind="srn" if settings.type == "srn" else "lstm",
            vocabulary_size=len(self.corpus.vocabulary.words),
            embedding_size=settings.embedding,
            hidden_size=settings.hidden,
            layers=settings.layers,
            dropout=settings.dropout,
            softmax=settings.softmax,
            window=settings.window if settings.type == "windowed" else 0,
            n_tags=len(self.tag_data.tags) if self.tag_data else 0,
        )

    def config(self) -> dict[str, object]:
        """Return the content of config.json before training."""
        corpus, settings = self.corpus, self.settings
        config: dict[str, object] = {
            "type": MODEL_TYPE,
            "name": self.name or TYPE_NAMES[settings.type],
            "trained_on": corpus.described,
            "network": self.shape().to_config(),
            "training": settings.to_config(),
            "corpus_sha256": corpus.sha256,
            "vocabulary_sha256": corpus.vocabulary.sha256,
            "n_sentences": dict(corpus.n_sentences),
            "n_tokens": {name: len(ids) for name, ids in corpus.splits.items()},
            "code_version": version(DISTRIBUTION),
            "torch_version": torch.__version__,
        }
        if self.tag_data:
            config[TAGS_SHA256] = self.tag_data.sha256
        return config

    def begin_folder(self, further: Mapping[str, object] | None = None) -> None:
        """Write config.json, with further entries, and the words and tags of the model."""
        self.out.mkdir(parents=True, exist_ok=True)
        write_config(self.out, {**self.config(), **(further or {})})
        write_vocabulary(self.out / VOCABULARY, self.corpus.vocabulary)
        if self.tag_data:
            tags = "\n".join(self.tag_data.tags) + "\n"
            (self.out / TAGS).write_text(tags, encoding="utf-8", newline="\n")

    def seen(self, progress: Progress) -> int:
        """Return the number of words that a training has read, including earlier epochs."""
        settings = self.settings
        rows = (len(self.corpus.splits[TRAIN]) - 1) // settings.batch
        in_epoch = min(progress.window * settings.steps, rows)
        return settings.batch * ((progress.epoch - 1) * rows + in_epoch)

    def identity(self) -> dict[str, object]:
        """Return the properties that a checkpoint must share to be resumed."""
        settings = self.settings.to_config()
        fixed_settings = {
            name: value for name, value in settings.items() if name not in _CHANGEABLE_SETTINGS
        }
        hashes = {
            "corpus": self.corpus.sha256,
            "vocabulary": self.corpus.vocabulary.sha256,
            "tags": list(self.tag_data.tags) if self.tag_data else [],
        }
        return (
            fixed_settings | hashes | ({"supertags": self.tag_data.sha256} if self.tag_data else {})
        )

    def texts(self, processes: Processes) -> Texts:
        """Return the columns that this process reads.

        Raises:
            LmError: A text is too short for the batch.
        """
        return Texts(
            self._columns(TRAIN, processes),
            self._columns(VALID, processes),
            self.corpus.vocabulary.unknown,
        )

    def _columns(self, split: str, processes: Processes) -> list[TextColumns]:
        ids = self.corpus.splits[split]
        pairs = [(ids[:-1], ids[1:])]
        if self.tag_data:
            tagged = self.tag_data.train if split == TRAIN else self.tag_data.valid
            pairs.append((tagged.words, tagged.tags))
        return [self._side_by_side(inputs, targets, split, processes) for inputs, targets in pairs]

    def _side_by_side(
        self,
        inputs: NDArray[np.int32],
        targets: NDArray[np.int32],
        split: str,
        processes: Processes,
    ) -> TextColumns:
        batch, steps = self.settings.batch, self.settings.steps
        if split == VALID:
            # A short validation text is read in fewer columns instead of not at all.
            fewer = max(1, min(batch, len(inputs) // steps) // processes.world)
            batch = fewer * processes.world
        return TextColumns(inputs, targets, batch, steps, processes.rank, processes.world)
