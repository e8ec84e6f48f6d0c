"""What takes the steps of a training: gradient descent, or Adam with what it remembers."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from torch import Tensor, nn
from torch.optim import SGD, Adam, Optimizer

from lm.training.settings import TrainingSettings


def make_optimizer(
    settings: TrainingSettings,
    module: nn.Module,
    lr: float,
    remembered: Mapping[str, Tensor],
) -> Optimizer:
    """Return what takes the steps.

    Args:
        settings: They say which.
        module: What is trained.
        lr: The learning rate now.
        remembered: What ``remembered_by`` returned when the training was interrupted, or nothing.
    """
    if settings.optimizer == "sgd":
        return SGD(module.parameters(), lr=lr)
    made = Adam(module.parameters(), lr=lr)
    state = defaultdict[int, dict[str, Any]](dict)
    for name, tensor in remembered.items():
        number, _, part = name.partition(".")
        state[int(number)][part] = tensor
    if state:
        made.load_state_dict({**made.state_dict(), "state": dict(state)})
    return made


def remembered_by(optimizer: Optimizer) -> dict[str, Tensor]:
    """Return what later steps depend on besides the weights: means of gradients, by number."""
    return {
        f"{number}.{part}": tensor
        for number, parts in optimizer.state_dict()["state"].items()
        for part, tensor in parts.items()
        if isinstance(tensor, Tensor)
    }
