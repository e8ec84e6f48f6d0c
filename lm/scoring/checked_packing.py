"""Tree packing that is tried on the texts at hand before anybody relies on it."""

from collections.abc import Callable, Sequence
from itertools import chain

import numpy as np

from lm.scoring.tree_packing import TreePacking, is_long_chain, tries_of
from lm.scoring.trie import Floats, Trie

# A trial reads so many times the tokens of the trie that it tries.
_TRIED = 2
# Packed and plain products add up in another order; beyond that, something else is computed.
WORST_NATS = 1e-4

Scores = Callable[[Sequence[Sequence[int]]], Sequence[Floats]]


def _spread(packed: list[tuple[int, Floats]], n_tokens: int) -> list[tuple[int, Floats]]:
    """Return strings evenly spread over all, of about so many tokens."""
    mean = sum(scores.size for _, scores in packed) / max(1, len(packed))
    n = max(1, round(n_tokens / max(1.0, mean)))
    if n >= len(packed):
        return packed
    return [packed[place * len(packed) // n] for place in range(n)]


class CheckedPacking:
    """Tree packing that is tried first: on the very texts, at the size at which they run.

    Of many long texts that share most of their beginnings, only some are run in the plain way.
    A layout can fail only where it is large (attention that reaches back a fixed number of
    positions) or deep (positions that are counted in another way). So a trial holds for tries of at
    most as many nodes and levels as it had, and a larger one is tried first. A long chain is its
    longest text, read as any text is, so shorter ones are compared, of half as many tokens.

    Args:
        packing: The packed way.
        plain: The plain way: the scores of all but the first token of each string.

    Attributes:
        fault: Why the model cannot be packed; empty where it can, as far as it was tried.
    """

    def __init__(self, packing: TreePacking, plain: Scores) -> None:
        self._packing, self._plain = packing, plain
        # Of long chains, which are read without a mask, and of other tries.
        self._tried = {True: (0, 0), False: (0, 0)}
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
        tries = list(tries_of(strings))
        for chains in (False, True):
            some = [trie for trie in tries if is_long_chain(trie) is chains]
            if some and not self.fault:
                self._try_some(some, strings, chains=chains)

    def _try_some(
        self, tries: Sequence[Trie], strings: Sequence[Sequence[int]], *, chains: bool
    ) -> None:
        deepest = max(tries, key=lambda trie: trie.level_starts.size)
        largest = deepest if chains else max(tries, key=lambda trie: trie.tokens.size)
        nodes, levels = largest.tokens.size, deepest.level_starts.size - 1
        most_nodes, most_levels = self._tried[chains]
        if nodes > most_nodes or levels > most_levels:
            own = [largest] if largest is deepest else [largest, deepest]
            self.fault = self._differs(own, strings)
            self._tried[chains] = max(nodes, most_nodes), max(levels, most_levels)

    def _differs(self, tries: Sequence[Trie], strings: Sequence[Sequence[int]]) -> str:
        context_lengths = [1] * len(strings)
        try:
            found = [self._packing.evaluate(trie, context_lengths) for trie in tries]
        # What a model of some library makes of a mask that it does not expect, nobody can list.
        except Exception as error:
            return f"it does not take a mask of ancestors ({type(error).__name__})"
        packed = list(chain.from_iterable(found))
        n_tokens = _TRIED * sum(trie.tokens.size for trie in tries)
        if is_long_chain(tries[0]):
            packed = _spread(packed, n_tokens // 2)
        else:
            longest = max(packed, key=lambda one: one[1].size)
            packed = [longest, *_spread(packed, n_tokens)]
        plain = self._plain([strings[string] for string, _ in packed])
        pairs = zip((scores[1:] for _, scores in packed), plain, strict=True)
        worst = float(np.max([np.max(np.abs(a - b), initial=0.0) for a, b in pairs], initial=0.0))
        # A comparison that is false of NaN as well.
        if worst <= WORST_NATS:
            return ""
        return f"packed texts differ from single ones by {worst:.2g} nats"
