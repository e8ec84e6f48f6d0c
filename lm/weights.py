"""How a model's weights are held, and whether they fit into memory, said before they are read."""

import json
import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from lm.errors import LmError

Dtype = Literal["float32", "bfloat16", "float16"]
Bits = Literal[0, 4, 8]
LongTexts = Literal["refuse", "slide"]
_BYTES: Mapping[str, float] = {"float32": 4, "bfloat16": 2, "float16": 2}
_STORED: Mapping[str, str] = {"float32": "F32", "bfloat16": "BF16", "float16": "F16"}
# 8- and 4-bit weights with their scales; embeddings stay at 16 bits.
_BYTES_OF_BITS = {8: 1.15, 4: 0.65}
# What a model needs besides its weights: the library, activations, a tokenizer.
_BESIDES = 1.1
_GIB = 2**30


@dataclass(frozen=True, slots=True)
class Weights:
    """How a Hugging Face model is loaded.

    Attributes:
        dtype: What its weights are.
        bits: 8 or 4 for quantised weights, 0 for none.
        device_map: How layers are spread over devices, as the library accelerate takes it; empty
            for one device.
        long_texts: What happens to texts that are longer than the model's window.
    """

    dtype: Dtype = "float32"
    bits: Bits = 0
    device_map: str = ""
    long_texts: LongTexts = "refuse"

    @property
    def in_words(self) -> str:
        """What differs from the usual, for identities and notes; empty where nothing does."""
        parts = [
            *([self.dtype] if self.dtype != "float32" else []),
            *([f"{self.bits} bits"] if self.bits else []),
            *(["long texts through a sliding window"] if self.long_texts == "slide" else []),
        ]
        return ", ".join(parts)


AS_USUAL = Weights()


def n_weights(folder: Path) -> int:
    """Return how many weights the safetensors files of a folder hold; 0 where there are none."""
    return sum(math.prod(about["shape"]) for about in _stored(folder))


def is_stored_as(folder: Path, dtype: Dtype) -> bool:
    """Return whether the safetensors files of a folder hold weights of one precision only."""
    return {about["dtype"] for about in _stored(folder)} <= {_STORED[dtype]}


def _stored(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield what the headers of a folder's safetensors files say of each tensor."""
    for path in folder.glob("*.safetensors"):
        yield from _header(path)


def _header(path: Path) -> Iterator[dict[str, Any]]:
    with path.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        if size > 100_000_000:
            return
        header = json.loads(file.read(size))
    yield from (about for name, about in header.items() if name != "__metadata__")


def available_bytes() -> float:
    """Return how much memory this machine can still give; without end where it does not say."""
    try:
        for line in Path("/proc/meminfo").read_text("utf-8").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    if not hasattr(os, "sysconf"):  # Windows
        return math.inf
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def bytes_needed(n: int, how: Weights) -> float:
    """Return how much memory so many weights take, loaded so."""
    each = _BYTES_OF_BITS[how.bits] if how.bits else _BYTES[how.dtype]
    return n * each * _BESIDES


def refuse_too_large(source: str, n: int, how: Weights, available: float, *, cuda: bool) -> None:
    """Raise where a model does not fit, and say what would.

    Args:
        source: The model, for the message.
        n: Its weights.
        how: How it is to be loaded.
        available: The bytes that are free where it is to compute.
        cuda: Whether that is a CUDA device, on which weights can be quantised.

    Raises:
        LmError: It does not fit.
    """
    needed = bytes_needed(n, how)
    if needed <= available:
        return
    others = [("--dtype bfloat16", Weights("bfloat16"))]
    if cuda:
        others += [("--bits 8", Weights(bits=8)), ("--bits 4", Weights(bits=4))]
    fitting = [
        f"{option} ({bytes_needed(n, other) / _GIB:.1f} GiB)"
        for option, other in others
        if bytes_needed(n, other) <= available
    ]
    most = available / (_BYTES[how.dtype] * _BESIDES) / 1e6
    remedy = (
        f"It would fit with {' or '.join(fitting)}."
        if fitting
        else f"No form of it fits; in {how.dtype} a model of up to {most:,.0f} million weights "
        "does. A server can hold it for you: --model api:URL#MODEL."
    )
    raise LmError(
        f"{source} has {n / 1e6:,.0f} million weights, which take {needed / _GIB:.1f} GiB as "
        f"{f'{how.bits} bits' if how.bits else how.dtype}, but {available / _GIB:.1f} GiB are "
        f"free. Nothing was loaded. {remedy}"
    )
