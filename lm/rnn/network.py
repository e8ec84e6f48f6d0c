"""The recurrent networks: from word numbers to hidden states, with a separate decoder."""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, asdict, dataclass, fields
from functools import partial
from typing import Literal, get_args

import torch
from torch import Tensor, nn

from lm.errors import LmError

Kind = Literal["lstm", "srn", "gru", "srn_relu"]
Softmax = Literal["full", "tied", "adaptive"]
State = tuple[Tensor, ...]


@dataclass(frozen=True, slots=True)
class NetworkShape:
    """The sizes and the type of a network.

    Attributes:
        kind: ``lstm``; ``srn``: the simple recurrent network of Elman (1990), with tanh; or, of
            converted models, ``srn_relu``: the same with rectified units, and ``gru``.
        vocabulary_size: The number of words, special words included.
        embedding_size: The size of a word's embedding.
        hidden_size: The number of units in a layer.
        layers: The number of layers.
        dropout: The share of values dropped from embeddings, between layers, and from the output.
        softmax: ``full``; ``tied``: the decoder's weights are the embeddings; ``adaptive``: rare
            words in clusters of smaller layers (Grave et al. 2017), for words sorted by frequency.
        window: The number of words it sees, the predicted one included; 0: all words before.
        n_tags: The number of supertags of a second decoder; 0: no second decoder.
    """

    kind: Kind
    vocabulary_size: int
    embedding_size: int
    hidden_size: int
    layers: int
    dropout: float = 0.0
    softmax: Softmax = "full"
    window: int = 0
    n_tags: int = 0

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind) or self.softmax not in get_args(Softmax):
            raise LmError(
                f'there is no network "{self.kind}" with the softmax "{self.softmax}". Expected '
                f"one of {', '.join(get_args(Kind))} with one of {', '.join(get_args(Softmax))}."
            )
        if self.softmax == "tied" and self.embedding_size != self.hidden_size:
            raise LmError(
                f"a tied softmax needs embeddings ({self.embedding_size}) as large as the hidden "
                f"layers ({self.hidden_size}). Set both to one number or use the full softmax."
            )
        if self.window == 1:
            raise LmError("a window of 1 word has no context. Give 2 or more, or 0 for none.")

    def to_config(self) -> dict[str, object]:
        """Return the shape in the format of config.json."""
        return asdict(self)

    @classmethod
    def from_config(cls, config: object) -> "NetworkShape":
        """Return the shape stored in config.json.

        Raises:
            LmError: A setting is missing, unknown or of the wrong type.
        """
        settings = config if isinstance(config, dict) else {}
        names = {field.name for field in fields(cls)}
        needed = {field.name for field in fields(cls) if field.default is MISSING}
        wrong = sorted(needed.symmetric_difference(settings) - (names - needed))
        if wrong:
            raise LmError(
                f'"network" in config.json is damaged: {", ".join(map(str, wrong))} is missing or '
                "unknown. Train the model again."
            )
        return cls(**settings)


_LAYERS: dict[Kind, Callable[..., nn.RNNBase]] = {
    "lstm": nn.LSTM,
    "srn": nn.RNN,
    "gru": nn.GRU,
    "srn_relu": partial(nn.RNN, nonlinearity="relu"),
}


class RecurrentNetwork(nn.Module):
    """Embeddings and recurrent layers, with a decoder that the caller applies to predict words.

    Attributes:
        shape: The sizes.
        embedding: Weight of shape ``(vocabulary_size, embedding_size)``.
        recurrence: The recurrent layers.
        decoder: ``nn.Linear`` with a weight of shape ``(vocabulary_size, hidden_size)`` and a bias
            of shape ``(vocabulary_size,)``; with the adaptive softmax, a module of clusters.
        tagger: ``nn.Linear`` to ``n_tags``, or ``None``.
    """

    decoder: nn.Linear | nn.AdaptiveLogSoftmaxWithLoss

    def __init__(self, shape: NetworkShape) -> None:
        super().__init__()
        self.shape = shape
        self.dropout = nn.Dropout(shape.dropout)
        self.embedding = nn.Embedding(shape.vocabulary_size, shape.embedding_size)
        # With a single layer there is no dropout between layers.
        between = shape.dropout if shape.layers > 1 else 0.0
        self.recurrence = _LAYERS[shape.kind](
            shape.embedding_size, shape.hidden_size, shape.layers, dropout=between
        )
        self.decoder = _decoder(shape)
        self.tagger = nn.Linear(shape.hidden_size, shape.n_tags) if shape.n_tags else None
        self._initialise()
        if isinstance(self.decoder, nn.Linear) and shape.softmax == "tied":
            self.decoder.weight = self.embedding.weight

    def _initialise(self) -> None:
        """Draw embeddings and decoders uniformly from -0.1 to 0.1, as in the published models."""
        nn.init.uniform_(self.embedding.weight, -0.1, 0.1)
        for head in (self.decoder, self.tagger):
            if isinstance(head, nn.Linear):
                nn.init.uniform_(head.weight, -0.1, 0.1)
                nn.init.zeros_(head.bias)

    def initial_state(self, batch: int) -> State:
        """Return the initial state: zeros, each tensor of shape ``(layers, batch, hidden)``."""
        zeros = self.embedding.weight.new_zeros(self.shape.layers, batch, self.shape.hidden_size)
        return (zeros, zeros.clone()) if self.shape.kind == "lstm" else (zeros,)

    def forward(self, ids: Tensor, state: State) -> tuple[Tensor, State]:
        """Read words; the returned state continues from the last of them.

        Args:
            ids: int64, shape ``(time, batch)``.
            state: The state from ``initial_state`` or an earlier call; second dimension ``batch``.

        Returns:
            The top layer's output at each step, shape ``(time, batch, hidden)``, from which
            ``decoder`` predicts the next word, and the state after the last step.
        """
        return self._read(self.dropout(self.embedding(ids)), state)

    def _read(self, embedded: Tensor, state: State) -> tuple[Tensor, State]:
        if self.shape.kind == "lstm":
            hidden, state = self.recurrence(embedded, state)
        else:
            hidden, last = self.recurrence(embedded, state[0])
            state = (last,)
        return self.dropout(hidden), state

    def logprobs(self, hidden: Tensor) -> Tensor:
        """Return the natural-log probabilities of all next words, for any softmax.

        Args:
            hidden: Shape ``(..., hidden)``.

        Returns:
            Shape ``(..., vocabulary_size)``.
        """
        if isinstance(self.decoder, nn.Linear):
            return self.decoder(hidden).log_softmax(-1)  # type: ignore[no-any-return]
        flat = self.decoder.log_prob(hidden.reshape(-1, hidden.shape[-1]))
        return flat.reshape(*hidden.shape[:-1], -1)


class WindowedNetwork(RecurrentNetwork):
    """The same network, restarted for every word, so that it sees the ``window - 1`` words before.

    This is the 5-gram LSTM of Gulordava et al. (2018), with a window of five. Its state is
    not the layers' state, but the words that later windows can contain.
    """

    def initial_state(self, batch: int) -> State:
        """Return the initial state: an array of shape ``(window - 2, batch)`` of -1 (no word)."""
        empty = self.embedding.weight.new_full((self.shape.window - 2, batch), -1, dtype=torch.long)
        return (empty,)

    def forward(self, ids: Tensor, state: State) -> tuple[Tensor, State]:
        """Read words; see ``RecurrentNetwork.forward``."""
        [words_before] = state
        words_read = torch.cat([words_before, ids])
        # Shape (time, batch, window - 1): the words before each predicted word.
        windows = words_read.unfold(0, self.shape.window - 1, 1)
        steps = windows.reshape(-1, self.shape.window - 1).T
        inside = super().initial_state(steps.shape[1])
        hidden = steps.new_empty(0)
        for step in steps:
            is_word = (step >= 0).unsqueeze(-1)
            embedded = self.dropout(self.embedding(step.clamp(min=0)))
            hidden, inside = self._read(embedded.unsqueeze(0), inside)
            # Before the first word, the layers keep their initial state.
            inside = tuple(part * is_word for part in inside)
        return hidden.reshape(*ids.shape, -1), (words_read[len(ids) :],)


def _decoder(shape: NetworkShape) -> nn.Linear | nn.AdaptiveLogSoftmaxWithLoss:
    if shape.softmax != "adaptive":
        return nn.Linear(shape.hidden_size, shape.vocabulary_size)
    cutoffs = [n for n in (2_000, 10_000) if n < shape.vocabulary_size]
    if not cutoffs:
        raise LmError(
            "an adaptive softmax needs more than 2,000 words; there are only "
            f"{shape.vocabulary_size:,}. Use the full softmax."
        )
    return nn.AdaptiveLogSoftmaxWithLoss(shape.hidden_size, shape.vocabulary_size, cutoffs)


def build_network(shape: NetworkShape) -> RecurrentNetwork:
    """Return a network of the given shape, with weights from PyTorch's current random generator."""
    return WindowedNetwork(shape) if shape.window else RecurrentNetwork(shape)


def drop_shared_duplicates(weights: Mapping[str, Tensor], shape: NetworkShape) -> dict[str, Tensor]:
    """Return the weights without duplicates of shared ones, as stored in files."""
    repeated = {"decoder.weight"} if shape.softmax == "tied" else set()
    return {name: tensor for name, tensor in weights.items() if name not in repeated}
