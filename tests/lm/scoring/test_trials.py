"""How texts are tried and times are taken, held by texts and clocks made by hand."""

import os
from collections.abc import Sequence

import numpy as np
import pytest
import torch

from lm.scoring import kernels, tree_packing
from lm.scoring.tree_packing import WORST_NATS, CheckedPacking
from lm.scoring.trie import Trie, build_tries


class Packing:
    """A packed way of which every token has the score 0, and that notes what it is given."""

    def __init__(self) -> None:
        self.given: list[int] = []

    def evaluate(self, trie: Trie, context_lengths: Sequence[int]):
        self.given.append(int(trie.tokens.size))
        return [(string, np.zeros(nodes.size)) for string, nodes in trie.rows()]


def checked(off: float = 0.0) -> tuple[CheckedPacking, list[list[int]]]:
    """Return a checked packing that is so far off, and the texts that it reads plainly."""
    read: list[list[int]] = []

    def plain(strings):
        read.extend(map(list, strings))
        return [np.full(len(string) - 1, off) for string in strings]

    return CheckedPacking(Packing(), plain), read


@pytest.mark.parametrize(
    ("sizes", "n_tokens", "expected"),
    [
        ([3] * 10, 9, [0, 3, 6]),
        ([3] * 10, 27, [0, 1, 2, 3, 4, 5, 6, 7, 8]),
        ([3] * 10, 30, list(range(10))),
        ([3] * 10, 0, [0]),
        ([1] * 8, 4, [0, 2, 4, 6]),
        ([0] * 8, 2, [0, 4]),
        ([], 5, []),
    ],
)
def test_texts_of_a_trial_are_spread_evenly(sizes, n_tokens, expected):
    packed = [(place, np.zeros(size)) for place, size in enumerate(sizes)]
    assert [place for place, _ in tree_packing._sample_evenly(packed, n_tokens)] == expected


def test_a_trial_reads_the_longest_text_and_twice_the_tokens_of_the_trie():
    told = list(range(9))
    strings = [[*told, 20 + end] for end in range(8)] + [[*told, 40, 41, 42]]
    one, read = checked()
    one._try(strings)
    # 9 + 8 + 3 nodes, of texts of ten tokens and a little: four texts of nine.
    assert read == [strings[8], *(strings[place] for place in (0, 2, 4, 6))]
    assert one.fault == ""


def test_of_a_long_chain_half_as_many_tokens_are_read():
    strings = [list(range(length)) for length in range(1, 901)]
    one, read = checked()
    one._try(strings)
    # 900 tokens, of texts of 450.5 on average: two texts.
    assert [len(string) for string in read] == [1, 451]


@pytest.mark.parametrize(
    ("off", "fault"),
    [(0.0, ""), (WORST_NATS, ""), (-0.01, "packed texts differ from single ones by 0.01 nats")],
)
def test_what_differs_by_more_than_a_rounding_is_a_fault(off: float, fault: str):
    one, _ = checked(off)
    one._try([[0, 1, 2], [0, 3]])
    assert one.fault == fault
    assert pytest.approx(1e-4) == WORST_NATS


def test_the_largest_and_the_deepest_trie_are_tried_until_larger_ones_come():
    one, _ = checked()
    [wide] = build_tries([[0, end] for end in range(6)], 99)
    [deep] = build_tries([list(range(5))], 99)
    strings = [[0] * 9] * 6
    packing = one._packing
    for tries, given in (
        ([wide], [7]), ([wide, deep], [7, 5]), ([deep], []), ([deep, wide], []), ([wide], []),
    ):  # fmt: skip
        packing.given.clear()
        one._plain = lambda texts: [np.zeros(0)] * len(texts)
        one._describe_difference = lambda own, _: (
            packing.given.extend(t.tokens.size for t in own) or ""
        )
        one._try_some(tries, strings, chains=False)
        assert packing.given == given


def test_of_tries_that_are_no_chains_the_largest_is_tried_too(monkeypatch: pytest.MonkeyPatch):
    one, _ = checked()
    [wide] = build_tries([[0, end] for end in range(6)], 99)
    [deep] = build_tries([list(range(5))], 99)
    monkeypatch.setattr(tree_packing, "build_readable_tries", lambda strings: iter([wide, deep]))
    one._try([[0, 1], [0, 2], [0, 3], [0, 4], [0, 5], [0, 6]])
    assert one._packing.given == [7, 5]


def test_a_speed_is_the_time_of_float32_over_the_other(monkeypatch: pytest.MonkeyPatch):
    seconds = iter((6.0, 2.0, 3.0))
    monkeypatch.setattr(kernels, "_time_shortest_run", lambda run: next(seconds))
    found = kernels.measure_kernel(torch.randn(20, 8))
    assert (found.speedup, found.explicit_speedup) == (3.0, 2.0)


@pytest.mark.parametrize("rounds", [True, False])
def test_a_kernel_rounds_where_its_products_differ(rounds: bool, monkeypatch: pytest.MonkeyPatch):
    class Product:
        def __init__(self, *_: object) -> None:
            allowed = torch.backends.mkldnn.matmul.fp32_precision == "bf16"
            self.factor = 2 if rounds and allowed else 1

        def __call__(self, rows: torch.Tensor) -> torch.Tensor:
            return rows * self.factor

    monkeypatch.setattr(kernels, "PackedLinear", Product)
    assert kernels.measure_kernel(torch.randn(20, 8)).rounds is rounds


def test_a_time_is_the_least_of_five_after_a_first(monkeypatch: pytest.MonkeyPatch):
    ends = np.cumsum([0, 1, 0, 30, 0, 50, 0, 40, 0, 70, 0, 90]) / 10
    clock, runs = iter(ends.tolist()), []
    monkeypatch.setattr(kernels.time, "perf_counter", lambda: next(clock))
    assert kernels._time_shortest_run(lambda: runs.append(1)) == pytest.approx(3.0)
    assert len(runs) == 6
    assert next(clock, None) is None


def test_the_kernel_that_ran_last_is_named_and_the_output_is_put_back(capfd):
    line = "onednn_verbose,v1,primitive,exec,cpu,matmul,{},undef,src\n"
    for names in (["one"], ["brg:avx2", "brg:avx512"]):
        text = "".join(map(line.format, names)).encode()
        assert kernels._kernel_name(lambda own=text: os.write(1, own)) == names[-1]
    assert kernels._kernel_name(lambda: None) == "a kernel without a name"
    os.write(1, b"after")
    assert capfd.readouterr() == ("after", "")


def shared(n: int) -> list[list[int]]:
    return [[*range(9), 20 + end] for end in range(n)]


def unrelated(n: int) -> list[list[int]]:
    return [[100 * text + place for place in range(10)] for text in range(n)]


@pytest.mark.parametrize(
    ("strings", "pays"),
    [
        # 30 texts of 10 tokens; packed and tested 9 + 30 of them, and 39 plainly.
        (shared(30), True),
        # 60 nodes packed twice and read plainly once, against 60 tokens.
        (unrelated(6), False),
        # Tests of one trie of at most 768 nodes, against 20,000 tokens that share nothing.
        (unrelated(2000), True),
    ],
)
def test_a_scorer_chooses_the_cheaper_way(strings, pays):
    assert checked()[0].pays(strings) is pays


def test_after_a_test_a_small_set_chooses_the_cheaper_way_without_it():
    one, _ = checked()
    one._try(unrelated(6))
    assert one.pays(unrelated(6))
