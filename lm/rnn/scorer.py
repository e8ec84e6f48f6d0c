"""Recurrent networks as scorers: every beginning that texts share is read once."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from lm.rnn.folder import TrainedNetwork, load_network
from lm.rnn.network import State
from lm.rnn.steps import Steps, steps_of
from lm.scorer import TokenScores
from lm.scoring.kernels import ROWS_AT_A_TIME, LogNormaliser, Precision, target_logits
from lm.scoring.trie import Floats, Ints, build_tries, evaluate

DEFAULT_BUDGET_BYTES = 2**30


class RecurrentScorer:
    """A trained network as a ``Scorer``. Its state is begun anew for every text.

    Args:
        trained: The network and its words.
        precision: How the softmax's denominator is computed; ``bfloat16`` is for first passes
            whose close decisions are made again in ``float32``.
        budget_bytes: About how much memory the states of beginnings may take.
    """

    def __init__(
        self,
        trained: TrainedNetwork,
        *,
        precision: Precision = "float32",
        budget_bytes: int = DEFAULT_BUDGET_BYTES,
    ) -> None:
        self.name, self.trained_on = trained.name, trained.trained_on
        self._trained, self._budget_bytes = trained, budget_bytes
        self._vocabulary = trained.vocabulary
        network, shape = trained.network, trained.network.shape
        normaliser = (
            LogNormaliser(network.decoder.weight, network.decoder.bias, precision)
            if isinstance(network.decoder, nn.Linear)
            else None
        )
        beginning = steps_of(network), trained.vocabulary.begin, network.decoder
        self._reader = _Reader(*beginning, normaliser)
        self._comparer = _Reader(*beginning, None)
        # A level's states and the next level's are held at once: hidden values and cells.
        self._max_nodes = max(1, budget_bytes // (16 * shape.layers * shape.hidden_size))

    @classmethod
    def load(cls, folder: Path) -> "RecurrentScorer":
        """Return the recurrent model in a folder.

        Raises:
            LmError: A file is missing or damaged.
        """
        return cls(load_network(folder))

    def fast(self) -> "RecurrentScorer":
        """Return the same model with rounded normalisers, for first passes."""
        return RecurrentScorer(self._trained, precision="bfloat16", budget_bytes=self._budget_bytes)

    def score(self, requests: Sequence[tuple[str, str]]) -> list[TokenScores]:
        """Return each continuation's scores; see ``Scorer``.

        A written ``<s>`` is an unknown word: where sentences begin is the model's own business.
        """
        continuations = [tuple(continuation.split()) for _, continuation in requests]
        contexts = [self._numbers(context.split()) for context, _ in requests]
        ids = [self._numbers(tokens) for tokens in continuations]
        strings = [before + after for before, after in zip(contexts, ids, strict=True)]
        logprobs = self._read(self._reader, strings, [len(context) for context in contexts])
        unknown = self._vocabulary.unknown
        return [
            TokenScores(tokens, found[len(found) - len(tokens) :], np.array(own) == unknown)
            if tokens
            else TokenScores((), np.empty(0), np.empty(0, bool))
            for tokens, found, own in zip(continuations, logprobs, ids, strict=True)
        ]

    def differences_nats(self, choices: Sequence[tuple[str, str, str]]) -> Floats:
        """Return log P(first word | context) - log P(second word | context) of each choice.

        Both words share one normaliser, which cancels: none is computed.

        Args:
            choices: (context, word, other word).

        Returns:
            float64, shape ``(choices,)``.
        """
        contexts = [self._numbers(context.split()) for context, _, _ in choices]
        strings, places = [], []
        for number, (_, *words) in enumerate(choices):
            for word in words:
                strings.append([*contexts[number], *self._numbers([word])])
                places.append(len(contexts[number]))
        logits = self._read(self._comparer, strings, places)
        last = np.array([found[-1] for found in logits]).reshape(-1, 2)
        return np.asarray(last[:, 0] - last[:, 1], np.float64)

    def _numbers(self, tokens: Sequence[str]) -> list[int]:
        return [self._vocabulary[token] for token in tokens]

    @torch.inference_mode()
    def _read(
        self, reader: "_Reader", strings: Sequence[Sequence[int]], skipped: Sequence[int]
    ) -> list[Floats]:
        """Return one array per string, its places before ``skipped`` meaningless."""
        found: list[Floats] = [np.empty(0)] * len(strings)
        for trie in build_tries(strings, self._max_nodes):
            nodes = evaluate(trie, reader, trie.after(skipped))
            for string, path in trie.rows():
                found[string] = nodes[path]
        return found


class _Read(NamedTuple):
    """Beginnings that were read: the top layer's output, shape ``(n, hidden)``, and the state."""

    hidden: Tensor
    state: State


class _Reader:
    """The network as an ``IncrementalModel``.

    Args:
        steps: The recurrent layers.
        beginning: The number of the word that every text follows.
        decoder: From hidden values to words.
        normaliser: Of a linear decoder's softmax; without it the answers are logits, which only
            answers after one beginning can be compared by.
    """

    def __init__(
        self,
        steps: Steps,
        beginning: int,
        decoder: nn.Linear | nn.AdaptiveLogSoftmaxWithLoss,
        normaliser: LogNormaliser | None,
    ) -> None:
        self._steps, self._beginning = steps, beginning
        self._decoder, self._normaliser = decoder, normaliser

    def begin(self) -> _Read:
        one = np.zeros(1, np.int64)
        return self.extend(_Read(torch.empty(0), self._steps.begin()), one, one + self._beginning)

    def extend(self, state: _Read, parents: Ints, tokens: Ints) -> _Read:
        return _Read(*self._steps.extend(state.state, parents, tokens))

    def logprobs_nats(self, state: _Read, parents: Ints, tokens: Ints) -> Floats:
        decoder = self._decoder
        if not isinstance(decoder, nn.Linear):
            return _adaptive(decoder, state.hidden, parents, tokens)
        logits = target_logits(decoder.weight, decoder.bias, state.hidden, parents, tokens)
        if self._normaliser is None:
            return logits
        rows, row_of = np.unique(parents, return_inverse=True)
        used = state.hidden if len(rows) == len(state.hidden) else state.hidden[_tensor(rows)]
        # A probability next to 1 can come out above it by the last digit.
        found: Floats = np.minimum(logits - self._normaliser(used).numpy()[row_of], 0.0)
        return found


def _adaptive(
    decoder: nn.AdaptiveLogSoftmaxWithLoss, hidden: Tensor, parents: Ints, tokens: Ints
) -> Floats:
    found = np.empty(len(tokens))
    for start in range(0, len(tokens), ROWS_AT_A_TIME):
        part = slice(start, start + ROWS_AT_A_TIME)
        asked = hidden[_tensor(parents[part])], _tensor(tokens[part])
        found[part] = decoder(*asked).output.numpy()
    return np.minimum(found, 0.0)


def _tensor(numbers: Ints) -> Tensor:
    return torch.from_numpy(numbers)
