"""Models that read one token at a time, on tries: every beginning once, runs in one call.

Sentences of a study branch everywhere, and a level of their trie is read in one step. The prompts
of a session do not: each is the beginning of the next, so their trie is a few chains of thousands
of levels. Along a chain nothing branches, so a model that can reads many levels in one call.
"""

from typing import Generic, Protocol, TypeVar, runtime_checkable

import numpy as np

from lm.scoring.trie import ROOT, Bools, Floats, Ints, Trie

State = TypeVar("State")

# Sums of a run come out in another order, by a last digit. Shorter chains, as texts of one trial
# are, go step by step: their values do not depend on what else is read.
_LEVELS_AT_LEAST = 128
# What a call holds stays small.
_TOKENS_AT_MOST = 2**14


class IncrementalModel(Protocol[State]):
    """A model that reads one token at a time; a state holds one row per beginning it has read."""

    def begin(self) -> State:
        """Return the state of one row: nothing of a string read yet."""
        ...

    def extend(self, state: State, parents: Ints, tokens: Ints) -> State:
        """Return a state with one row per token: row ``parents[i]`` after reading ``tokens[i]``.

        Args:
            state: What was read before.
            parents: int64, shape ``(n,)``, ascending: rows of ``state``.
            tokens: int64, shape ``(n,)``.
        """
        ...

    def logprobs_nats(self, state: State, parents: Ints, tokens: Ints) -> Floats:
        """Return the log-probability of each token after its row of ``state``, shape ``(n,)``.

        A model that has more to say of each token returns that too, shape ``(n, numbers)``.
        """
        ...


@runtime_checkable
class RunReader(Protocol[State]):
    """An ``IncrementalModel`` that also reads several tokens of each beginning in one call."""

    def extend_along(self, state: State, parents: Ints, tokens: Ints) -> tuple[State, State]:
        """Return what was read after each token, and the state after the last ones.

        Args:
            state: What was read before.
            parents: int64, shape ``(n,)``, ascending: rows of ``state``.
            tokens: int64, shape ``(levels, n)``: what follows each of them.

        Returns:
            A state that ``logprobs_nats`` takes, with ``levels * n`` rows, one level after the
            other; and one of ``n`` rows to go on from.
        """
        ...


def evaluate(trie: Trie, model: IncrementalModel[State], wanted: Bools) -> Floats:
    """Return the log-probability of each wanted node's token after the beginning before it.

    The model reads each beginning once, a level or a run of levels at a time, and only those that
    something follows.

    Args:
        trie: The strings.
        model: Who reads them.
        wanted: bool, shape ``(nodes,)``.

    Returns:
        float64, shape ``(nodes,)``, or ``(nodes, numbers)`` of a model that says more of each
        token; NaN where not wanted.
    """
    walk = _Walk(trie, model, wanted)
    n_levels, level = trie.level_starts.size - 1, 0
    along = isinstance(model, RunReader)
    ends = _run_ends(walk.counts, walk.n_parents)
    while level < n_levels:
        walk.ask(level)
        n_rows = int(walk.counts[level])
        if not n_rows:
            break
        last = min(int(ends[level]), level + _TOKENS_AT_MOST // n_rows)
        if along and last - level >= _LEVELS_AT_LEAST:
            walk.read_run(level, last)
            level = last
        else:
            walk.read(level)
            level += 1
    return walk.found


def _run_ends(counts: Ints, n_parents: Ints) -> Ints:
    """Return for each level the first one after it at which some beginning branches or ends.

    Args:
        counts: int64, shape ``(levels,)``: how many beginnings of each level are read.
        n_parents: int64, shape ``(levels,)``: how many beginnings of the level before they follow.
    """
    goes_on = np.zeros(counts.size, bool)
    goes_on[1:] = (counts[1:] == counts[:-1]) & (n_parents[1:] == counts[1:])
    stops = np.append(np.flatnonzero(~goes_on), counts.size)
    return stops[np.searchsorted(stops, np.arange(counts.size), "right")]


class _Walk(Generic[State]):
    """A model on its way down a trie.

    Attributes:
        found: What it said of the wanted nodes so far.
        counts: int64, shape ``(levels,)``: how many nodes of each level are read.
        n_parents: int64, shape ``(levels,)``: how many different nodes these follow.
    """

    def __init__(self, trie: Trie, model: IncrementalModel[State], wanted: Bools) -> None:
        self._trie, self._model, self._wanted = trie, model, wanted
        self.found = np.full(trie.tokens.size, np.nan)
        self._needed = _ancestors(trie, wanted)
        # Rows of the states: which of the nodes read at its level a node is.
        read_before = np.concatenate(([0], np.cumsum(self._needed)))
        firsts = read_before[trie.level_starts]
        self.counts = np.diff(firsts)
        own = np.repeat(firsts[:-1], np.diff(trie.level_starts))
        row_of = read_before[:-1] - own
        self._rows = np.where(trie.parents == ROOT, 0, row_of[trie.parents])
        read = np.flatnonzero(self._needed)
        new_parent = np.diff(trie.parents[read], prepend=ROOT - 1) != 0
        self.n_parents = np.diff(np.concatenate(([0], np.cumsum(new_parent)))[firsts])
        self._state = model.begin()

    def ask(self, level: int) -> None:
        """Ask about a level's wanted nodes, all levels before it read."""
        self._ask(self._state, self._nodes(level, self._wanted))

    def read(self, level: int) -> None:
        """Read a level's nodes that something follows."""
        nodes = self._nodes(level, self._needed)
        self._state = self._model.extend(self._state, self._rows[nodes], self._trie.tokens[nodes])

    def read_run(self, first: int, last: int) -> None:
        """Read levels ``first`` to ``last - 1``, and ask about the wanted nodes after ``first``."""
        levels = [self._nodes(level, self._needed) for level in range(first, last)]
        tokens = np.stack([self._trie.tokens[nodes] for nodes in levels])
        model = self._model
        assert isinstance(model, RunReader)
        read, self._state = model.extend_along(self._state, self._rows[levels[0]], tokens)
        asked = [self._nodes(level, self._wanted) for level in range(first + 1, last)]
        sizes = [nodes.size for nodes in asked]
        before = np.repeat(np.arange(len(asked)) * tokens.shape[1], sizes)
        self._ask(read, np.concatenate([*asked, np.empty(0, np.int64)]), before)

    def _ask(self, state: State, nodes: Ints, before: Ints | int = 0) -> None:
        if not nodes.size:
            return
        rows = (self._rows[nodes] + before).astype(np.int64)
        answers = self._model.logprobs_nats(state, rows, self._trie.tokens[nodes])
        if self.found.ndim < answers.ndim:
            self.found = np.full((self.found.size, answers.shape[1]), np.nan)
        self.found[nodes] = answers

    def _nodes(self, level: int, which: Bools) -> Ints:
        start, end = self._trie.level_starts[level : level + 2].tolist()
        found: Ints = np.flatnonzero(which[start:end]) + start
        return found


def _ancestors(trie: Trie, wanted: Bools) -> Bools:
    """Return which nodes some wanted node follows, however far."""
    found = np.zeros(trie.tokens.size, bool)
    for start, end in zip(trie.level_starts[-2:0:-1], trie.level_starts[:1:-1], strict=True):
        follows = wanted[start:end] | found[start:end]
        found[trie.parents[start:end][follows]] = True
    return found
