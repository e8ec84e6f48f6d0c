import pytest
import torch
from torch import nn

from lm.scoring.packed_linear import PackedLinear
from lm.training import objective
from lm.training.objective import mean_loss, token_losses


@pytest.fixture
def case(monkeypatch: pytest.MonkeyPatch) -> tuple[nn.Linear, torch.Tensor, torch.Tensor]:
    monkeypatch.setattr(objective, "ROWS_AT_A_TIME", 7)
    torch.manual_seed(2)
    hidden = torch.randn(25, 8, requires_grad=True)
    return nn.Linear(8, 40), hidden, torch.randint(40, (25,))


def gradients(loss: torch.Tensor, *parts: torch.Tensor) -> list[torch.Tensor]:
    return list(torch.autograd.grad(3 * loss, parts))


@pytest.mark.parametrize("shift", [0.0, 200.0, -200.0])
def test_loss_and_gradients_are_those_of_the_plain_way(
    case: tuple[nn.Linear, torch.Tensor, torch.Tensor], shift: float
):
    decoder, hidden, targets = case
    with torch.no_grad():
        decoder.bias.add_(shift)
    parts = (hidden, decoder.weight, decoder.bias)
    ours = mean_loss(decoder, hidden, targets)
    plain = nn.functional.cross_entropy(decoder(hidden), targets)
    assert ours.item() == pytest.approx(plain.item(), abs=1e-5)
    for one, other in zip(gradients(ours, *parts), gradients(plain, *parts), strict=True):
        assert torch.allclose(one, other, atol=1e-5)


def test_each_tokens_loss_is_its_cross_entropy(
    case: tuple[nn.Linear, torch.Tensor, torch.Tensor],
):
    decoder, hidden, targets = case
    expected = nn.functional.cross_entropy(decoder(hidden), targets, reduction="none")
    assert torch.allclose(token_losses(decoder, hidden, targets), expected, atol=1e-6)


def test_the_adaptive_softmax_has_the_same_losses_in_both_ways():
    torch.manual_seed(2)
    decoder = nn.AdaptiveLogSoftmaxWithLoss(16, 2_100, [2_000])
    hidden, targets = torch.randn(30, 16), torch.randint(2_100, (30,))
    mean = token_losses(decoder, hidden, targets).mean()
    assert mean_loss(decoder, hidden, targets).item() == pytest.approx(mean.item(), abs=1e-5)


def test_a_packed_product_is_the_plain_product():
    torch.manual_seed(2)
    x, weight, bias = torch.randn(33, 20), torch.randn(50, 20), torch.randn(50)
    product = PackedLinear(weight, bias, 33)
    assert torch.allclose(product(x), nn.functional.linear(x, weight, bias), atol=1e-5)
    assert torch.allclose(product(x[:1]), nn.functional.linear(x[:1], weight, bias), atol=1e-5)
