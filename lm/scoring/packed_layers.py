"""A network's own linear layers, run by packed products for a while."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

from torch import Tensor, nn

from lm.scoring.packed_linear import PackedLinear, packs

# Packed weights stand next to the plain ones; a model of billions must still fit as before.
MOST_BYTES = 2**32


class PackedLayers:
    """Linear layers with a second, packed copy of their weights, where packing works.

    The copies take as much memory again as the layers' weights; layers beyond ``MOST_BYTES`` of
    them stay as they are, and so do those whose ``forward`` somebody else has replaced.

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
        left = MOST_BYTES
        for module in network.modules():
            # A class derived from these may compute something else.
            if type(module) not in (nn.Linear, transposed) or "forward" in vars(module):
                continue
            weight, bias = cast(Tensor, module.weight), cast(Tensor | None, module.bias)
            left -= weight.nbytes
            if left >= 0 and packs(weight):
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
