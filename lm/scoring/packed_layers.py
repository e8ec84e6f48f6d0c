"""A network's own linear layers, run by packed products for a while."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

from torch import Tensor, nn

from lm.scoring.packed_linear import PackedLinear, packs

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
