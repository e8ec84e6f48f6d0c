"""Faster products with a weight that is used many times, packed once for oneDNN.

PyTorch multiplies 32-bit matrices on the processor with MKL, which on some processors reaches half
of what oneDNN does with a packed weight. The packed product is not part of PyTorch's public
interface, so it is tested once against the plain product, and not used if the test fails.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import cast

import torch
from torch import Tensor, nn

# Packed weights are stored in addition to the plain ones; large models must still fit into memory.
MOST_BYTES = 2**29


class PackedLayers:
    """Linear layers with a second, packed copy of their weights, if packing works.

    A layer is packed when it is first used. The copies take as much memory as the layers' weights.
    If these exceed ``MOST_BYTES`` in total, no layer is packed; layers whose ``forward`` other code
    has replaced are not packed either.

    Args:
        network: The network with the layers; changes to its weights after a layer's first use do
            not affect the copy.
        rows: The approximate number of rows of an input.
        transposed: A class of layers to treat like ``nn.Linear``, but with a ``weight`` of the
            shape ``(inputs, outputs)``.
    """

    def __init__(
        self, network: nn.Module, rows: int, *, transposed: type[nn.Module] | None = None
    ) -> None:
        self._products: list[tuple[nn.Module, PackedLinear]] = []
        linear = [
            module
            for module in network.modules()
            # A subclass may compute something else.
            if type(module) in (nn.Linear, transposed) and "forward" not in vars(module)
        ]
        if sum(cast(Tensor, module.weight).nbytes for module in linear) > MOST_BYTES:
            return
        for module in linear:
            weight, bias = cast(Tensor, module.weight), cast(Tensor | None, module.bias)
            if packs(weight):
                layer_weight = weight.T if type(module) is transposed else weight
                self._products.append((module, PackedLinear(layer_weight, bias, rows)))

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Run the layers by their packed products, without gradients, until the block ends."""
        for module, product in self._products:
            # An instance's own ``forward`` takes precedence over the class's, hooks included.
            vars(module)["forward"] = product
        try:
            yield
        finally:
            for module, _ in self._products:
                # Another thread that runs the same model may already have removed it.
                vars(module).pop("forward", None)


class PackedLinear:
    """``x @ weight.T + bias`` for many ``x`` of shape ``(..., inputs)``.

    The weight is packed when it is first used.

    Args:
        weight: Shape ``(outputs, inputs)``; changes to it after the first use have no effect.
        bias: Shape ``(outputs,)``.
        rows: The approximate number of rows of ``x``.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None, rows: int) -> None:
        self._bias, self._weight, self._rows = bias, weight, rows
        self._packed: Tensor | None = None
        self._packs = packs(weight)

    def __call__(self, x: Tensor) -> Tensor:
        """Return the product, shape ``(..., outputs)``."""
        if not self._packs:
            return torch.nn.functional.linear(x, self._weight, self._bias)
        if self._packed is None:
            self._packed = _pack(self._weight, self._rows)
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
    """Return whether oneDNN's packed product exists and gives the same results as PyTorch's."""
    x = torch.linspace(-1, 1, 24).reshape(4, 6)
    weight = torch.linspace(-2, 1, 48).reshape(8, 6)
    bias = torch.linspace(0, 1, 8)
    try:
        with torch.no_grad():
            product = _multiply(x, _pack(weight, 4), bias)
    except (AttributeError, RuntimeError):
        return False
    return torch.allclose(product, torch.nn.functional.linear(x, weight, bias), atol=1e-5)
