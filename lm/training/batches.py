"""Windows of a long text: many columns, read in parallel."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lm.errors import LmError

Ids = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Window:
    """Consecutive steps of a text, and the target of each.

    Attributes:
        inputs: int64, shape ``(time, batch)``.
        targets: int64, shape ``(time, batch)``.
    """

    inputs: Tensor
    targets: Tensor


class TextColumns:
    """A text cut into ``batch`` pieces of equal length, which are read in parallel, by windows.

    Tokens that do not fill the last row are omitted. Each process reads only its own columns.

    Args:
        inputs: The numbers of the tokens to read, shape ``(tokens,)``.
        targets: The target of each token, shape ``(tokens,)``.
        batch: The number of columns of all processes together.
        steps: The number of rows in a window; the last window may have fewer.
        rank: The number of this process, from 0.
        world: The number of processes.

    Raises:
        LmError: The text is too short for this number of columns.
    """

    def __init__(
        self, inputs: Ids, targets: Ids, batch: int, steps: int, rank: int = 0, world: int = 1
    ) -> None:
        rows = len(inputs) // batch
        if rows == 0 or batch % world:
            raise LmError(
                f"{world} process(es) cannot take a batch of {batch} from a text of "
                f"{len(inputs):,} tokens. Give a longer text, or a batch size that the processes "
                "can share."
            )
        own_columns = slice(rank * batch // world, (rank + 1) * batch // world)
        self._inputs = inputs[: rows * batch].reshape(batch, rows)[own_columns]
        self._targets = targets[: rows * batch].reshape(batch, rows)[own_columns]
        self.rows, self.steps, self.batch = rows, steps, batch // world

    def __len__(self) -> int:
        return -(-self.rows // self.steps)

    def window(self, number: int) -> Window:
        """Return a window by its number, from 0."""
        part = slice(number * self.steps, (number + 1) * self.steps)
        return Window(_cut_rows(self._inputs[:, part]), _cut_rows(self._targets[:, part]))


def _cut_rows(columns: Ids) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(columns.T, dtype=np.int64))
