"""The share of words whose most probable supertag is the right one."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from more_itertools import chunked

from lm.errors import LmError
from lm.rnn.folder import TrainedNetwork

_SENTENCES_AT_A_TIME = 64


@dataclass(frozen=True, slots=True)
class TagAccuracy:
    """The number of correctly predicted supertags.

    Attributes:
        correct: The number of words whose most probable tag is the right one.
        total: The number of words, without ends of sentences.
        unseen: The number of words with a tag unseen in training, which cannot be predicted.
    """

    correct: int
    total: int
    unseen: int


def tag_accuracy(
    model: TrainedNetwork, sentences: Iterable[Sequence[tuple[str, str]]]
) -> TagAccuracy:
    """Return a multi-task model's accuracy on a text's supertags, each sentence separately.

    Raises:
        LmError: The model does not predict supertags.
    """
    if model.network.tagger is None:
        raise LmError(
            f'the model "{model.name}" does not predict supertags. Train one with '
            "`parallax lm train --type multitask --tags FOLDER`."
        )
    number_of = {tag: number for number, tag in enumerate(model.tags)}
    correct = total = unseen = 0
    for batch in chunked(sentences, _SENTENCES_AT_A_TIME):
        predicted = _predict_tags(model, batch)
        for sentence, numbers in zip(batch, predicted, strict=True):
            expected_tags = [number_of.get(tag, -1) for _, tag in sentence]
            correct += sum(a == b for a, b in zip(expected_tags, numbers, strict=True))
            total += len(expected_tags)
            unseen += expected_tags.count(-1)
    return TagAccuracy(correct, total, unseen)


@torch.no_grad()
def _predict_tags(
    model: TrainedNetwork, sentences: Sequence[Sequence[tuple[str, str]]]
) -> list[list[int]]:
    """Return the most probable tag of each word of each sentence."""
    vocabulary, network = model.vocabulary, model.network
    assert network.tagger is not None
    longest = max(map(len, sentences))
    # Every sentence is read after <eos>, as in training; shorter ones are padded at the end.
    ids = torch.full((longest + 1, len(sentences)), vocabulary.end)
    for column, sentence in enumerate(sentences):
        numbers = [vocabulary[word] for word, _ in sentence]
        ids[1 : len(numbers) + 1, column] = torch.tensor(numbers)
    hidden, _ = network(ids, network.initial_state(len(sentences)))
    best = network.tagger(hidden[1:]).argmax(-1).T.tolist()
    return [tags[: len(sentence)] for tags, sentence in zip(best, sentences, strict=True)]
