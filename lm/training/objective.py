"""The loss that training minimises: of predicting words, and optionally of predicting supertags.

The plain computation stores the scores of 50,000 words at 35 x 128 positions, and several more
tensors of that shape, 900 MB each. This module turns a chunk's scores into its share of the
gradients immediately, while they are in the processor's cache, and then discards them.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import SGD, Adam, Optimizer

from lm.rnn.network import RecurrentNetwork, State
from lm.scoring.packed_linear import PackedLinear
from lm.training.batches import Window
from lm.training.settings import TrainingSettings

ROWS_AT_A_TIME = 512
_SMALLEST_SUM = 1e-20


class _LinearCrossEntropy(torch.autograd.Function):
    """Mean cross-entropy of softmax(hidden @ weight.T + bias), with its gradients.

    With p the softmax of a row and y its target, the gradient by the scores is (p - [y]) / rows;
    its products with the weight and with the hidden states are the required gradients.
    """

    @staticmethod
    def forward(ctx: Any, hidden: Tensor, weight: Tensor, bias: Tensor, targets: Tensor) -> Tensor:  # noqa: ANN401
        dtype = hidden.dtype
        used = weight.to(dtype)
        linear = PackedLinear(used, bias.to(dtype), ROWS_AT_A_TIME)
        grad_hidden = torch.empty_like(hidden)
        grad_weight = torch.zeros_like(weight)
        grad_bias = torch.zeros_like(bias)
        total = torch.zeros((), device=hidden.device)
        start = 0
        for rows, chunk_targets in _chunks(hidden, targets):
            places = chunk_targets[:, None]
            share, losses = _softmax(linear, rows, places)
            total += losses.sum()
            share.scatter_add_(1, places, share.new_full(places.shape, -1.0))
            grad_bias += share.sum(0)
            share = share.to(dtype)
            torch.mm(share, used, out=grad_hidden[start : start + len(rows)])
            if dtype == grad_weight.dtype:
                grad_weight.addmm_(share.T, rows)
            else:
                grad_weight += share.T @ rows
            start += len(rows)
        ctx.save_for_backward(grad_hidden, grad_weight, grad_bias)
        ctx.rows = len(targets)
        return total / len(targets)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        scale = grad / ctx.rows
        # No other code uses these gradients, so they may be scaled in place.
        return (*(part.mul_(scale) for part in ctx.saved_tensors), None)


class Objective(nn.Module):
    """A network and its losses, one per task: words first, then supertags.

    They form one module, so that several processes can share the work of both.
    """

    def __init__(self, network: RecurrentNetwork) -> None:
        super().__init__()
        self.network = network

    def forward(
        self, windows: Sequence[Window], states: Sequence[State]
    ) -> tuple[Tensor, list[State]]:
        """Return each task's mean loss in nats, shape ``(tasks,)``, and the new states."""
        losses, new_states = [], []
        for task, (window, state) in enumerate(zip(windows, states, strict=True)):
            hidden, state = self.network(window.inputs, state)
            rows, targets = hidden.flatten(0, 1), window.targets.flatten()
            losses.append(mean_loss(self._head(task), rows, targets))
            new_states.append(detach_state(state))
        return torch.stack(losses), new_states

    def _head(self, task: int) -> nn.Module:
        head = self.network.tagger if task else self.network.decoder
        assert head is not None
        return head

    @torch.no_grad()
    def token_losses(self, task: int, window: Window, state: State) -> tuple[Tensor, State]:
        """Return each target's loss in nats, shape ``(time, batch)``, and the new state."""
        hidden, state = self.network(window.inputs, state)
        losses = token_losses(self._head(task), hidden.flatten(0, 1), window.targets.flatten())
        return losses.reshape(window.targets.shape), state


def detach_state(state: State) -> State:
    """Return the state detached from its computation graph."""
    return tuple(part.detach() for part in state)


def mean_loss(decoder: nn.Module, hidden: Tensor, targets: Tensor) -> Tensor:
    """Return the mean negative log-probability of the targets, in nats; differentiable.

    Args:
        decoder: Computes words' scores from hidden states.
        hidden: Shape ``(rows, hidden)``.
        targets: int64, shape ``(rows,)``.
    """
    if not isinstance(decoder, nn.Linear):
        return decoder(hidden, targets).loss  # type: ignore[no-any-return]
    arguments = (hidden, decoder.weight, decoder.bias, targets)
    return _LinearCrossEntropy.apply(*arguments)  # type: ignore[no-any-return, no-untyped-call]


@torch.no_grad()
def token_losses(decoder: nn.Module, hidden: Tensor, targets: Tensor) -> Tensor:
    """Return each target's negative log-probability in nats, shape ``(rows,)``."""
    if not isinstance(decoder, nn.Linear):
        return -decoder(hidden, targets).output  # type: ignore[no-any-return]
    linear = PackedLinear(decoder.weight, decoder.bias, ROWS_AT_A_TIME)
    losses = []
    for rows, chunk_targets in _chunks(hidden, targets):
        scores = linear(rows).float()
        losses.append(scores.logsumexp(1) - scores.gather(1, chunk_targets[:, None]).squeeze(1))
    return torch.cat(losses)


def _chunks(hidden: Tensor, targets: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
    parts = (torch.split(tensor, ROWS_AT_A_TIME) for tensor in (hidden, targets))
    return zip(*parts, strict=True)


def _softmax(linear: PackedLinear, rows: Tensor, places: Tensor) -> tuple[Tensor, Tensor]:
    """Return the rows' softmax, shape ``(rows, words)``, and their losses, shape ``(rows, 1)``."""
    scores = linear(rows).float()
    target_scores = scores.gather(1, places)
    if rows.device.type == "cpu":
        # No maximum is subtracted before exp, which saves two passes over scores larger than any
        # cache. Scores beyond about 80 show in the sums, and are then recomputed safely.
        sums = scores.exp_().sum(1, keepdim=True)
        if bool(((sums > _SMALLEST_SUM) & sums.isfinite()).all()):
            return scores.div_(sums), sums.log() - target_scores
        scores = linear(rows).float()
    normaliser = scores.logsumexp(1, keepdim=True)
    return scores.sub_(normaliser).exp_(), normaliser - target_scores


def make_optimizer(
    settings: TrainingSettings,
    module: nn.Module,
    lr: float,
    remembered: Mapping[str, Tensor],
) -> Optimizer:
    """Return the optimizer.

    Args:
        settings: The settings, which name the optimizer.
        module: The trained module.
        lr: The current learning rate.
        remembered: The result of ``remembered_by`` in a checkpoint, or empty.
    """
    if settings.optimizer == "sgd":
        return SGD(module.parameters(), lr=lr)
    adam = Adam(module.parameters(), lr=lr)
    state = defaultdict[int, dict[str, Any]](dict)
    for name, tensor in remembered.items():
        number, _, part = name.partition(".")
        state[int(number)][part] = tensor
    if state:
        adam.load_state_dict({**adam.state_dict(), "state": dict(state)})
    return adam


def get_optimizer_state(optimizer: Optimizer) -> dict[str, Tensor]:
    """Return the optimizer's state that later steps depend on: means of gradients, by number."""
    return {
        f"{number}.{part}": tensor
        for number, parts in optimizer.state_dict()["state"].items()
        for part, tensor in parts.items()
        if isinstance(tensor, Tensor)
    }
