"""Measurement of the accuracy and speed of products of rounded factors on this processor.

oneDNN treats bfloat16 as a permission. On a processor without instructions for it, the same float32
kernel runs as before, bit for bit, without notice. So this module compares and times the products,
and gets the name of the kernel from oneDNN.
"""

import os
import re
import sys
import tempfile
import time
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import linear

from lm.scorer import FastKernel
from lm.scoring.kernels import ROWS_AT_A_TIME, WORDS_AT_A_TIME, rounded_products
from lm.scoring.packed_linear import PackedLinear

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
        seconds = _seconds(lambda: exact(rows))
        before = exact(rows)
    with rounded_products("bfloat16"):
        rounded = PackedLinear(weight, bias, ROWS_AT_A_TIME)
        fast_seconds = _seconds(lambda: rounded(rows))
        after = rounded(rows)
        name = _kernel_name(lambda: rounded(rows))
    low_rows, low_weight = rows.bfloat16(), weight.bfloat16()
    explicit_seconds = _seconds(lambda: linear(low_rows, low_weight))
    return FastKernel(
        name,
        rounds=not torch.equal(before, after),
        speedup=seconds / fast_seconds,
        explicit_speedup=seconds / explicit_seconds,
    )


def _seconds(run: Callable[[], object]) -> float:
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
    with tempfile.TemporaryFile() as written:
        kept = os.dup(1)
        os.dup2(written.fileno(), 1)
        try:
            with torch.backends.mkldnn.verbose(torch.backends.mkldnn.VERBOSE_ON):  # type: ignore[no-untyped-call]
                run()
        finally:
            os.dup2(kept, 1)
            os.close(kept)
        written.seek(0)
        found = _EXECUTED.findall(written.read().decode(errors="replace"))
    return found[-1] if found else "a kernel without a name"
