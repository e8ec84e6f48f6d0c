"""Matrix products with one weight used many times: packed once for oneDNN where that works.

PyTorch multiplies 32-bit matrices on the processor with MKL, which on some processors reaches half
of what oneDNN does with a packed weight. The packed product is not part of PyTorch's public
interface, so it is tried once, compared, and not used if anything is amiss.
"""

from functools import cache

import torch
from torch import Tensor


class PackedLinear:
    """``x @ weight.T + bias`` for many ``x`` of shape ``(..., inputs)``.

    Args:
        weight: Shape ``(outputs, inputs)``; later changes to it are not seen.
        bias: Shape ``(outputs,)``.
        rows: About how many rows ``x`` will have.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None, rows: int) -> None:
        self._bias = bias
        self._packed = _pack(weight, rows) if packs(weight) else None
        self._weight = weight

    def __call__(self, x: Tensor) -> Tensor:
        """Return the product, shape ``(..., outputs)``."""
        if self._packed is None:
            return torch.nn.functional.linear(x, self._weight, self._bias)
        return _multiply(x, self._packed, self._bias)


def packs(weight: Tensor) -> bool:
    """Return whether products with this weight, of any shape, are packed."""
    return weight.device.type == "cpu" and weight.dtype == torch.float32 and packing_works()


def _pack(weight: Tensor, rows: int) -> Tensor:
    packed: Tensor = torch.ops.mkldnn._reorder_linear_weight(weight.detach().contiguous(), rows)
    return packed


def _multiply(x: Tensor, packed: Tensor, bias: Tensor | None) -> Tensor:
    product: Tensor = torch.ops.mkldnn._linear_pointwise(x, packed, bias, "none", [], "")
    return product


@cache
def packing_works() -> bool:
    """Return whether oneDNN's packed product is there and gives what PyTorch's own does."""
    x = torch.linspace(-1, 1, 24).reshape(4, 6)
    weight = torch.linspace(-2, 1, 48).reshape(8, 6)
    bias = torch.linspace(0, 1, 8)
    try:
        with torch.no_grad():
            ours = _multiply(x, _pack(weight, 4), bias)
    except (AttributeError, RuntimeError):
        return False
    return torch.allclose(ours, torch.nn.functional.linear(x, weight, bias), atol=1e-5)
