"""A softmax without its table: the logits asked for, and the logarithm of the denominator."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from lm.scoring.packed_linear import PackedLinear
from lm.scoring.trie import Floats, Ints

Precision = Literal["float32", "bfloat16"]

ROWS_AT_A_TIME = 1024
# The logits of that many words and rows (20 MB) stay within a processor's cache.
WORDS_AT_A_TIME = 5000
# Between these, no float32 term that overflowed or vanished can matter to the sum.
_SMALLEST_SUM = 1e-20


class LogNormaliser:
    """The logarithm of a softmax's denominator, without ever holding all logits.

    Args:
        weight: The decoder's weight, shape ``(words, hidden)``.
        bias: Its bias, shape ``(words,)``, or none.
        precision: ``float32``, or ``bfloat16``: products of rounded factors, summed in float32,
            which processors with such instructions compute two to four times as fast.
    """

    def __init__(
        self, weight: Tensor, bias: Tensor | None, precision: Precision = "float32"
    ) -> None:
        self.precision: Precision = precision
        weight = weight.detach()
        bias = weight.new_zeros(len(weight)) if bias is None else bias.detach()
        weights, biases = (torch.split(part, WORDS_AT_A_TIME) for part in (weight, bias))
        self._parts = list(zip(weights, biases, strict=True))
        with self._arithmetic():
            self._products = [PackedLinear(*part, ROWS_AT_A_TIME) for part in self._parts]

    @contextmanager
    def _arithmetic(self) -> Iterator[None]:
        # oneDNN takes the precision of float32 products from a switch, not from an argument.
        switch = torch.backends.mkldnn.matmul  # type: ignore[attr-defined]
        before = switch.fp32_precision
        switch.fp32_precision = "bf16" if self.precision == "bfloat16" else "ieee"
        try:
            yield
        finally:
            switch.fp32_precision = before

    def __call__(self, hidden: Tensor) -> Tensor:
        """Return log(sum over all words of exp(logit)), float64, shape ``(rows,)``.

        Args:
            hidden: Float32, shape ``(rows, hidden)``.
        """
        with self._arithmetic():
            parts = [self._of_rows(rows) for rows in torch.split(hidden, ROWS_AT_A_TIME)]
        return torch.cat(parts) if parts else hidden.new_zeros(0, dtype=torch.float64)

    def _of_rows(self, rows: Tensor) -> Tensor:
        sums = rows.new_zeros(len(rows), dtype=torch.float64)
        for product in self._products:
            sums += product(rows).exp_().sum(1)
        # Nothing is subtracted before exp, which saves a pass; where that went wrong, it is done.
        unsafe = ~((sums > _SMALLEST_SUM) & sums.isfinite())
        found = sums.log_()
        if unsafe.any():
            found[unsafe] = self._carefully(rows[unsafe])
        return found

    def _carefully(self, rows: Tensor) -> Tensor:
        found = rows.new_full((len(rows),), -torch.inf, dtype=torch.float64)
        for weight, bias in self._parts:
            found = torch.logaddexp(found, F.linear(rows, weight, bias).double().logsumexp(1))
        return found


def target_logits(
    weight: Tensor, bias: Tensor | None, hidden: Tensor, rows: Ints, words: Ints
) -> Floats:
    """Return the logit of ``words[i]`` at ``hidden[rows[i]]``, and of no other word.

    Args:
        weight: The decoder's weight, shape ``(words, hidden)``.
        bias: Its bias, shape ``(words,)``, or none.
        hidden: Shape ``(rows, hidden)``.
        rows: int64, shape ``(n,)``.
        words: int64, shape ``(n,)``.

    Returns:
        float64, shape ``(n,)``.
    """
    found = np.empty(len(words))
    for start in range(0, len(words), ROWS_AT_A_TIME):
        part = slice(start, start + ROWS_AT_A_TIME)
        which, word = (torch.from_numpy(n[part]).to(hidden.device) for n in (rows, words))
        logits = (hidden[which] * weight[word]).sum(1)
        found[part] = (logits if bias is None else logits + bias[word]).cpu().numpy()
    return found
