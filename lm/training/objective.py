"""What training minimises: the loss of predicting words, and of telling supertags besides."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from lm.corpora.batches import Window
from lm.rnn.network import RecurrentNetwork, State
from lm.rnn.softmax import mean_loss, token_losses


class Objective(nn.Module):
    """A network and its losses, one per task: words first, then supertags.

    They are one module so that several processes can share the work of both.
    """

    def __init__(self, network: RecurrentNetwork) -> None:
        super().__init__()
        self.network = network

    def forward(
        self, windows: Sequence[Window], states: Sequence[State]
    ) -> tuple[Tensor, list[State]]:
        """Return each task's mean loss in nats, shape ``(tasks,)``, and the states after."""
        losses, after = [], []
        for task, (window, state) in enumerate(zip(windows, states, strict=True)):
            hidden, state = self.network(window.inputs, state)
            rows, targets = hidden.flatten(0, 1), window.targets.flatten()
            losses.append(mean_loss(self._head(task), rows, targets))
            after.append(detached(state))
        return torch.stack(losses), after

    def _head(self, task: int) -> nn.Module:
        head = self.network.tagger if task else self.network.decoder
        assert head is not None
        return head

    @torch.no_grad()
    def token_losses(self, task: int, window: Window, state: State) -> tuple[Tensor, State]:
        """Return each target's loss in nats, shape ``(time, batch)``, and the state after."""
        hidden, state = self.network(window.inputs, state)
        losses = token_losses(self._head(task), hidden.flatten(0, 1), window.targets.flatten())
        return losses.reshape(window.targets.shape), state


def detached(state: State) -> State:
    """Return the state cut off from what it was computed from."""
    return tuple(part.detach() for part in state)
