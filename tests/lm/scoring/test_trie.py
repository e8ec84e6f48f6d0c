from collections.abc import Sequence
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lm.scoring.reading import score_trie
from lm.scoring.trie import ROOT, Trie, build_tries

STRINGS = st.lists(st.lists(st.integers(0, 3), max_size=7), min_size=1, max_size=25)


@st.composite
def sessions(draw: st.DrawFn) -> list[list[int]]:
    """Prompts of which each begins with the one before, in up to three ways, with two answers."""
    found = []
    for way in range(draw(st.integers(1, 3))):
        told = [4, 5 + way]
        for _ in range(draw(st.integers(1, 4))):
            told = told + draw(st.lists(st.integers(2, 3), min_size=1, max_size=12))
            found += [[*told, 0], [*told, 1]]
            told = [*told, draw(st.integers(0, 1))]
    return found


SESSIONS = sessions()


class Reader:
    """A model whose state is the beginning itself; it counts what it is given."""

    def __init__(self):
        self.read, self.asked = [], []

    def begin(self):
        return [()]

    def extend(self, state, parents, tokens):
        found = [state[row] + (token,) for row, token in zip(parents, tokens, strict=True)]
        self.read += found
        return found

    def logprobs_nats(self, state, parents, tokens):
        asked = [state[row] + (token,) for row, token in zip(parents, tokens, strict=True)]
        self.asked += asked
        return np.array([score(beginning) for beginning in asked])


class ChainReader(Reader):
    """One that also reads along chains; it counts these calls."""

    def __init__(self):
        super().__init__()
        self.runs = 0

    def extend_along(self, state, parents, tokens):
        self.runs += 1
        levels = []
        for own in tokens:
            state = self.extend(state, parents, own)
            levels += state
            parents = range(len(own))
        return levels, state


def score(beginning: Sequence[int]) -> float:
    return float(sum((place + 1) * (token + 1) for place, token in enumerate(beginning)))


def beginnings(trie: Trie, strings: Sequence[Sequence[int]]) -> set[tuple[int, ...]]:
    return {
        tuple(strings[string][:end])
        for string in trie.strings
        for end in range(1, len(strings[string]) + 1)
    }


@given(STRINGS, st.integers(1, 60))
def test_a_trie_has_each_beginning_of_its_strings_once(strings, max_nodes):
    seen = []
    for trie in build_tries(strings, max_nodes):
        assert trie.tokens.size == len(beginnings(trie, strings))
        assert trie.level_starts[-1] == trie.tokens.size
        for string, nodes in trie.rows():
            seen.append(string)
            assert trie.tokens[nodes].tolist() == list(strings[string])
            assert trie.parents[nodes].tolist() == [ROOT, *nodes][: len(nodes)]
            assert trie.depths[nodes].tolist() == list(range(len(nodes)))
    assert sorted(seen) == list(range(len(strings)))


@given(STRINGS, st.integers(1, 60))
def test_no_trie_exceeds_its_size_unless_one_string_does(strings, max_nodes):
    for trie in build_tries(strings, max_nodes):
        distinct = {tuple(strings[string]) for string in trie.strings}
        assert trie.tokens.size <= max_nodes or len(distinct) == 1


@pytest.mark.parametrize("model", [Reader, ChainReader])
@given(strings=STRINGS | SESSIONS, max_nodes=st.integers(1, 200), data=st.data())
def test_every_token_after_its_context_is_scored_and_nothing_is_read_twice(
    model, strings, max_nodes, data
):
    context_lengths = [data.draw(st.integers(0, len(string))) for string in strings]
    for trie in build_tries(strings, max_nodes):
        reader = model()
        with patch("lm.scoring.reading._LEVELS_AT_LEAST", 4):
            found = score_trie(trie, reader, trie.scored_nodes(context_lengths))
        for string, nodes in trie.rows():
            for end in range(context_lengths[string], len(nodes)):
                assert found[nodes[end]] == score(strings[string][: end + 1])
        assert len(set(reader.read)) == len(reader.read)
        assert len(set(reader.asked)) == len(reader.asked)
        # What nothing follows need not be read.
        wanted = {asked[:-1] for asked in reader.asked} - {()}
        assert set(reader.read) == {w[:n] for w in wanted for n in range(1, len(w) + 1)}


def test_strings_that_share_beginnings_are_cut_with_one_beginning_met_again():
    strings = [[1, 1, token] for token in range(8)]
    sizes = [trie.tokens.size for trie in build_tries(strings, 6)]
    assert sizes == [6, 6]


def test_the_prompts_of_a_session_are_read_in_runs():
    told = [number % 7 for number in range(300)]
    strings = [[way, *told[:length], 9] for way in (7, 8) for length in range(20, 300, 20)]
    [trie] = build_tries(strings, 1000)
    reader = ChainReader()
    score_trie(trie, reader, trie.scored_nodes([len(string) - 1 for string in strings]))
    assert len(reader.read) == 2 * 281
    assert reader.runs == 1


def test_texts_that_share_their_first_token_alone_are_divided_into_smaller_tries():
    # 100 texts of five tokens, of which the first is shared: 401 nodes. The first 64 have 257.
    strings = [[0, *range(100 * n + 1, 100 * n + 5)] for n in range(100)]
    assert [trie.tokens.size for trie in build_tries(strings, 768, 768)] == [257, 145]
    assert [trie.tokens.size for trie in build_tries(strings, 768)] == [401]


def test_a_trie_that_has_enough_ends_before_a_string_that_goes_its_own_way():
    told = list(range(10, 110))
    strings = [[way, *told[:length], 9] for way in (7, 8, 9) for length in range(5, 100, 5)]
    apart = [trie.tokens.size for trie in build_tries(strings, 130, 60)]
    assert len(apart) == 3 and len(set(apart)) == 1
    assert sum(trie.tokens.size for trie in build_tries(strings, 130)) > sum(apart)


@pytest.mark.parametrize("strings", [[], [[]], [[], []]])
def test_no_tokens_make_no_nodes(strings):
    for trie in build_tries(strings, 10):
        assert trie.tokens.size == 0
        assert score_trie(trie, Reader(), trie.scored_nodes([0] * len(strings))).size == 0


def test_large_numbers_sort_as_numbers():
    strings = [[2**31], [255, 1], [256], [255]]
    [trie] = build_tries(strings, 100)
    assert trie.strings.tolist() == [3, 1, 2, 0]
