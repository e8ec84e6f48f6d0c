"""Products with one weight used many times: packed once for oneDNN, alone or in a network.

PyTorch multiplies 32-bit matrices on the processor with MKL, which on some processors reaches half
of what oneDNN does with a packed weight. The packed product is not part of PyTorch's public
interface, so it is tried once, compared, and not used if anything is amiss.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import cast

import torch
from torch import Tensor, nn

# Packed weights stand next to the plain ones; a large model must fit as if there were none.
MOST_BYTES = 2**29


class PackedLayers:
    """Linear layers with a second, packed copy of their weights, where packing works.

    The copies take as much memory again as the layers' weights. Where these have more than
    ``MOST_BYTES`` together, all stay as they are; so do layers whose ``forward`` somebody else has
    replaced.

    Args:
        network: Whose layers; later changes to their weights are not seen while ``in_use``.
        rows: About how many rows they will be given at once.
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
            # A class derived from these may compute something else.
            if type(module) in (nn.Linear, transposed) and "forward" not in vars(module)
        ]
        if sum(cast(Tensor, module.weight).nbytes for module in linear) > MOST_BYTES:
            return
        for module in linear:
            weight, bias = cast(Tensor, module.weight), cast(Tensor | None, module.bias)
            if packs(weight):
                own = weight.T if type(module) is transposed else weight
                self._products.append((module, PackedLinear(own, bias, rows)))

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Run the layers by their packed products, without gradients, until the block ends."""
        for module, product in self._products:
            # An instance's own ``forward`` goes before its class's, hooks and all.
            vars(module)["forward"] = product
        try:
            yield
        finally:
            for module, _ in self._products:
                # Another thread that runs the same model may have been quicker.
                vars(module).pop("forward", None)


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
