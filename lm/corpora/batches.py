"""A long text as windows of many columns read side by side."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lm.errors import LmError

Ids = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Window:
    """Steps of a text to read, and the targets at each of them.

    Attributes:
        inputs: int64, shape ``(time, batch)``.
        targets: int64, shape ``(time, batch)``.
    """

    inputs: Tensor
    targets: Tensor


class Columns:
    """A text cut into ``batch`` long pieces of one length, read side by side, window by window.

    What does not fill the last row is left out. Of several processes each reads its own columns.

    Args:
        inputs: The numbers to read, shape ``(tokens,)``.
        targets: The target after each, shape ``(tokens,)``.
        batch: How many columns, over all processes.
        steps: How many rows a window has; the last may have fewer.
        rank: Which process this is, of ``world``.
        world: How many processes there are.

    Raises:
        LmError: The text is too short for that many columns.
    """

    def __init__(
        self, inputs: Ids, targets: Ids, batch: int, steps: int, rank: int = 0, world: int = 1
    ) -> None:
        rows = len(inputs) // batch
        if rows == 0 or batch % world:
            raise LmError(
                f"a batch of {batch} cannot be taken from a text of {len(inputs):,} tokens by "
                f"{world} process(es). Give a longer text, or a batch size that the processes "
                "can share."
            )
        mine = slice(rank * batch // world, (rank + 1) * batch // world)
        self._inputs = inputs[: rows * batch].reshape(batch, rows)[mine]
        self._targets = targets[: rows * batch].reshape(batch, rows)[mine]
        self.rows, self.steps, self.batch = rows, steps, batch // world

    def __len__(self) -> int:
        return -(-self.rows // self.steps)

    def window(self, number: int) -> Window:
        """Return the window of that number, from 0."""
        part = slice(number * self.steps, (number + 1) * self.steps)
        return Window(_rows(self._inputs[:, part]), _rows(self._targets[:, part]))


def _rows(columns: Ids) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(columns.T, dtype=np.int64))
