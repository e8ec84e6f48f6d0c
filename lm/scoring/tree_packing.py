"""Many texts in one run of a transformer: a prefix trie laid out as one sequence.

Each beginning that something follows is one position. It attends to its own beginnings and to
nothing else, and is numbered by its depth, so that a position computes what it would compute in a
text of its own. What texts share is computed once, and nothing is padded.
"""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from lm.scoring.kernels import LogNormaliser, target_logits
from lm.scoring.trie import ROOT, Bools, Floats, Ints, Trie, build_tries

# Attention grows with the square of the positions, the products' speed with their number.
NODES_AT_A_TIME = 768
_WORST_NATS = 1e-4
_N_TRIED = 8

Body = Callable[[Tensor, Tensor, Tensor], Tensor]
Scores = Callable[[Sequence[Sequence[int]]], Sequence[Floats]]


class TreePacking:
    """A causal transformer that reads tries.

    Args:
        body: From token numbers ``(1, n)``, places ``(1, n)`` and an additive attention mask
            ``(1, 1, n, n)`` to the hidden values before the decoder, ``(1, n, hidden)``.
        weight: The decoder's weight, shape ``(words, hidden)``.
        bias: Its bias, or none.
    """

    def __init__(self, body: Body, weight: Tensor, bias: Tensor | None) -> None:
        self._body, self._weight, self._bias = body, weight, bias
        self._normaliser = LogNormaliser(weight, bias)

    @torch.inference_mode()
    def logprobs_nats(
        self, strings: Sequence[Sequence[int]], skipped: Sequence[int]
    ) -> list[Floats]:
        """Return the log-probability of each token after those before it.

        Args:
            strings: Token numbers; each string starts with the model's beginning.
            skipped: How many tokens of each string are context, at least 1: those get no scores.

        Returns:
            For each string float64, shape ``(tokens,)``; its skipped places mean nothing.
        """
        found: list[Floats] = [np.empty(0)] * len(strings)
        for trie in build_tries(strings, NODES_AT_A_TIME):
            scores = self._evaluate(trie, trie.after(skipped))
            for string, nodes in trie.rows():
                found[string] = scores[nodes]
        return found

    def _evaluate(self, trie: Trie, wanted: Bools) -> Floats:
        scores = np.full(trie.tokens.size, np.nan)
        if not wanted.any():
            return scores
        read = np.flatnonzero(trie.inner)
        place = np.cumsum(trie.inner) - 1
        parents = place[trie.parents[wanted]]
        hidden = self._hidden(trie, read, place)
        rows, row_of = np.unique(parents, return_inverse=True)
        normalisers = self._normaliser(hidden[torch.from_numpy(rows).to(hidden.device)])
        logits = target_logits(self._weight, self._bias, hidden, parents, trie.tokens[wanted])
        scores[wanted] = np.minimum(logits - normalisers.cpu().numpy()[row_of], 0.0)
        return scores

    def _hidden(self, trie: Trie, read: Ints, place: Ints) -> Tensor:
        own = trie.parents[read]
        attended = ancestors(np.where(own == ROOT, ROOT, place[own]))
        device, dtype = self._weight.device, self._weight.dtype
        mask = torch.zeros(attended.shape, dtype=dtype, device=device)
        mask.masked_fill_(torch.from_numpy(~attended).to(device), torch.finfo(dtype).min)
        ids, depths = (
            torch.from_numpy(numbers[read])[None].to(device)
            for numbers in (trie.tokens, trie.depths)
        )
        return self._body(ids, depths, mask[None, None])[0]


def ancestors(parents: Ints) -> Bools:
    """Return which nodes stand above each node, itself included.

    Args:
        parents: int64, shape ``(n,)``: parents before their children; ``ROOT`` for none.

    Returns:
        bool, shape ``(n, n)``.
    """
    found = np.eye(parents.size, dtype=bool)
    for node, parent in enumerate(parents.tolist()):
        if parent != ROOT:
            found[node] |= found[parent]
    return found


def packing_fault(packing: TreePacking, plain: Scores, n_words: int, beginning: int) -> str:
    """Try a model on a few strings, packed and plain, and say in words what differs.

    Args:
        packing: The packed way.
        plain: The plain way: the scores of all but the first token of each string.
        n_words: How many token numbers there are.
        beginning: The number that texts start with.

    Returns:
        Why the model cannot be packed; empty where it can.
    """
    numbers = np.random.default_rng(1).integers(0, n_words, (_N_TRIED, _N_TRIED))
    stem = numbers[0].tolist()
    # Each string leaves the first one at another place.
    strings = [[beginning, *stem[:end], *numbers[end, end:].tolist()] for end in range(_N_TRIED)]
    try:
        packed = packing.logprobs_nats(strings, [1] * len(strings))
    except (TypeError, ValueError, RuntimeError, AttributeError, IndexError) as error:
        return f"it does not take a mask of ancestors ({type(error).__name__})"
    pairs = zip(packed, plain(strings), strict=True)
    worst = max(float(np.max(np.abs(one[1:] - other))) for one, other in pairs)
    if worst <= _WORST_NATS:
        return ""
    return f"packed texts differ from single ones by {worst:.2g} nats"
