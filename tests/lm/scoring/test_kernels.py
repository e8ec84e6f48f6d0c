import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lm.scoring import packed_linear
from lm.scoring.kernels import WORDS_AT_A_TIME, LogNormaliser


def drawn(words: int, scale: float = 1.0) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    hidden = torch.randn(7, 16, generator=generator)
    weight, bias = torch.randn(words, 16, generator=generator) * scale, torch.randn(words) * 0
    return hidden, weight, bias + scale


@pytest.mark.parametrize("words", [1, 10, WORDS_AT_A_TIME + 3])
def test_the_normaliser_is_the_logarithm_of_the_sum(words: int):
    hidden, weight, bias = drawn(words)
    expected = (hidden.double() @ weight.double().T + bias).logsumexp(1)
    assert torch.allclose(LogNormaliser(weight, bias)(hidden), expected, atol=1e-5)


@pytest.mark.parametrize("shift", [-500.0, 500.0])
def test_logits_too_large_or_small_for_exp_are_summed_with_care(shift: float):
    hidden, weight, bias = drawn(WORDS_AT_A_TIME + 3)
    bias = bias + shift
    expected = (hidden.double() @ weight.double().T + bias).logsumexp(1)
    assert torch.allclose(LogNormaliser(weight, bias)(hidden), expected, atol=1e-3)


def test_no_rows_have_no_normalisers():
    _, weight, _ = drawn(10)
    assert LogNormaliser(weight, None)(torch.empty(0, 16)).shape == (0,)


def test_the_public_product_gives_the_same(monkeypatch: pytest.MonkeyPatch):
    hidden, weight, bias = drawn(50)
    packed = LogNormaliser(weight, bias)(hidden)
    monkeypatch.setattr(packed_linear, "packing_works", lambda: False)
    assert torch.allclose(LogNormaliser(weight, bias)(hidden), packed, atol=1e-5)


@settings(deadline=None, max_examples=40)
@given(
    seed=st.integers(0, 1000),
    scales=st.tuples(st.floats(0.01, 4), st.floats(0.01, 4)),
    words=st.sampled_from([3, WORDS_AT_A_TIME + 3]),
)
def test_no_rounded_normaliser_is_further_off_than_its_bound(seed: int, scales, words: int):
    generator = torch.Generator().manual_seed(seed)
    hidden, weight, bias = (
        torch.randn(shape, generator=generator) * scale
        for shape, scale in zip([(9, 16), (words, 16), (words,)], [*scales, 1.0], strict=True)
    )
    exact, none = LogNormaliser(weight, bias).with_bounds(hidden)
    rounded, bounds = LogNormaliser(weight, bias, "bfloat16").with_bounds(hidden)
    assert not none.any()
    assert ((exact - rounded).abs() <= bounds).all()
    # A bound of everything would be sound and useless.
    assert (bounds < 0.02 * (1 + scales[0] * scales[1] * 16)).all()


def test_the_switch_of_precision_is_put_back():
    before = torch.backends.mkldnn.matmul.fp32_precision
    hidden, weight, bias = drawn(50)
    LogNormaliser(weight, bias, "bfloat16")(hidden)
    assert torch.backends.mkldnn.matmul.fp32_precision == before
