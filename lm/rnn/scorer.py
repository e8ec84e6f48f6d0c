"""Recurrent networks as scorers: beginnings shared by texts are read once."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from lm.devices import DeviceChoice, choose_device
from lm.errors import LmError
from lm.rnn.folder import TrainedNetwork, load_network
from lm.rnn.network import State
from lm.rnn.steps import Step, choose_step
from lm.scorer import FastKernel, TokenScores
from lm.scoring.kernels import (
    ROWS_AT_A_TIME,
    LogNormaliser,
    Precision,
    measure_kernel,
    target_logits,
)
from lm.scoring.reading import score_trie
from lm.scoring.trie import Floats, Ints, Trie, build_tries

DEFAULT_BUDGET_BYTES = 2**30


class PreparedTexts(NamedTuple):
    """Requests in a model's words, with their tries: the same for all models with its vocabulary.

    Attributes:
        continuations: The words of each continuation.
        ids: The numbers of these words.
        context_lengths: The number of words of each context.
        tries: The tries of the contexts with their continuations.
    """

    continuations: list[tuple[str, ...]]
    ids: list[list[int]]
    context_lengths: list[int]
    tries: list[Trie]


class RecurrentScorer:
    """A trained network as a ``Scorer``, on the device of its weights.

    The state is reset for every text; only ``score_stream`` carries it on.

    Args:
        trained: The network and its words.
        precision: The precision of the softmax's denominator; ``bfloat16`` is for first passes
            whose close decisions are repeated in ``float32``. Scores then include their error
            bounds.
        budget_bytes: The approximate memory limit of the states.
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
        beginning = choose_step(network), trained.vocabulary.begin, network.decoder
        self._reader = _Reader(*beginning, normaliser)
        self._comparer = _Reader(*beginning, None)
        # The states of two levels are in memory at once: hidden values and cells.
        self._max_nodes = max(1, budget_bytes // (16 * shape.layers * shape.hidden_size))

    @classmethod
    def load(cls, folder: Path, device: DeviceChoice = "cpu") -> "RecurrentScorer":
        """Return the recurrent model in a folder.

        Args:
            folder: The model's folder.
            device: The device to compute on.

        Raises:
            LmError: A file is missing or damaged, or the device is not available.
        """
        trained = load_network(folder)
        trained.network.to(choose_device(device, exact=True))
        return cls(trained)

    def fast(self) -> "RecurrentScorer":
        """Return the same model with normalisers rounded to bfloat16, for first passes."""
        return RecurrentScorer(self._trained, precision="bfloat16", budget_bytes=self._budget_bytes)

    def fast_kernel(self) -> FastKernel:
        """Return the measured effect of rounded normalisers here; see ``measure_kernel``.

        Raises:
            LmError: The model has no normalisers over all words.
        """
        decoder = self._trained.network.decoder
        if not isinstance(decoder, nn.Linear):
            raise LmError(
                f"{self.name} has an adaptive softmax, which has no fast mode. Leave `--fast` out."
            )
        return measure_kernel(decoder.weight)

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the vocabulary."""
        return self._vocabulary.words

    @property
    def cased(self) -> bool:
        """Whether the vocabulary has capital letters."""
        return self._vocabulary.cased

    def score(self, requests: Sequence[tuple[str, str]]) -> list[TokenScores]:
        """Return each continuation's scores; see ``Scorer``.

        A ``<s>`` written in a text is an unknown word: the model itself adds the beginning.
        """
        return self.score_prepared(self.prepare(requests))

    @property
    def tokenizer_hash(self) -> str:
        """The hash of the vocabulary; models with equal ones can score each other's texts."""
        return self._vocabulary.sha256

    def prepare(self, requests: Sequence[tuple[str, str]]) -> PreparedTexts:
        """Return requests in a form that models with this vocabulary score without repeated work.

        The models have the same size.
        """
        continuations = [tuple(continuation.split()) for _, continuation in requests]
        # Requests repeat a prompt with each of its answers.
        numbers = {
            text: self._number_tokens(text.split())
            for text in dict.fromkeys(c for c, _ in requests)
        }
        contexts = [numbers[context] for context, _ in requests]
        ids = [self._number_tokens(tokens) for tokens in continuations]
        strings = [prefix + suffix for prefix, suffix in zip(contexts, ids, strict=True)]
        tries = list(build_tries(strings, self._max_nodes))
        return PreparedTexts(continuations, ids, [len(context) for context in contexts], tries)

    def score_prepared(self, texts: PreparedTexts) -> list[TokenScores]:
        """Return the scores of requests that a model with this vocabulary prepared."""
        logprobs = self._read(self._reader, texts.tries, texts.context_lengths)
        return [
            self._make_scores(tokens, token_ids, text_logprobs[len(text_logprobs) - len(tokens) :])
            for tokens, token_ids, text_logprobs in zip(
                texts.continuations, texts.ids, logprobs, strict=True
            )
        ]

    @torch.inference_mode()
    def score_stream(
        self, groups: Sequence[Sequence[str]], before: State | None = None
    ) -> tuple[list[list[TokenScores]], State]:
        """Return the scores of texts read as one stream, and the state after them.

        The texts of a group are versions of one text: each is read after the first texts of all
        earlier groups, so that all versions of a group follow the same words.

        Args:
            groups: At least one text each, as ``score`` takes continuations.
            before: The state from an earlier call; None at the start of the stream.
        """
        state = self._trained.network.initial_state(1) if before is None else before
        strings = [[tuple(text.split()) for text in group] for group in groups]
        ids = [[self._number_tokens(tokens) for tokens in group] for group in strings]
        logprobs, state = self._read_stream(ids, state)
        scored = (
            [self._make_scores(*text_parts) for text_parts in zip(*group, strict=True)]
            for group in zip(strings, ids, logprobs, strict=True)
        )
        return list(scored), state

    def _make_scores(
        self, tokens: tuple[str, ...], ids: Sequence[int], logprobs: Floats
    ) -> TokenScores:
        """Return scores from log-probabilities, with or without their error bounds."""
        unknown = np.array(ids, np.int64) == self._vocabulary.unknown
        if logprobs.ndim == 1:
            return TokenScores(tokens, logprobs, unknown)
        return TokenScores(tokens, logprobs[:, 0], unknown, logprobs[:, 1])

    def differences_nats(self, choices: Sequence[tuple[str, str, str]]) -> Floats:
        """Return log P(first word | context) - log P(second word | context) of each choice.

        The two words' common normaliser cancels, so it is not computed.

        Args:
            choices: (context, word, other word).

        Returns:
            float64, shape ``(choices,)``.
        """
        contexts = [self._number_tokens(context.split()) for context, _, _ in choices]
        strings, places = [], []
        for number, (_, *words) in enumerate(choices):
            for word in words:
                strings.append([*contexts[number], *self._number_tokens([word])])
                places.append(len(contexts[number]))
        logits = self._read(self._comparer, build_tries(strings, self._max_nodes), places)
        last = np.array([text_logits[-1] for text_logits in logits]).reshape(-1, 2)
        return np.asarray(last[:, 0] - last[:, 1], np.float64)

    def _number_tokens(self, tokens: Sequence[str]) -> list[int]:
        return [self._vocabulary[token] for token in tokens]

    @torch.inference_mode()
    def _read(
        self, reader: "_Reader", tries: Iterable[Trie], context_lengths: Sequence[int]
    ) -> list[Floats]:
        """Return one array per string; values before ``context_lengths`` are meaningless."""
        logprobs: list[Floats] = [np.empty(0)] * len(context_lengths)
        for trie in tries:
            nodes = score_trie(trie, reader, trie.scored_nodes(context_lengths))
            for string, path in trie.rows():
                logprobs[string] = nodes[path]
        return logprobs

    @torch.inference_mode()
    def _read_stream(
        self, groups: Sequence[Sequence[Sequence[int]]], state: State
    ) -> tuple[list[list[Floats]], State]:
        network, begin = self._trained.network, self._vocabulary.begin
        hidden, targets = [], []
        for group in groups:
            following_state = state
            for position, ids in enumerate(group):
                inputs = torch.tensor([begin, *ids], device=network.embedding.weight.device)
                output, new_state = network(inputs[:, None], state)
                hidden.append(output[:-1, 0])
                targets.append(np.array(ids, np.int64))
                following_state = following_state if position else new_state
            state = following_state
        lengths = [len(ids) for ids in targets]
        logprobs = self._reader.logprobs_nats(
            _Read(torch.cat(hidden), ()), np.arange(sum(lengths)), np.concatenate(targets)
        )
        text_logprobs = iter(np.split(logprobs, np.cumsum(lengths)[:-1]))
        return [[next(text_logprobs) for _ in group] for group in groups], state


class _Read(NamedTuple):
    """The state after some beginnings, and the top layer's output, shape ``(n, hidden)``."""

    hidden: Tensor
    state: State


class _Reader:
    """The network as an ``IncrementalModel`` and a ``RunReader``.

    Args:
        step: The recurrent layers.
        beginning: The number of the word that precedes every text.
        decoder: Computes words' logits from hidden values.
        normaliser: The normaliser of a linear decoder's softmax; without it the results are logits,
            which can only be compared after the same beginning.
    """

    def __init__(
        self,
        step: Step,
        beginning: int,
        decoder: nn.Linear | nn.AdaptiveLogSoftmaxWithLoss,
        normaliser: LogNormaliser | None,
    ) -> None:
        self._step, self._beginning = step, beginning
        self._decoder, self._normaliser = decoder, normaliser

    def begin(self) -> _Read:
        row = np.zeros(1, np.int64)
        return self.extend(_Read(torch.empty(0), self._step.begin()), row, row + self._beginning)

    def extend(self, state: _Read, parents: Ints, tokens: Ints) -> _Read:
        return _Read(*self._step.extend(state.state, parents, tokens))

    def extend_along(self, state: _Read, parents: Ints, tokens: Ints) -> tuple[_Read, _Read]:
        hidden, new_state = self._step.extend_along(state.state, parents, tokens)
        return _Read(hidden.flatten(0, 1), ()), _Read(hidden[-1], new_state)

    def logprobs_nats(self, state: _Read, parents: Ints, tokens: Ints) -> Floats:
        decoder = self._decoder
        if not isinstance(decoder, nn.Linear):
            return _adaptive(decoder, state.hidden, parents, tokens)
        logits = target_logits(decoder.weight, decoder.bias, state.hidden, parents, tokens)
        if self._normaliser is None:
            return logits
        rows, row_of = np.unique(parents, return_inverse=True)
        all_used = len(rows) == len(state.hidden)
        used = state.hidden if all_used else state.hidden[_tensor(rows, state.hidden)]
        normalisers, errors = (
            part.cpu().numpy().astype(np.float64)[row_of]
            for part in self._normaliser.with_bounds(used)
        )
        # Rounding can make a probability close to 1 exceed 1 by the last digit.
        logprobs: Floats = np.minimum(logits - normalisers, 0.0)
        exact = self._normaliser.precision == "float32"
        return logprobs if exact else np.stack([logprobs, errors], axis=1)


def _adaptive(
    decoder: nn.AdaptiveLogSoftmaxWithLoss, hidden: Tensor, parents: Ints, tokens: Ints
) -> Floats:
    logprobs = np.empty(len(tokens))
    for start in range(0, len(tokens), ROWS_AT_A_TIME):
        part = slice(start, start + ROWS_AT_A_TIME)
        rows, words = (_tensor(numbers[part], hidden) for numbers in (parents, tokens))
        logprobs[part] = decoder(hidden[rows], words).output.cpu().numpy()
    return np.minimum(logprobs, 0.0)


def _tensor(numbers: Ints, like: Tensor) -> Tensor:
    return torch.from_numpy(numbers).to(like.device)
