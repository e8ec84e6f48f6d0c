"""Where training runs: device, precision, and the processes that share the work."""

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Literal

import torch
import torch.distributed as dist

from lm.errors import LmError

DeviceChoice = Literal["auto", "cpu", "cuda", "mps"]


@dataclass(frozen=True, slots=True)
class Processes:
    """Which process this is (``rank``, from 0) of how many (``world``)."""

    rank: int = 0
    world: int = 1

    @property
    def leads(self) -> bool:
        """Whether this is the process that writes and reports."""
        return self.rank == 0


def choose_device(choice: DeviceChoice, *, exact: bool = False) -> torch.device:
    """Return the device; ``auto`` takes CUDA, then MPS (Apple), then the processor.

    Args:
        choice: Which one.
        exact: Leave products of 32-bit floats exact, as scores need them; otherwise CUDA devices
            may round their factors.

    Raises:
        LmError: The device is not there.
    """
    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if choice == "auto":
        choice = "cuda" if there["cuda"] else "mps" if there["mps"] else "cpu"
    elif not there.get(choice, True):
        raise LmError(f'this machine has no device "{choice}". Use `--device auto` or `cpu`.')
    if choice == "cuda":
        # TensorFloat-32 keeps 10 bits of the fraction, enough for gradients of 32-bit weights.
        torch.backends.cuda.matmul.allow_tf32 = not exact
        torch.backends.cudnn.allow_tf32 = not exact
        return torch.device("cuda", int(os.environ.get("LOCAL_RANK", 0)))
    return torch.device(choice)


def good_precision(device: torch.device) -> Literal["float32", "bf16"]:
    """Return bf16 where a CUDA device computes it natively, else float32.

    Processors get float32: the same weights on every one of them is worth more than speed.
    """
    good = device.type == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False)
    return "bf16" if good else "float32"


@contextmanager
def joined_processes(device: torch.device) -> Iterator[Processes]:
    """Join the processes that ``torchrun`` started, if it did, until the block ends."""
    if int(os.environ.get("WORLD_SIZE", 1)) == 1:
        yield Processes()
        return
    if device.type == "cuda":
        torch.cuda.set_device(device)
    # The group's threads end with the last object that holds it. A thread that is still at work
    # when Python ends aborts its process, after a training that succeeded. Optimizers import this
    # module, which holds a group for ever if it finds one.
    import_module("torch._dynamo")
    dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    try:
        yield Processes(dist.get_rank(), dist.get_world_size())
    finally:
        gc.collect()
        dist.destroy_process_group()


def gathered(tensor: torch.Tensor, processes: Processes) -> torch.Tensor:
    """Return all processes' tensors side by side, joined at the second dimension."""
    if processes.world == 1:
        return tensor
    parts = [torch.empty_like(tensor) for _ in range(processes.world)]
    dist.all_gather(parts, tensor.contiguous())
    return torch.cat(parts, dim=1)


def summed(tensor: torch.Tensor, processes: Processes) -> torch.Tensor:
    """Return the sum of all processes' tensors."""
    if processes.world > 1:
        dist.all_reduce(tensor)
    return tensor


def any_says(flag: bool, device: torch.device, processes: Processes) -> bool:
    """Return whether the flag is up in any process."""
    if processes.world == 1:
        return flag
    return bool(summed(torch.tensor(float(flag), device=device), processes).item())
