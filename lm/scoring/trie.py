"""Prefix tries over strings of tokens: every shared beginning is stored once.

Strings are sorted, so that each shares its longest beginning with its neighbour; comparing each
with the previous one shows which of its tokens are new. The new tokens are the trie's nodes. They
are numbered level by level, so a level is a slice and a node's parent is in the previous slice. Too
many strings for one trie are divided among several; only the beginning of the first string in
each trie is repeated.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]

ROOT = -1
# A string with this number of own tokens is more than another ending of the previous one.
_MIN_OWN = 4
# A trie with so many nodes ends before a string that shares no more than its first token: that
# token is the same in all texts, and larger tries only take longer.
_ENOUGH_UNRELATED = 256


@dataclass(frozen=True, slots=True, eq=False)
class Trie:
    """The distinct beginnings of some strings; the empty beginning, the root, is not a node.

    Attributes:
        tokens: int64, shape ``(nodes,)``: the last token of each beginning.
        parents: int64, shape ``(nodes,)``, ascending: the node of the beginning without its last
            token; ``ROOT`` if that is empty.
        level_starts: int64, shape ``(levels + 1,)``: nodes ``level_starts[d]`` to
            ``level_starts[d + 1]`` are the beginnings of ``d + 1`` tokens.
        strings: int64, shape ``(strings,)``: the indices of the trie's strings, in sorted order.
        ends: int64, shape ``(strings,)``: the end of each string in ``node_of``.
        node_of: int64, shape ``(tokens of these strings,)``: the node of each token of each
            string, one string after the other.
    """

    tokens: Ints
    parents: Ints
    level_starts: Ints
    strings: Ints
    ends: Ints
    node_of: Ints

    @property
    def depths(self) -> Ints:
        """The number of tokens before each node's token, shape ``(nodes,)``."""
        return np.repeat(np.arange(self.level_starts.size - 1), np.diff(self.level_starts))

    @property
    def has_children(self) -> Bools:
        """Whether each node has children, shape ``(nodes,)``."""
        is_parent = np.zeros(self.tokens.size, bool)
        is_parent[self.parents[self.parents != ROOT]] = True
        return is_parent

    def rows(self) -> Iterator[tuple[int, Ints]]:
        """Yield each string's index among the given ones, and the nodes of its tokens."""
        yield from zip(self.strings.tolist(), np.split(self.node_of, self.ends[:-1]), strict=True)

    def scored_nodes(self, context_lengths: Sequence[int]) -> Bools:
        """Return which nodes are scored: those after the context of any of their strings.

        Args:
            context_lengths: The number of context tokens at the start of each given string.

        Returns:
            bool, shape ``(nodes,)``.
        """
        lengths = np.diff(self.ends, prepend=0)
        starts = np.repeat(self.ends - lengths, lengths)
        context = np.repeat(np.asarray(context_lengths, np.int64)[self.strings], lengths)
        is_scored = np.zeros(self.tokens.size, bool)
        is_scored[self.node_of[np.arange(self.node_of.size) - starts >= context]] = True
        return is_scored


def build_tries(
    strings: Sequence[Sequence[int]], max_nodes: int, enough: int | None = None
) -> Iterator[Trie]:
    """Divide the sorted strings into tries; equal strings are in the same trie.

    Args:
        strings: Tokens as numbers from 0 to 2**32 - 1.
        max_nodes: The most nodes of a trie, unless a single string has more.
        enough: The least number of nodes with which a trie may end early, before a string with many
            new tokens, or earlier before one that shares nothing; None: no early end.
    """
    if not strings:
        return
    keys = [np.asarray(string, ">u4").tobytes() for string in strings]
    # Big-endian bytes sort like the numbers, in C code and for any lengths.
    order = np.array(sorted(range(len(keys)), key=keys.__getitem__), np.int64)
    flat = np.frombuffer(b"".join(keys[row] for row in order), ">u4").astype(np.int64)
    lengths = np.array([len(keys[row]) // 4 for row in order], np.int64)
    ends = np.cumsum(lengths)
    new = _new_tokens(flat, lengths, ends)
    n_new = np.diff(np.concatenate(([0], np.cumsum(new)))[ends], prepend=0)
    for first, last in _find_cuts(n_new, lengths, max_nodes, enough):
        start, end = ends[first] - lengths[first], ends[last - 1]
        yield _make_trie(
            flat[start:end], lengths[first:last], order[first:last], new[start:end].copy()
        )


def _new_tokens(flat: Ints, lengths: Ints, ends: Ints) -> Bools:
    """Return which tokens are new: they end a beginning that the previous string does not share."""
    starts = ends - lengths
    position = np.arange(flat.size) - np.repeat(starts, lengths)
    previous = np.concatenate(([0], starts[:-1]))
    shared = position < np.repeat(np.concatenate(([0], lengths[:-1])), lengths)
    place_in_previous = np.where(shared, np.repeat(previous, lengths) + position, 0)
    differs = ~shared | (flat[place_in_previous] != flat) if flat.size else np.empty(0, bool)
    n_differing = np.concatenate(([0], np.cumsum(differs)))
    return n_differing[1:] > np.repeat(n_differing[starts], lengths)


def _find_cuts(
    n_new: Ints, lengths: Ints, max_nodes: int, enough: int | None
) -> Iterator[tuple[int, int]]:
    """Yield each trie's range of strings, first and last + 1; the first counts in full."""
    total = np.cumsum(n_new)
    first = 0
    while first < n_new.size:
        n_before = total[first] - lengths[first]
        last = int(np.searchsorted(total, n_before + max_nodes, "right"))
        last = max(last, first + 1)
        if enough is not None and last - first > 1:
            last = _find_border(n_new, lengths, first, last, enough)
        yield first, last
        first = last


def _find_border(n_new: Ints, lengths: Ints, first: int, last: int, enough: int) -> int:
    """Return a good place to divide the strings from ``first`` to ``last``, or ``last``.

    After a division, the beginning that a string shares with the previous one is read again.
    """
    own_tokens, shared = n_new[first:last], lengths[first:last] - n_new[first:last]
    nodes = np.cumsum(own_tokens) + shared[0]
    longest = np.maximum.accumulate(lengths[first:last])
    is_enough = nodes[:-1] >= np.where(shared[1:] <= 1, min(enough, _ENOUGH_UNRELATED), enough)
    cheap = (own_tokens[1:] >= _MIN_OWN) & (shared[1:] < longest[:-1] / 2)
    places = np.flatnonzero(cheap & is_enough)
    return first + 1 + int(places[0]) if places.size else last


def _make_trie(flat: Ints, lengths: Ints, strings: Ints, new: Bools) -> Trie:
    new[: lengths[0]] = True
    ends = np.cumsum(lengths)
    position = np.arange(flat.size) - np.repeat(ends - lengths, lengths)
    by_level = np.argsort(position, kind="stable")
    # Within a level, a token that is not new belongs to the last new one before it: strings that
    # share a beginning are neighbours, and the first of them to reach a level is new there.
    node_of = np.empty(flat.size, np.int64)
    node_of[by_level] = np.cumsum(new[by_level]) - 1
    first_use = by_level[new[by_level]]
    parents = np.where(position[first_use] == 0, ROOT, node_of[first_use - 1])
    level_sizes = np.bincount(position[first_use]) if first_use.size else np.empty(0, np.int64)
    level_starts = np.concatenate(([0], np.cumsum(level_sizes)))
    return Trie(flat[first_use], parents, level_starts, strings, ends, node_of)
