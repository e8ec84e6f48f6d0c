"""Devices, precision and parallel processes of training."""

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
    """The number of this process (``rank``, from 0) and the number of processes (``world``)."""

    rank: int = 0
    world: int = 1

    @property
    def leads(self) -> bool:
        """Whether this process writes files and reports progress."""
        return self.rank == 0


def choose_device(choice: DeviceChoice, *, exact: bool = False) -> torch.device:
    """Return the device; ``auto`` prefers CUDA, then MPS (Apple), then the CPU.

    Args:
        choice: The name of the device, or ``auto``.
        exact: Whether products of 32-bit floats must be exact, as for scores; otherwise CUDA
            devices may round their factors.

    Raises:
        LmError: The device is not available.
    """
    available = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if choice == "auto":
        choice = "cuda" if available["cuda"] else "mps" if available["mps"] else "cpu"
    elif not available.get(choice, True):
        raise LmError(f'this machine has no device "{choice}". Use `--device auto` or `cpu`.')
    if choice == "cuda":
        # TensorFloat-32 keeps 10 bits of the fraction, enough for gradients of 32-bit weights.
        torch.backends.cuda.matmul.allow_tf32 = not exact
        torch.backends.cudnn.allow_tf32 = not exact
        return torch.device("cuda", int(os.environ.get("LOCAL_RANK", 0)))
    return torch.device(choice)


def choose_precision(device: torch.device) -> Literal["float32", "bf16"]:
    """Return bf16 if a CUDA device computes it natively, otherwise float32.

    CPUs use float32: equal weights on all CPUs matter more than speed.
    """
    good = device.type == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False)
    return "bf16" if good else "float32"


@contextmanager
def join_processes(device: torch.device) -> Iterator[Processes]:
    """Join the processes that ``torchrun`` started, if any, until the block ends."""
    if int(os.environ.get("WORLD_SIZE", 1)) == 1:
        yield Processes()
        return
    if device.type == "cuda":
        torch.cuda.set_device(device)
    # The group's threads end with the last reference to it. A thread that is still running when
    # Python exits aborts the process, even after a successful training. Optimizers import this
    # module, which keeps a reference for ever if a group exists.
    import_module("torch._dynamo")
    dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    try:
        yield Processes(dist.get_rank(), dist.get_world_size())
    finally:
        gc.collect()
        dist.destroy_process_group()


def gather_from_all(tensor: torch.Tensor, processes: Processes) -> torch.Tensor:
    """Return the tensors of all processes, concatenated along the second dimension."""
    if processes.world == 1:
        return tensor
    parts = [torch.empty_like(tensor) for _ in range(processes.world)]
    dist.all_gather(parts, tensor.contiguous())
    return torch.cat(parts, dim=1)


def sum_over_all(tensor: torch.Tensor, processes: Processes) -> torch.Tensor:
    """Return the sum of the tensors of all processes."""
    if processes.world > 1:
        dist.all_reduce(tensor)
    return tensor


def is_set_anywhere(flag: bool, device: torch.device, processes: Processes) -> bool:
    """Return whether the flag is set in any process."""
    if processes.world == 1:
        return flag
    return bool(sum_over_all(torch.tensor(float(flag), device=device), processes).item())
