"""Tree packing that is tested on the given texts before its results are used."""

from collections.abc import Callable, Sequence
from itertools import chain

import numpy as np

from lm.scoring.tree_packing import TreePacking, is_long_chain, tries_of
from lm.scoring.trie import Floats, Trie

# The tokens that a trial reads, as a multiple of those of the tested trie.
_TRIED = 2
# Packed and plain products are summed in different orders; a greater difference means that
# # something else is computed.
WORST_NATS = 1e-4

Scores = Callable[[Sequence[Sequence[int]]], Sequence[Floats]]


def _spread(packed: list[tuple[int, Floats]], n_tokens: int) -> list[tuple[int, Floats]]:
    """Return strings spread evenly over all of them, with about the given number of tokens."""
    mean = sum(scores.size for _, scores in packed) / max(1, len(packed))
    n = max(1, round(n_tokens / max(1.0, mean)))
    if n >= len(packed):
        return packed
    return [packed[place * len(packed) // n] for place in range(n)]


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

    def _try(self, strings: Sequence[Sequence[int]]) -> None:
        """Test these strings if necessary, and set ``fault`` if the test fails."""
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
        # Models may fail in any way on a mask that they do not expect.
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
        # This comparison is also false for NaN.
        if worst <= WORST_NATS:
            return ""
        return f"packed texts differ from single ones by {worst:.2g} nats"
