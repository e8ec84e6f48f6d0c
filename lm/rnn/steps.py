"""One step of a recurrent network for many beginnings at once, with shared work done once."""

from collections.abc import Iterator
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from lm.rnn.network import RecurrentNetwork, State, WindowedNetwork
from lm.scoring.kernels import ROWS_AT_A_TIME
from lm.scoring.packed_linear import PackedLinear
from lm.scoring.trie import Ints

# With this number of rows, gates are small compared with the states.
_ROWS_PER_CHUNK = 4 * ROWS_AT_A_TIME
_DEDUPLICATED_KINDS = ("lstm", "srn", "srn_relu")


class Step(Protocol):
    """Reads one token after each of many beginnings."""

    def begin(self) -> State:
        """Return the state of one beginning, before any token."""
        ...

    def extend(self, state: State, parents: Ints, tokens: Ints) -> tuple[Tensor, State]:
        """Return the top layer's output and the state after each token.

        Args:
            state: Tensors; their second dimension is that of the beginnings.
            parents: int64, shape ``(n,)``, ascending: the index of the beginning before each token.
            tokens: int64, shape ``(n,)``.

        Returns:
            Hidden values of shape ``(n, hidden)``, and the state of ``n`` beginnings.
        """
        ...

    def extend_along(self, state: State, parents: Ints, tokens: Ints) -> tuple[Tensor, State]:
        """Do the work of ``extend`` for tokens of shape ``(levels, n)``.

        Returns:
            Hidden values of shape ``(levels, n, hidden)``, and the state after the last level.
        """
        ...


class _OwnForward:
    """Reads several tokens in one call by the network's own ``forward``, for all networks."""

    def __init__(self, network: RecurrentNetwork) -> None:
        self._network = network

    def begin(self) -> State:
        """Return the state of one beginning; see ``Step``."""
        return self._network.initial_state(1)

    def extend_along(self, state: State, parents: Ints, tokens: Ints) -> tuple[Tensor, State]:
        """Read a run of tokens after each beginning; see ``Step``."""
        rows, words = (torch.from_numpy(part).to(state[0].device) for part in (parents, tokens))
        hidden, next_state = self._network(words, tuple(tensor[:, rows] for tensor in state))
        return hidden, next_state


def choose_step(network: RecurrentNetwork) -> Step:
    """Return the fastest step that the network supports."""
    is_naive = isinstance(network, WindowedNetwork) or network.shape.kind not in _DEDUPLICATED_KINDS
    return NaiveStep(network) if is_naive else DeduplicatedStep(network)


class NaiveStep(_OwnForward):
    """A step by the network's own ``forward``, for any network."""

    def extend(self, state: State, parents: Ints, tokens: Ints) -> tuple[Tensor, State]:
        """Read one token after each beginning; see ``Step``."""
        hidden, states = [], []
        for part in _split_into_chunks(len(tokens)):
            rows, words = (
                torch.from_numpy(numbers[part]).to(state[0].device) for numbers in (parents, tokens)
            )
            previous_state = tuple(tensor[:, rows] for tensor in state)
            read, next_state = self._network(words[None], previous_state)
            hidden.append(read[0])
            states.append(next_state)
        return torch.cat(hidden), tuple(torch.cat(parts, 1) for parts in zip(*states, strict=True))


class DeduplicatedStep(_OwnForward):
    """The step of an LSTM or simple recurrent network.

    The lowest layer's input is computed once per different word, and the recurrent product once per
    parent, instead of once per beginning.
    """

    def __init__(self, network: RecurrentNetwork) -> None:
        layers = network.recurrence
        super().__init__(network)
        self._is_lstm = network.shape.kind == "lstm"
        self._inputs, self._recurrent = [], []
        for number in range(network.shape.layers):
            weights = dict(layers.named_parameters())
            layer_weights = {name: weights[f"{name}_l{number}"] for name in _WEIGHTS}
            bias = (layer_weights["bias_ih"] + layer_weights["bias_hh"]).detach()
            self._inputs.append(
                PackedLinear(layer_weights["weight_ih"].detach(), bias, ROWS_AT_A_TIME)
            )
            self._recurrent.append(
                PackedLinear(layer_weights["weight_hh"].detach(), None, ROWS_AT_A_TIME)
            )

    def extend(self, state: State, parents: Ints, tokens: Ints) -> tuple[Tensor, State]:
        """Read one token after each beginning; see ``Step``."""
        next_state = tuple(
            tensor.new_empty(tensor.shape[0], len(tokens), tensor.shape[2]) for tensor in state
        )
        for part in _split_into_chunks(len(tokens)):
            self._step(state, parents[part], tokens[part], tuple(t[:, part] for t in next_state))
        return next_state[0][-1], next_state

    def _step(self, state: State, parents: Ints, tokens: Ints, next_state: State) -> None:
        device = state[0].device
        words, word_of = (numbers.to(device) for numbers in _find_distinct_numbers(tokens))
        rows, row_of = (numbers.to(device) for numbers in _find_distinct_numbers(parents))
        into = self._inputs[0](self._network.embedding(words))[word_of]
        for layer, recurrent in enumerate(self._recurrent):
            if layer:
                into = self._inputs[layer](next_state[0][layer - 1])
            into += recurrent(state[0][layer, rows])[row_of]
            if self._is_lstm:
                cells = state[1][layer, torch.from_numpy(parents).to(device)]
                _lstm(into, cells, next_state[0][layer], next_state[1][layer])
            elif self._network.shape.kind == "srn":
                torch.tanh(into, out=next_state[0][layer])
            else:
                torch.clamp(into, min=0, out=next_state[0][layer])


_WEIGHTS = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


def _lstm(gates: Tensor, cells: Tensor, hidden: Tensor, new_cells: Tensor) -> None:
    """Compute hidden values and cells by the equations of Hochreiter & Schmidhuber (1997).

    The gates are in PyTorch's order: input, forget, candidate, output, with the forget gate
    that Gers et al. (2000) added.
    """
    entering, forgetting, candidate, output = gates.chunk(4, 1)
    torch.mul(forgetting.sigmoid_(), cells, out=new_cells)
    new_cells += entering.sigmoid_() * candidate.tanh_()
    torch.mul(output.sigmoid_(), new_cells.tanh(), out=hidden)


def _find_distinct_numbers(numbers: Ints) -> tuple[Tensor, Tensor]:
    """Return the distinct numbers, and the index of each number among them."""
    distinct_numbers, places = np.unique(numbers, return_inverse=True)
    return torch.from_numpy(distinct_numbers), torch.from_numpy(places)


def _split_into_chunks(n: int) -> Iterator[slice]:
    for start in range(0, n, _ROWS_PER_CHUNK):
        yield slice(start, min(start + _ROWS_PER_CHUNK, n))
