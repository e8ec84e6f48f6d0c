"""Many texts in one run of a transformer: a prefix trie laid out as one sequence.

Each beginning that something follows is one position. It attends to its own beginnings and to
nothing else, and is numbered by its depth, so that a position computes what it would compute in a
text of its own. What texts share is computed once, and nothing is padded.
"""

from collections.abc import Callable, Sequence
from itertools import chain

import numpy as np
import torch
from torch import Tensor

from lm.scoring.kernels import LogNormaliser, target_logits
from lm.scoring.trie import ROOT, Bools, Floats, Ints, Trie, build_tries

# Attention grows with the square of the positions, the products' speed with their number.
NODES_AT_A_TIME = 768
# A trial reads so many times the tokens of the trie that it tries.
_TRIED = 2
# Packed and plain products add up in another order; beyond that, something else is computed.
WORST_NATS = 1e-4

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
        self, strings: Sequence[Sequence[int]], context_lengths: Sequence[int]
    ) -> list[Floats]:
        """Return the log-probability of each token after those before it.

        Args:
            strings: Token numbers; each string starts with the model's beginning.
            context_lengths: How many tokens of each string are context, at least 1: these get no
                scores.

        Returns:
            For each string float64, shape ``(tokens,)``; the places of its context mean nothing.
        """
        found: list[Floats] = [np.empty(0)] * len(strings)
        for trie in build_tries(strings, nodes_at_a_time(strings)):
            for string, scores in self.evaluate(trie, context_lengths):
                found[string] = scores
        return found

    @torch.inference_mode()
    def evaluate(self, trie: Trie, context_lengths: Sequence[int]) -> list[tuple[int, Floats]]:
        """Return what ``logprobs_nats`` does for one trie's strings, each with its place."""
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


def nodes_at_a_time(strings: Sequence[Sequence[int]]) -> int:
    """Return how many nodes a trie of these strings may have.

    The prompts of one session are each the beginning of the next: they fit into a trie that is
    little larger than the longest, which is as large by itself.
    """
    longest = max(map(len, strings), default=0)
    return max(NODES_AT_A_TIME, longest + longest // 4)


def _spread(packed: list[tuple[int, Floats]], n_tokens: int) -> list[tuple[int, Floats]]:
    """Return strings evenly spread over all, of about so many tokens, with the longest."""
    mean = sum(scores.size for _, scores in packed) / max(1, len(packed))
    n = max(1, round(n_tokens / max(1.0, mean)))
    if n >= len(packed):
        return packed
    longest = max(packed, key=lambda one: one[1].size)
    return [longest, *(packed[place * len(packed) // n] for place in range(n))]


class CheckedPacking:
    """Tree packing that is tried first: on the very texts, at the size at which they run.

    Of many long texts that share most of their beginnings, only some are run in the plain way.
    A layout can fail only where it is large (attention that reaches back a fixed number of
    positions) or deep (positions that are counted in another way). So a trial holds for tries of at
    most as many nodes and levels as it had, and a larger one is tried first.

    Args:
        packing: The packed way.
        plain: The plain way: the scores of all but the first token of each string.

    Attributes:
        fault: Why the model cannot be packed; empty where it can, as far as it was tried.
    """

    def __init__(self, packing: TreePacking, plain: Scores) -> None:
        self._packing, self._plain = packing, plain
        self._nodes = self._levels = 0
        self.fault = ""

    def logprobs_nats(
        self, strings: Sequence[Sequence[int]], context_lengths: Sequence[int]
    ) -> list[Floats] | None:
        """Return what ``TreePacking`` does; None where these strings cannot be packed."""
        if not self.fault:
            self._try(strings)
        return None if self.fault else self._packing.logprobs_nats(strings, context_lengths)

    def _try(self, strings: Sequence[Sequence[int]]) -> None:
        """Set ``fault``, by a trial if these strings need one."""
        if not strings:
            return
        tries = list(build_tries(strings, nodes_at_a_time(strings)))
        largest = max(tries, key=lambda trie: trie.tokens.size)
        deepest = max(tries, key=lambda trie: trie.level_starts.size)
        nodes, levels = largest.tokens.size, deepest.level_starts.size - 1
        if nodes > self._nodes or levels > self._levels:
            self.fault = self._differs(
                [largest] if largest is deepest else [largest, deepest], strings
            )
            self._nodes, self._levels = max(nodes, self._nodes), max(levels, self._levels)

    def _differs(self, tries: Sequence[Trie], strings: Sequence[Sequence[int]]) -> str:
        context_lengths = [1] * len(strings)
        try:
            found = [self._packing.evaluate(trie, context_lengths) for trie in tries]
        # What a model of some library makes of a mask that it does not expect, nobody can list.
        except Exception as error:
            return f"it does not take a mask of ancestors ({type(error).__name__})"
        n_tokens = _TRIED * sum(trie.tokens.size for trie in tries)
        packed = _spread(list(chain.from_iterable(found)), n_tokens)
        plain = self._plain([strings[string] for string, _ in packed])
        pairs = zip((scores[1:] for _, scores in packed), plain, strict=True)
        worst = float(np.max([np.max(np.abs(a - b), initial=0.0) for a, b in pairs], initial=0.0))
        # A comparison that is false of NaN as well.
        if worst <= WORST_NATS:
            return ""
        return f"packed texts differ from single ones by {worst:.2g} nats"
