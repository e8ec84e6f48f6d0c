"""What scoring computes, held by numbers that follow from its formulas by hand."""

import numpy as np
import pytest
import torch
from torch import nn

from lm.scoring import kernels, packed_linear, tree_packing
from lm.scoring.kernels import LogitBounds, LogNormaliser, target_logits
from lm.scoring.reading import score_trie
from lm.scoring.trie import _find_border, build_tries

BITS = np.log2(np.e)
# Half a step of bfloat16 above 1 is lost.
LOST = 2.0**-9


class Steps:
    """A model that only notes how many levels it reads at a time."""

    def __init__(self) -> None:
        self.runs: list[int] = []

    def begin(self):
        return 0

    def extend(self, state, parents, tokens):
        return state

    def extend_along(self, state, parents, tokens):
        self.runs.append(len(tokens))
        return state, state

    def logprobs_nats(self, state, parents, tokens):
        return np.zeros(len(tokens))


@pytest.mark.parametrize(
    ("weight", "bias", "row", "expected"),
    [
        # What float32 loses in four additions of n + 2 products, and six roundings of a bias.
        ([3.0, 4.0], 0.0, [2.0, 0.0], 4 * (2 + 2) * 2.0**-24 * 5 * 2),
        ([3.0, 4.0], -8.0, [0.0, 0.0], 6 * 2.0**-24 * 8),
        ([3.0, 4.0], 0.0, [0.0, 1 + LOST], 5 * (LOST + 16 * 2.0**-24 * (1 + LOST))),
        ([0.0, 1 + LOST], 0.0, [8.0, 0.0], LOST * 8 + (1 + LOST) * 16 * 2.0**-24 * 8),
        ([0.0, 1 + LOST], 0.0, [0.0, 1 + LOST],
         LOST * (1 + 2 * LOST) + (1 + LOST) * (LOST + 16 * 2.0**-24 * (1 + LOST))),
    ],
)  # fmt: skip
def test_the_bound_of_a_logit_is_its_formula(weight, bias, row, expected):
    bounds = LogitBounds([torch.tensor([weight])], [torch.tensor([bias])])
    [[found]] = bounds.of_logits(torch.tensor([row])).tolist()
    assert found == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("shift", [0.0, 500.0])
def test_one_chunk_is_off_by_its_logits_bound_and_the_rounding_of_sums(shift: float):
    generator = torch.Generator().manual_seed(1)
    weight, rows = (torch.randn(n, 16, generator=generator) for n in (9, 4))
    bias = torch.full((9,), shift)
    _, found = LogNormaliser(weight, bias, "bfloat16").with_bounds(rows)
    logits = LogitBounds([weight], [bias * BITS]).of_logits(rows * BITS)[0].double() / BITS
    assert found.tolist() == pytest.approx((logits + 2e-5).tolist(), rel=1e-6)


def test_a_small_sum_needs_no_second_pass(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(
        LogNormaliser, "_normalise_precisely", lambda *_: pytest.fail("a second pass")
    )
    found = LogNormaliser(torch.zeros(1, 2), torch.tensor([-40.0]))(torch.ones(1, 2))
    assert found.item() == pytest.approx(-40, abs=1e-4)


@pytest.mark.parametrize("bias", [None, torch.tensor([10.0, 20.0, 30.0])])
def test_logits_are_computed_a_part_at_a_time(bias, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(kernels, "ROWS_AT_A_TIME", 2)
    weight = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    hidden = torch.tensor([[1.0, 10.0], [100.0, 1.0]])
    rows, words = np.array([0, 1, 1, 0, 1]), np.array([0, 0, 2, 1, 1])
    expected = np.array([21.0, 102, 506, 43, 304]) + (0 if bias is None else bias.numpy()[words])
    assert target_logits(weight, bias, hidden, rows, words).tolist() == expected.tolist()


def test_no_log_probability_is_above_zero():
    generator = torch.Generator().manual_seed(1)
    weight = torch.randn(1, 64, generator=generator)

    def body(ids, depths, mask):
        return torch.randn(1, ids.shape[1], 64, generator=generator)

    # Of one word, which is certain: what is left are roundings to both sides.
    strings = [[0] * length for length in range(2, 60)]
    found = tree_packing.TreePacking(body, weight, None).logprobs_nats(strings, [1] * 58)
    scores = np.concatenate([own[1:] for own in found])
    assert scores.min() < 0 and scores.max() == 0


def test_a_long_chain_is_read_as_one_text_without_a_mask():
    weight, asked = torch.tensor([[1.0], [-1.0]]), []

    def body(ids, depths, mask):
        asked.append((ids.shape, depths[0].tolist(), mask.tolist()))
        return ids[..., None].float()

    text = [0, 1] * 400
    [found] = tree_packing.TreePacking(body, weight, None).logprobs_nats([text], [1])
    assert asked == [((1, 799), list(range(799)), [[1] * 799])]
    # After a 0 both words are as probable; after a 1, the first one's logit is 2 above.
    after_one = -np.log1p(np.exp(-2))
    assert found[1:].tolist() == pytest.approx([-np.log(2), after_one] * 399 + [-np.log(2)])


@pytest.mark.parametrize(
    ("added", "expected"), [(0, True), (1e-6, True), (0.5, False), (float("nan"), False)]
)
def test_a_packed_product_that_is_off_is_not_used(added, expected, monkeypatch):
    def plain(x, packed, bias):
        return nn.functional.linear(x, packed, bias) + added

    monkeypatch.setattr(packed_linear, "_pack", lambda weight, rows: weight)
    monkeypatch.setattr(packed_linear, "_multiply", plain)
    assert packed_linear.packing_works.__wrapped__() is expected


def test_half_a_gigabyte_of_layers_is_packed_and_no_more(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(packed_linear, "packs", lambda weight: True)
    monkeypatch.setattr(packed_linear, "PackedLinear", lambda *_: lambda x: "packed")
    whole = nn.Linear(2**14, 2**13, bias=False, device="meta")  # without memory
    with packed_linear.PackedLayers(whole, 3).in_use():
        assert whole(0) == "packed"
    more = nn.ModuleList([whole, nn.Linear(1, 1, bias=False, device="meta")])
    with packed_linear.PackedLayers(more, 3).in_use():
        assert "forward" not in vars(whole)


@pytest.mark.parametrize(
    ("contexts", "scored"), [([2, 2], [2, 7]), ([1, 2], [1, 2, 7]), ([3, 0], [5, 6, 7])]
)
def test_what_stands_after_a_context_is_scored(contexts: list[int], scored: list[int]):
    [trie] = build_tries([[0, 1, 2], [5, 6, 7]], 9)
    assert sorted(trie.tokens[trie.scored_nodes(contexts)].tolist()) == scored


class Twofold(Steps):
    """A model that says two numbers of each token."""

    def logprobs_nats(self, state, parents, tokens):
        return np.stack([tokens, -tokens], axis=1)


def test_a_model_may_say_several_numbers_of_a_token():
    [trie] = build_tries([[3, 1, 2], [3, 4]], 9)
    found = score_trie(trie, Twofold(), trie.scored_nodes([1, 1]))
    assert found[1:].tolist() == [[1, -1], [4, -4], [2, -2]]
    assert np.isnan(found[0]).tolist() == [True, True]


@pytest.mark.parametrize(("levels", "runs"), [(128, []), (129, [128]), (17_000, [2**14, 615])])
def test_a_chain_is_read_in_runs_of_128_levels_and_16384_tokens(levels: int, runs: list[int]):
    [trie] = build_tries([list(range(levels))], 20_000)
    model = Steps()
    score_trie(trie, model, trie.scored_nodes([levels - 1]))
    assert model.runs == runs


def test_two_chains_side_by_side_share_the_tokens_of_a_run():
    [trie] = build_tries([[way, *range(9_000)] for way in (0, 1)], 20_000)
    model = Steps()
    score_trie(trie, model, trie.scored_nodes([9_000, 9_000]))
    assert model.runs == [2**13, 9_000 - 2**13]


@pytest.mark.parametrize(
    ("n_new", "lengths", "enough", "expected"),
    [
        # The first string counts in full; the second has four of its own and shares little.
        ([9, 4, 9], [9, 5, 10], 9, 1),
        ([9, 4, 9], [9, 5, 10], 10, 2),
        ([9, 3, 9], [9, 4, 10], 9, 2),
        # Half of the longest before is too much to read again.
        ([8, 4, 1], [8, 8, 9], 8, 3),
        ([8, 4, 1], [8, 7, 8], 8, 1),
        # What the first shared with one before it is read here as well.
        ([5, 4, 1], [9, 5, 9], 9, 1),
    ],
)
def test_where_strings_may_be_cut(n_new, lengths, enough, expected):
    found = _find_border(np.array(n_new), np.array(lengths), 0, 3, enough)
    assert found == expected
    ahead = _find_border(np.array([1, 1, *n_new]), np.array([1, 1, *lengths]), 2, 5, enough)
    assert ahead == 2 + expected


def test_of_two_strings_the_first_may_be_enough():
    strings = [list(range(5)), list(range(10, 20))]
    for enough, sizes in ((5, [5, 10]), (6, [15])):
        assert [trie.tokens.size for trie in build_tries(strings, 30, enough)] == sizes


@pytest.mark.parametrize(("precision", "switch"), [("bfloat16", "bf16"), ("float32", "ieee")])
def test_rounding_is_allowed_within_a_block_alone(precision: str, switch: str):
    before = torch.backends.mkldnn.matmul.fp32_precision
    with kernels.rounded_products(precision):
        assert torch.backends.mkldnn.matmul.fp32_precision == switch
    assert torch.backends.mkldnn.matmul.fp32_precision == before


@pytest.mark.parametrize(("n", "expected"), [(768, False), (769, True)])
def test_a_long_chain_has_more_nodes_than_are_read_at_a_time(n: int, expected: bool):
    [trie] = build_tries([list(range(n))], n)
    assert tree_packing.is_long_chain(trie) is expected
    [branched] = build_tries([list(range(n)), [0, 9, 9], [5, 6]], n + 9)
    assert not tree_packing.is_long_chain(branched)


@pytest.mark.parametrize(
    ("lengths", "most"), [([], 768), ([5, 614], 768), ([615], 768), ([616, 2], 770), ([4000], 5000)]
)
def test_a_trie_has_a_quarter_more_than_its_longest_text(lengths, most, monkeypatch):
    monkeypatch.setattr(tree_packing, "build_tries", lambda *given: given[1:])
    assert tree_packing.build_readable_tries([[0] * length for length in lengths]) == (most, 768)
