"""The losses of a network on texts it does not learn from."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from lm.corpora.batches import Columns, Window
from lm.devices import Processes, summed
from lm.training.objective import Objective


@dataclass(frozen=True, slots=True)
class Validation:
    """What a network does on held-out text.

    Attributes:
        word_loss: Mean loss per token, unknown ones among them, in nats.
        known_loss: Mean loss per known token, in nats.
        tag_loss: Mean loss per supertag, in nats; ``None`` where the model predicts none.
    """

    word_loss: float
    known_loss: float
    tag_loss: float | None = None

    @property
    def loss(self) -> float:
        """What the best epoch has least of: the word loss, or both losses' sum."""
        return self.word_loss + (self.tag_loss or 0.0)

    def to_row(self) -> dict[str, float]:
        """Return the columns of metrics.csv."""
        row = {
            "valid_loss_nats": self.word_loss,
            "valid_perplexity": math.exp(min(self.word_loss, 700)),
            "valid_perplexity_known": math.exp(min(self.known_loss, 700)),
        }
        return row if self.tag_loss is None else row | {"valid_tag_loss_nats": self.tag_loss}


def validate(
    objective: Objective, texts: Sequence[Columns], unknown: int, processes: Processes
) -> Validation:
    """Return the losses on each task's validation text; the network is in training mode after.

    Args:
        objective: The network and its losses.
        texts: Each task's text, this process's columns of it.
        unknown: The number of the unknown word.
        processes: Who shares the work.
    """
    objective.eval()
    means = [_means(objective, task, text, unknown, processes) for task, text in enumerate(texts)]
    objective.train()
    (word_loss, known_loss), *tags = means
    return Validation(word_loss, known_loss, tags[0][0] if tags else None)


def _means(
    objective: Objective, task: int, text: Columns, unknown: int, processes: Processes
) -> tuple[float, float]:
    """Return the mean loss of all targets and of those that are known words."""
    device = next(objective.parameters()).device
    state = objective.network.initial_state(text.batch)
    sums = torch.zeros(4, dtype=torch.float64)
    for number in range(len(text)):
        window = text.window(number)
        window = Window(window.inputs.to(device), window.targets.to(device))
        losses, state = objective.token_losses(task, window, state)
        known = window.targets != unknown
        parts = [losses.sum(), (losses * known).sum(), known.sum()]
        sums += torch.tensor([losses.numel(), *(part.item() for part in parts)])
    n, total, total_known, n_known = summed(sums.to(_reducible(device)), processes).tolist()
    return total / n, total_known / max(n_known, 1)


def _reducible(device: torch.device) -> torch.device:
    # MPS has no 64-bit numbers, and never shares work between processes.
    return device if device.type == "cuda" else torch.device("cpu")
