"""Many texts in one run of a transformer: a prefix trie laid out as one sequence.

Each node with children is one position. It attends only to its ancestors and itself, and its
position number is its depth, so that its result is the same as in a separate text. Shared
beginnings are computed once, and nothing is padded.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain

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
        logprobs: list[Floats] = [np.empty(0)] * len(strings)
        for trie in build_readable_tries(strings):
            for string, scores in self.evaluate(trie, context_lengths):
                logprobs[string] = scores
        return logprobs

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
        index = np.cumsum(trie.has_children) - 1
        parents = index[trie.parents[wanted]]
        hidden = self._compute_hidden_states(trie, read, index)
        rows, row_of = np.unique(parents, return_inverse=True)
        normalisers = self._normaliser(hidden[torch.from_numpy(rows).to(hidden.device)])
        logits = target_logits(self._weight, self._bias, hidden, parents, trie.tokens[wanted])
        scores[wanted] = np.minimum(logits - normalisers.cpu().numpy()[row_of], 0.0)
        return scores

    def _compute_hidden_states(self, trie: Trie, read: Ints, index: Ints) -> Tensor:
        device, dtype = self._weight.device, self._weight.dtype
        ids, depths = (
            torch.from_numpy(numbers[read])[None].to(device)
            for numbers in (trie.tokens, trie.depths)
        )
        if is_long_chain(trie):
            return self._body(ids, depths, torch.ones_like(ids))[0]
        read_parents = trie.parents[read]
        attended = ancestors(np.where(read_parents == ROOT, ROOT, index[read_parents]))
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
    is_ancestor = np.eye(parents.size, dtype=bool)
    for node, parent in enumerate(parents.tolist()):
        if parent != ROOT:
            is_ancestor[node] |= is_ancestor[parent]
    return is_ancestor


def build_readable_tries(strings: Sequence[Sequence[int]]) -> Iterator[Trie]:
    """Yield tries that a transformer can read at once.

    Each prompt of a session is the beginning of the next, so a session fits into a trie that is
    only slightly larger than its longest prompt. Prompts of another session, or in another format,
    get a separate trie.
    """
    longest = max(map(len, strings), default=0)
    return build_tries(strings, _most_nodes(longest), NODES_AT_A_TIME)


def _most_nodes(longest: int) -> int:
    """Return the most nodes of a trie whose longest string has so many tokens."""
    return max(NODES_AT_A_TIME, longest + longest // 4)


# What a token costs in a packed run, as a share of a plain one: its products are faster.
_PACKED_COST = 0.75
# The tokens that a trial reads, as a multiple of those of the tested trie.
_TRIAL_MULTIPLE = 2
# Packed and plain products are summed in different orders; a greater difference means that
# # something else is computed.
WORST_NATS = 1e-4

Scores = Callable[[Sequence[Sequence[int]]], Sequence[Floats]]


def _sample_evenly(packed: list[tuple[int, Floats]], n_tokens: int) -> list[tuple[int, Floats]]:
    """Return strings spread evenly over all of them, with about the given number of tokens."""
    mean = sum(scores.size for _, scores in packed) / max(1, len(packed))
    n = max(1, round(n_tokens / max(1.0, mean)))
    if n >= len(packed):
        return packed
    return [packed[index * len(packed) // n] for index in range(n)]


def _size(trie: Trie) -> tuple[int, int]:
    """Return the numbers of a trie's nodes and levels."""
    return trie.tokens.size, trie.level_starts.size - 1


class CheckedPacking:
    """Tree packing that is first tested on the given texts, at their actual size.

    The test compares packed scores with plain ones, for only some of many long texts that share
    most of their beginnings. A layout can only fail if it is large (attention over a fixed number
    of positions) or deep (positions counted in another way). So a test is valid for tries with at
    most as many nodes and levels; a larger trie is tested again. A long chain is read like its
    longest text, so the test compares shorter texts, with half as many tokens.

    Args:
        packing: The packed way.
        plain: The plain way: the scores of all but the first token of each string.

    Attributes:
        fault: Why the model cannot be packed; empty if no test has failed.
    """

    def __init__(self, packing: TreePacking, plain: Scores) -> None:
        self._packing, self._plain = packing, plain
        # For long chains, which are read without a mask, and for other tries.
        self._tried = {True: (0, 0), False: (0, 0)}
        self.fault = ""

    def logprobs_nats(
        self, strings: Sequence[Sequence[int]], context_lengths: Sequence[int]
    ) -> list[Floats] | None:
        """Return the result of ``TreePacking``; None if these strings cannot be packed."""
        if not self.fault:
            self._try(strings)
        return None if self.fault else self._packing.logprobs_nats(strings, context_lengths)

    def pays(self, strings: Sequence[Sequence[int]]) -> bool:
        """Return whether packing strings, with the tests that it needs, costs less than plain runs.

        A tested trie is read packed and, text by text, plainly.
        """
        n_tokens = sum(map(len, strings))
        longest = max(map(len, strings), default=0)
        # At most two tries of each kind are tested, so that large sets need no count of nodes.
        most_tested = 4 * _most_nodes(longest)
        if (1 - _PACKED_COST) * n_tokens > (1 + _PACKED_COST) * most_tested:
            return True
        tries = list(build_readable_tries(strings))
        n_tested = 0
        for chains in (False, True):
            some = [trie for trie in tries if is_long_chain(trie) is chains]
            if some:
                n_tested += sum(trie.tokens.size for trie in self._untested(some, chains=chains))
        n_packed = n_tested + sum(trie.tokens.size for trie in tries)
        return _PACKED_COST * n_packed + n_tested < n_tokens

    def _try(self, strings: Sequence[Sequence[int]]) -> None:
        """Test these strings if necessary, and set ``fault`` if the test fails."""
        tries = list(build_readable_tries(strings))
        for chains in (False, True):
            some = [trie for trie in tries if is_long_chain(trie) is chains]
            if some and not self.fault:
                self._try_some(some, strings, chains=chains)

    def _try_some(
        self, tries: Sequence[Trie], strings: Sequence[Sequence[int]], *, chains: bool
    ) -> None:
        if tested := self._untested(tries, chains=chains):
            self.fault = self._describe_difference(tested, strings)
            nodes, levels = self._tried[chains]
            self._tried[chains] = (
                max(nodes, _size(tested[0])[0]),
                max(levels, _size(tested[-1])[1]),
            )

    def _untested(self, tries: Sequence[Trie], *, chains: bool) -> list[Trie]:
        """Return the largest and the deepest trie, if one of them exceeds those tested before."""
        deepest = max(tries, key=lambda trie: _size(trie)[1])
        largest = deepest if chains else max(tries, key=lambda trie: _size(trie)[0])
        most_nodes, most_levels = self._tried[chains]
        if _size(largest)[0] <= most_nodes and _size(deepest)[1] <= most_levels:
            return []
        return [largest] if largest is deepest else [largest, deepest]

    def _describe_difference(self, tries: Sequence[Trie], strings: Sequence[Sequence[int]]) -> str:
        context_lengths = [1] * len(strings)
        try:
            results = [self._packing.evaluate(trie, context_lengths) for trie in tries]
        # Models may fail in any way on a mask that they do not expect.
        except Exception as error:
            return f"it does not take a mask of ancestors ({type(error).__name__})"
        packed = list(chain.from_iterable(results))
        n_tokens = _TRIAL_MULTIPLE * sum(trie.tokens.size for trie in tries)
        if is_long_chain(tries[0]):
            packed = _sample_evenly(packed, n_tokens // 2)
        else:
            longest = max(packed, key=lambda pair: pair[1].size)
            packed = [longest, *_sample_evenly(packed, n_tokens)]
        plain_scores = self._plain([strings[string] for string, _ in packed])
        pairs = zip((scores[1:] for _, scores in packed), plain_scores, strict=True)
        worst = float(np.max([np.max(np.abs(a - b), initial=0.0) for a, b in pairs], initial=0.0))
        # This comparison is also false for NaN.
        if worst <= WORST_NATS:
            return ""
        return f"packed texts differ from single ones by {worst:.2g} nats"
