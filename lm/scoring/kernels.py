"""A softmax without the full table: the requested logits, and the log of the denominator."""

import math
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Literal

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.functional import linear

from lm.scorer import FastKernel
from lm.scoring.packed_linear import PackedLinear
from lm.scoring.trie import Floats, Ints

Precision = Literal["float32", "bfloat16"]

ROWS_AT_A_TIME = 1024
# The logits of this number of words and rows (20 MB) fit into a processor's cache.
WORDS_AT_A_TIME = 5000
# On some processors, powers of two take PyTorch a third of the time of powers of e, so logits are
# computed in bits: hidden values and biases are multiplied by this.
_BITS_PER_NAT = math.log2(math.e)
# Between these bounds, no float32 term that overflows or vanishes affects the sum.
_SMALLEST_SUM = 1e-20
# A generous bound on the float32 error of powers, sums of some thousand terms, and the logarithm.
_ROUNDING_OF_SUMS = 2e-5


class LogNormaliser:
    """The logarithm of a softmax's denominator, computed without storing all logits.

    Args:
        weight: The decoder's weight, shape ``(words, hidden)``.
        bias: Its bias, shape ``(words,)``, or none.
        precision: ``float32``, or ``bfloat16``: products of rounded factors, summed in float32,
            which processors with such instructions compute two to four times as fast;
            ``with_bounds`` then returns error bounds.
    """

    def __init__(
        self, weight: Tensor, bias: Tensor | None, precision: Precision = "float32"
    ) -> None:
        self.precision: Precision = precision
        weight = weight.detach()
        bias = weight.new_zeros(len(weight)) if bias is None else bias.detach()
        weights, biases = (torch.split(part, WORDS_AT_A_TIME) for part in (weight, bias))
        self._parts = list(zip(weights, biases, strict=True))
        in_bits = [bias_part * _BITS_PER_NAT for bias_part in biases]
        with rounded_products(self.precision):
            self._products = [
                PackedLinear(*part, ROWS_AT_A_TIME) for part in zip(weights, in_bits, strict=True)
            ]
        self._bounds = LogitBounds(weights, in_bits) if precision == "bfloat16" else None

    def __call__(self, hidden: Tensor) -> Tensor:
        """Return log(sum over all words of exp(logit)), float64, shape ``(rows,)``.

        Args:
            hidden: Float32, shape ``(rows, hidden)``.
        """
        return self._normalise_all(hidden)[0]

    def with_bounds(self, hidden: Tensor) -> tuple[Tensor, Tensor]:
        """Return the result of a call, and the largest possible difference of each from float32's.

        Where every logit of a chunk of the words is off by d nats at most, the chunk's sum S
        is off by a factor of exp(d) at most. So the logarithm of all chunks' sum is off by
        log(sum of S exp(d)) - log(sum of S) at most.

        Args:
            hidden: Float32, shape ``(rows, hidden)``.

        Returns:
            Both float64, shape ``(rows,)``; the bounds are 0 in float32.
        """
        return self._normalise_all(hidden)

    def _normalise_all(self, hidden: Tensor) -> tuple[Tensor, Tensor]:
        if not len(hidden):
            none = hidden.new_zeros(0, dtype=_choose_wide_type(hidden))
            return none, none
        with rounded_products(self.precision):
            parts = [self._normalise_rows(rows) for rows in torch.split(hidden, ROWS_AT_A_TIME)]
        normalisers, bounds = zip(*parts, strict=True)
        return torch.cat(normalisers), torch.cat(bounds)

    def _normalise_rows(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        in_bits = rows * _BITS_PER_NAT
        sums = torch.stack([product(in_bits).exp2_().sum(1) for product in self._products])
        sums = sums.to(_choose_wide_type(rows))
        total = sums.sum(0)
        # No maximum is subtracted beforehand, to save a pass; rows that went wrong are repeated.
        unsafe = ~((total > _SMALLEST_SUM) & total.isfinite())
        normalisers, bounds = total.log(), torch.zeros_like(total)
        if self._bounds is not None:
            of_logits = self._bounds.of_logits(in_bits).to(sums) / _BITS_PER_NAT
            bounds = (sums.log() + of_logits).logsumexp(0) - normalisers + _ROUNDING_OF_SUMS
            bounds[unsafe] = of_logits.amax(0)[unsafe] + _ROUNDING_OF_SUMS
        if unsafe.any():
            normalisers[unsafe] = self._normalise_precisely(rows[unsafe])
        return normalisers, bounds

    def _normalise_precisely(self, rows: Tensor) -> Tensor:
        wide = _choose_wide_type(rows)
        normalisers = rows.new_full((len(rows),), -torch.inf, dtype=wide)
        for weight, bias in self._parts:
            normalisers = torch.logaddexp(
                normalisers, F.linear(rows, weight, bias).to(wide).logsumexp(1)
            )
        return normalisers


@contextmanager
def rounded_products(precision: Precision) -> Iterator[None]:
    """Allow or forbid oneDNN to round the factors of float32 products, until the block ends.

    This is only a permission: ``lm/scoring/kernels.py`` measures its effect.
    """
    # oneDNN's precision of float32 products is a global switch, not an argument.
    switch = torch.backends.mkldnn.matmul  # type: ignore[attr-defined]
    previous_precision = switch.fp32_precision
    switch.fp32_precision = "bf16" if precision == "bfloat16" else "ieee"
    try:
        yield
    finally:
        switch.fp32_precision = previous_precision


def _choose_wide_type(tensor: Tensor) -> torch.dtype:
    # Apple's GPUs have no float64.
    return torch.float32 if tensor.device.type == "mps" else torch.float64


class LogitBounds:
    """Bounds on the error of products of factors rounded to bfloat16.

    With v' for v rounded, w'h' - wh = (w' - w)h' + w(h' - h), and by Cauchy and Schwarz
    |w'h' - wh| <= |w' - w| |h'| + |w| |h' - h|. What float32 itself loses in adding n products is
    at most n 2^-24 |w| |h| (Higham 2002, section 3.1); it is counted for the rounded product, for
    the exact product, and for one word's own logit in both passes. The bounds are in the unit of
    ``rows`` and ``biases``, which may have been rounded once themselves.

    References:
        Higham, N. J. (2002). Accuracy and stability of numerical algorithms (2nd ed.). SIAM.

    Args:
        weights: Chunks of the decoder's weight, each of shape ``(words, hidden)``.
        biases: Their biases, each of shape ``(words,)``.
    """

    def __init__(self, weights: Sequence[Tensor], biases: Sequence[Tensor]) -> None:
        self._weight = torch.stack([weight.norm(dim=1).max() for weight in weights])
        self._compute_rounding_error = torch.stack(
            [_compute_rounding_error(weight).norm(dim=1).max() for weight in weights]
        )
        self._bias = torch.stack([bias.abs().max() for bias in biases]) * (6 * 2**-24)
        self._of_float32 = 4 * (weights[0].shape[1] + 2) * 2**-24

    def of_logits(self, rows: Tensor) -> Tensor:
        """Return the bound of each chunk's logits, shape ``(chunks, rows)``."""
        size, lost = rows.norm(dim=1), _compute_rounding_error(rows).norm(dim=1)
        bound = torch.outer(self._compute_rounding_error, size + lost)
        bound += torch.outer(self._weight, lost + self._of_float32 * size)
        return bound + self._bias[:, None]


def _compute_rounding_error(tensor: Tensor) -> Tensor:
    """Return the error of rounding to bfloat16."""
    return tensor - tensor.bfloat16().float()


def target_logits(
    weight: Tensor, bias: Tensor | None, hidden: Tensor, rows: Ints, words: Ints
) -> Floats:
    """Return the logit of ``words[i]`` at ``hidden[rows[i]]``, without those of other words.

    Args:
        weight: The decoder's weight, shape ``(words, hidden)``.
        bias: Its bias, shape ``(words,)``, or none.
        hidden: Shape ``(rows, hidden)``.
        rows: int64, shape ``(n,)``.
        words: int64, shape ``(n,)``.

    Returns:
        float64, shape ``(n,)``.
    """
    target_values = np.empty(len(words))
    for start in range(0, len(words), ROWS_AT_A_TIME):
        part = slice(start, start + ROWS_AT_A_TIME)
        row_part, word = (torch.from_numpy(n[part]).to(hidden.device) for n in (rows, words))
        logits = (hidden[row_part] * weight[word]).sum(1)
        target_values[part] = (logits if bias is None else logits + bias[word]).cpu().numpy()
    return target_values


_REPEATS = 5
_EXECUTED = re.compile(r"^onednn_verbose,.*\bexec,[^,]*,[^,]*,([^,]+),", re.MULTILINE)


@torch.inference_mode()
def measure_kernel(weight: Tensor) -> FastKernel:
    """Return the effect of rounding to bfloat16 on the device of this decoder's weight.

    Args:
        weight: Shape ``(words, hidden)``; the measurement uses the first words, as many as are
            multiplied at a time.
    """
    weight = weight.detach()[:WORDS_AT_A_TIME].contiguous()
    generator = torch.Generator().manual_seed(1)
    rows = torch.randn(ROWS_AT_A_TIME, weight.shape[1], generator=generator).to(weight)
    bias = weight.new_zeros(len(weight))
    with rounded_products("float32"):
        exact = PackedLinear(weight, bias, ROWS_AT_A_TIME)
        seconds = _time_shortest_run(lambda: exact(rows))
        exact_product = exact(rows)
    with rounded_products("bfloat16"):
        rounded = PackedLinear(weight, bias, ROWS_AT_A_TIME)
        fast_seconds = _time_shortest_run(lambda: rounded(rows))
        rounded_product = rounded(rows)
        name = _kernel_name(lambda: rounded(rows))
    low_rows, low_weight = rows.bfloat16(), weight.bfloat16()
    explicit_seconds = _time_shortest_run(lambda: linear(low_rows, low_weight))
    return FastKernel(
        name,
        rounds=not torch.equal(exact_product, rounded_product),
        speedup=seconds / fast_seconds,
        explicit_speedup=seconds / explicit_seconds,
    )


def _time_shortest_run(run: Callable[[], object]) -> float:
    """Return the shortest of a few times, after a first run that is not timed."""
    times = []
    for _ in range(_REPEATS + 1):
        started = time.perf_counter()
        run()
        times.append(time.perf_counter() - started)
    return min(times[1:])


def _kernel_name(run: Callable[[], object]) -> str:
    """Return oneDNN's name for the kernel, which oneDNN writes to the standard output."""
    sys.stdout.flush()
    with tempfile.TemporaryFile() as output_file:
        stdout_copy = os.dup(1)
        os.dup2(output_file.fileno(), 1)
        try:
            with torch.backends.mkldnn.verbose(torch.backends.mkldnn.VERBOSE_ON):  # type: ignore[no-untyped-call]
                run()
        finally:
            os.dup2(stdout_copy, 1)
            os.close(stdout_copy)
        output_file.seek(0)
        names = _EXECUTED.findall(output_file.read().decode(errors="replace"))
    return names[-1] if names else "a kernel without a name"
