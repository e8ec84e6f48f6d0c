"""Layers run by packed products against the same layers run plainly."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn
from transformers.pytorch_utils import Conv1D

from lm.huggingface.load import load_hf
from lm.huggingface.scorer import HfScorer
from lm.scoring import packed_linear
from lm.scoring.packed_linear import PackedLayers
from tests.lm.toy_models import WORDS, tiny_gpt2, word_tokenizer

REQUESTS = [("", "the cat sleeps ."), ("", "the cats sleep ."), ("a cat", "sees .")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("gpt2")
    tiny_gpt2(len(WORDS)).save_pretrained(place)
    word_tokenizer(masked=False).save_pretrained(place)
    return place


@pytest.fixture
def linear() -> nn.Linear:
    torch.manual_seed(1)
    return nn.Linear(6, 4)


def products_of(scorer: HfScorer, monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, ...]]:
    """Return the shapes of what the packed products are given while requests are scored."""
    given: list[tuple[int, ...]] = []
    multiply = packed_linear._multiply

    def noted(x: torch.Tensor, *weights: torch.Tensor) -> torch.Tensor:
        given.append(tuple(x.shape))
        return multiply(x, *weights)

    # The first time, packing is tried on the texts, which takes a pass of its own.
    scorer.score(REQUESTS)
    monkeypatch.setattr(packed_linear, "_multiply", noted)
    scorer.score(REQUESTS)
    return given


needs_packing = pytest.mark.skipif(
    not packed_linear.packing_works(), reason="oneDNN's packed product is not there"
)


@needs_packing
def test_every_linear_layer_of_a_body_is_packed(folder: Path, monkeypatch: pytest.MonkeyPatch):
    scorer = load_hf(str(folder))
    convolutions = [one for one in scorer.model.modules() if isinstance(one, Conv1D)]
    given = products_of(scorer, monkeypatch)
    # The body reads (1, positions, hidden), the softmax's denominator (rows, hidden).
    assert sum(len(shape) == 3 for shape in given) == len(convolutions) == 8


def test_packed_layers_give_the_scores_of_plain_ones(folder: Path, monkeypatch: pytest.MonkeyPatch):
    packed = load_hf(str(folder)).score(REQUESTS)
    monkeypatch.setattr(packed_linear, "packing_works", lambda: False)
    for one, other in zip(packed, load_hf(str(folder)).score(REQUESTS), strict=True):
        assert np.abs(one.logprobs_nats - other.logprobs_nats).max() <= 1e-5


def test_scoring_leaves_the_model_as_it_was(folder: Path):
    scorer = load_hf(str(folder))
    model = scorer.model
    assert model.get_output_embeddings().weight is model.get_input_embeddings().weight
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    ids = torch.tensor([[8, 0, 1]])
    with torch.inference_mode():
        plain = model(input_ids=ids).logits
    scorer.score(REQUESTS)
    after = model.state_dict()
    assert all(torch.equal(tensor, after[name]) for name, tensor in before.items())
    assert not any("forward" in vars(module) for module in model.modules())
    assert torch.equal(model(input_ids=ids).logits, plain)
    model(input_ids=ids).logits.sum().backward()
    assert all(weight.grad is not None for weight in model.parameters())


@needs_packing
def test_a_failure_puts_the_layers_back(linear: nn.Linear):
    packed = PackedLayers(linear, 3)
    with pytest.raises(RuntimeError), packed.in_use():
        assert "forward" in vars(linear)
        linear(torch.ones(3, 5))
    assert "forward" not in vars(linear)


@needs_packing
def test_later_weights_are_seen_after_the_block_only(linear: nn.Linear):
    packed, x = PackedLayers(linear, 3), torch.ones(2, 3, 6)
    with torch.inference_mode():
        before = linear(x)
        with packed.in_use():
            linear(x)
        linear.weight.mul_(2)
        with packed.in_use():
            assert torch.allclose(linear(x), before, atol=1e-6)
        assert torch.allclose(linear(x), before * 2 - linear.bias, atol=1e-6)


def test_blocks_within_blocks_give_a_layer_in_two_places_back(linear: nn.Linear):
    twice, x = PackedLayers(nn.ModuleList([linear, linear]), 3), torch.ones(3, 6)
    with torch.inference_mode():
        plain = linear(x)
        with twice.in_use(), twice.in_use():
            assert torch.allclose(linear(x), plain, atol=1e-6)
        assert torch.equal(linear(x), plain)


def test_a_forward_that_somebody_put_there_stays(linear: nn.Linear):
    linear.forward = lambda x: x + 1
    with PackedLayers(linear, 3).in_use():
        assert torch.equal(linear(torch.zeros(2)), torch.ones(2))
    assert "forward" in vars(linear)


def test_layers_beyond_the_limit_of_memory_stay_plain(
    linear: nn.Linear, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(packed_linear, "MOST_BYTES", linear.weight.nbytes - 1)
    with PackedLayers(linear, 3).in_use():
        assert "forward" not in vars(linear)


def test_a_class_derived_from_a_linear_layer_stays_plain():
    class Doubled(nn.Linear):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return 2 * super().forward(x)

    doubled, x = Doubled(6, 4), torch.ones(3, 6)
    plain = doubled(x)
    with PackedLayers(doubled, 3).in_use():
        assert torch.equal(doubled(x), plain)


def test_weights_of_another_precision_stay_plain(linear: nn.Linear):
    with PackedLayers(linear.double(), 3).in_use():
        assert linear(torch.ones(6).double()).dtype == torch.float64
