"""Models that read tries token by token: every beginning once, unbranched runs in one call.

The sentences of a study branch everywhere, and one step reads a level of their trie. The prompts of
a session do not: each is the beginning of the next, so their trie is a few chains of thousands of
levels. Chains do not branch, so a model that supports it reads many levels in one call.
"""

from typing import Generic, Protocol, TypeVar, runtime_checkable

import numpy as np

from lm.scoring.trie import ROOT, Bools, Floats, Ints, Trie

State = TypeVar("State")

# The sums of a run differ from single steps in the last digit. Shorter chains, such as the texts
# # of one trial, are read step by step: their values do not depend on other texts.
_LEVELS_AT_LEAST = 128
# Limits the size of a call.
_TOKENS_AT_MOST = 2**14


class IncrementalModel(Protocol[State]):
    """A model that reads one token at a time; a state has one row per beginning that was read."""

    def begin(self) -> State:
        """Return the state before any token, with one row."""
        ...

    def extend(self, state: State, parents: Ints, tokens: Ints) -> State:
        """Return a state with one row per token: row ``parents[i]`` after reading ``tokens[i]``.

        Args:
            state: The state before these tokens.
            parents: int64, shape ``(n,)``, ascending: rows of ``state``.
            tokens: int64, shape ``(n,)``.
        """
        ...

    def logprobs_nats(self, state: State, parents: Ints, tokens: Ints) -> Floats:
        """Return the log-probability of each token after its row of ``state``, shape ``(n,)``.

        A model with several numbers per token returns them all, shape ``(n, numbers)``.
        """
        ...


@runtime_checkable
class RunReader(Protocol[State]):
    """An ``IncrementalModel`` that also reads several tokens of each beginning in one call."""

    def extend_along(self, state: State, parents: Ints, tokens: Ints) -> tuple[State, State]:
        """Return the states after each token, and the state after the last ones.

        Args:
            state: The state before these tokens.
            parents: int64, shape ``(n,)``, ascending: rows of ``state``.
            tokens: int64, shape ``(levels, n)``: the tokens after each parent.

        Returns:
            A state for ``logprobs_nats``, with ``levels * n`` rows, one level after the other;
            and a state of ``n`` rows to continue from.
        """
        ...


def score_trie(trie: Trie, model: IncrementalModel[State], wanted: Bools) -> Floats:
    """Return the log-probability of each wanted node's token after the beginning before it.

    The model reads each beginning once, a level or a run of levels at a time. Beginnings without
    wanted nodes after them are not read.

    Args:
        trie: The strings.
        model: The model.
        wanted: bool, shape ``(nodes,)``.

    Returns:
        float64, shape ``(nodes,)``, or ``(nodes, numbers)`` for a model with several numbers per
        token; NaN for nodes that are not wanted.
    """
    walk = _TrieReader(trie, model, wanted)
    n_levels, level = trie.level_starts.size - 1, 0
    along = isinstance(model, RunReader)
    ends = _find_run_ends(walk.counts, walk.n_parents)
    while level < n_levels:
        walk.score_level(level)
        n_rows = int(walk.counts[level])
        if not n_rows:
            break
        last = min(int(ends[level]), level + _TOKENS_AT_MOST // n_rows)
        if along and last - level >= _LEVELS_AT_LEAST:
            walk.read_levels(level, last)
            level = last
        else:
            walk.read(level)
            level += 1
    return walk.results


def _find_run_ends(counts: Ints, n_parents: Ints) -> Ints:
    """Return for each level the first level after it at which a beginning branches or ends.

    Args:
        counts: int64, shape ``(levels,)``: the number of beginnings read at each level.
        n_parents: int64, shape ``(levels,)``: the number of their different parents.
    """
    goes_on = np.zeros(counts.size, bool)
    goes_on[1:] = (counts[1:] == counts[:-1]) & (n_parents[1:] == counts[1:])
    stops = np.append(np.flatnonzero(~goes_on), counts.size)
    return stops[np.searchsorted(stops, np.arange(counts.size), "right")]


class _TrieReader(Generic[State]):
    """The state of reading a trie level by level.

    Attributes:
        results: The results of the wanted nodes so far.
        counts: int64, shape ``(levels,)``: the number of nodes read at each level.
        n_parents: int64, shape ``(levels,)``: the number of their different parents.
    """

    def __init__(self, trie: Trie, model: IncrementalModel[State], wanted: Bools) -> None:
        self._trie, self._model, self._wanted = trie, model, wanted
        self.results = np.full(trie.tokens.size, np.nan)
        self._needed = _find_ancestors(trie, wanted)
        # Rows of the states: a node's index among the nodes read at its level.
        read_before = np.concatenate(([0], np.cumsum(self._needed)))
        firsts = read_before[trie.level_starts]
        self.counts = np.diff(firsts)
        level_firsts = np.repeat(firsts[:-1], np.diff(trie.level_starts))
        row_of = read_before[:-1] - level_firsts
        self._rows = np.where(trie.parents == ROOT, 0, row_of[trie.parents])
        read_nodes = np.flatnonzero(self._needed)
        new_parent = np.diff(trie.parents[read_nodes], prepend=ROOT - 1) != 0
        self.n_parents = np.diff(np.concatenate(([0], np.cumsum(new_parent)))[firsts])
        self._state = model.begin()

    def score_level(self, level: int) -> None:
        """Compute the results for one level's wanted nodes, after reading all earlier levels."""
        self._score(self._state, self._select_nodes(level, self._wanted))

    def read(self, level: int) -> None:
        """Read the nodes of a level that are needed for later nodes."""
        nodes = self._select_nodes(level, self._needed)
        self._state = self._model.extend(self._state, self._rows[nodes], self._trie.tokens[nodes])

    def read_levels(self, first: int, last: int) -> None:
        """Read levels ``first`` to ``last - 1``, and compute the wanted nodes after ``first``."""
        levels = [self._select_nodes(level, self._needed) for level in range(first, last)]
        tokens = np.stack([self._trie.tokens[nodes] for nodes in levels])
        model = self._model
        assert isinstance(model, RunReader)
        read, self._state = model.extend_along(self._state, self._rows[levels[0]], tokens)
        wanted_by_level = [
            self._select_nodes(level, self._wanted) for level in range(first + 1, last)
        ]
        sizes = [nodes.size for nodes in wanted_by_level]
        row_offsets = np.repeat(np.arange(len(wanted_by_level)) * tokens.shape[1], sizes)
        self._score(read, np.concatenate([*wanted_by_level, np.empty(0, np.int64)]), row_offsets)

    def _score(self, state: State, nodes: Ints, row_offsets: Ints | int = 0) -> None:
        if not nodes.size:
            return
        rows = (self._rows[nodes] + row_offsets).astype(np.int64)
        answers = self._model.logprobs_nats(state, rows, self._trie.tokens[nodes])
        if self.results.ndim < answers.ndim:
            self.results = np.full((self.results.size, answers.shape[1]), np.nan)
        self.results[nodes] = answers

    def _select_nodes(self, level: int, selected: Bools) -> Ints:
        start, end = self._trie.level_starts[level : level + 2].tolist()
        nodes: Ints = np.flatnonzero(selected[start:end]) + start
        return nodes


def _find_ancestors(trie: Trie, wanted: Bools) -> Bools:
    """Return which nodes are ancestors of a wanted node."""
    is_ancestor = np.zeros(trie.tokens.size, bool)
    for start, end in zip(trie.level_starts[-2:0:-1], trie.level_starts[:1:-1], strict=True):
        follows = wanted[start:end] | is_ancestor[start:end]
        is_ancestor[trie.parents[start:end][follows]] = True
    return is_ancestor
