"""Many texts in one run of a transformer: a prefix trie laid out as one sequence.

Each node with children is one position. It attends only to its ancestors and itself, and its
position number is its depth, so that its result is the same as in a separate text. Shared
beginnings are computed once, and nothing is padded.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import torch
from torch import Tensor

from lm.scoring.kernels import LogNormaliser, target_logits
from lm.scoring.trie import ROOT, Bools, Floats, Ints, Trie, build_tries

# The cost of attention grows with the square of the positions; larger products are more efficient.
NODES_AT_A_TIME = 768
Body = Callable[[Tensor, Tensor, Tensor], Tensor]


class TreePacking:
    """A causal transformer that reads tries.

    Args:
        body: Computes the hidden values before the decoder, ``(1, n, hidden)``, from token numbers
            ``(1, n)``, positions ``(1, n)`` and a mask. The mask is an additive attention mask,
            ``(1, 1, n, n)``, or ones, ``(1, n)``, for a single ordinary text.
        weight: The decoder's weight, shape ``(words, hidden)``.
        bias: The decoder's bias, or None.
    """

    def __init__(self, body: Body, weight: Tensor, bias: Tensor | None) -> None:
        self._body, self._weight, self._bias = body, weight, bias
        self._normaliser = LogNormaliser(weight, bias)

    @torch.inference_mode()
    def logprobs_nats(
        self, strings: Sequence[Sequence[int]], context_lengths: Sequence[int]
    ) -> list[Floats]:
        """Return the log-probability of each token given those before it.

        Args:
            strings: Token numbers; each string starts with the model's beginning token.
            context_lengths: The number of context tokens of each string, at least 1; they are not
                scored.

        Returns:
            For each string float64, shape ``(tokens,)``; the context's values are meaningless.
        """
        found: list[Floats] = [np.empty(0)] * len(strings)
        for trie in tries_of(strings):
            for string, scores in self.evaluate(trie, context_lengths):
                found[string] = scores
        return found

    @torch.inference_mode()
    def evaluate(self, trie: Trie, context_lengths: Sequence[int]) -> list[tuple[int, Floats]]:
        """Do the work of ``logprobs_nats`` for one trie's strings; return their indices, too."""
        scores = self._evaluate(trie, trie.scored_nodes(context_lengths))
        return [(string, scores[nodes]) for string, nodes in trie.rows()]

    def _evaluate(self, trie: Trie, wanted: Bools) -> Floats:
        scores = np.full(trie.tokens.size, np.nan)
        if not wanted.any():
            return scores
        read = np.flatnonzero(trie.has_children)
        place = np.cumsum(trie.has_children) - 1
        parents = place[trie.parents[wanted]]
        hidden = self._hidden(trie, read, place)
        rows, row_of = np.unique(parents, return_inverse=True)
        normalisers = self._normaliser(hidden[torch.from_numpy(rows).to(hidden.device)])
        logits = target_logits(self._weight, self._bias, hidden, parents, trie.tokens[wanted])
        scores[wanted] = np.minimum(logits - normalisers.cpu().numpy()[row_of], 0.0)
        return scores

    def _hidden(self, trie: Trie, read: Ints, place: Ints) -> Tensor:
        device, dtype = self._weight.device, self._weight.dtype
        ids, depths = (
            torch.from_numpy(numbers[read])[None].to(device)
            for numbers in (trie.tokens, trie.depths)
        )
        if is_long_chain(trie):
            return self._body(ids, depths, torch.ones_like(ids))[0]
        own = trie.parents[read]
        attended = ancestors(np.where(own == ROOT, ROOT, place[own]))
        mask = torch.zeros(attended.shape, dtype=dtype, device=device)
        mask.masked_fill_(torch.from_numpy(~attended).to(device), torch.finfo(dtype).min)
        return self._body(ids, depths, mask[None, None])[0]


def is_long_chain(trie: Trie) -> bool:
    """Return whether a trie is one long chain: every read node follows the previous one.

    The prompts of a session are such a chain. A chain is one text, so the model's own causal
    attention can read it, which skips the masked half.
    """
    parents = trie.parents[trie.has_children]
    return trie.tokens.size > NODES_AT_A_TIME and bool((np.diff(parents) > 0).all())


def ancestors(parents: Ints) -> Bools:
    """Return the ancestors of each node, the node itself included.

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


def tries_of(strings: Sequence[Sequence[int]]) -> Iterator[Trie]:
    """Yield tries that a transformer can read at once.

    Each prompt of a session is the beginning of the next, so a session fits into a trie that is
    only slightly larger than its longest prompt. Prompts of another session, or in another format,
    get a separate trie.
    """
    longest = max(map(len, strings), default=0)
    return build_tries(strings, max(NODES_AT_A_TIME, longest + longest // 4), NODES_AT_A_TIME)
