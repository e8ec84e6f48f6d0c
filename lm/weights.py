"""The form of a model's weights, and a check before loading that they fit into memory."""

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
_STORED_DTYPES: Mapping[str, str] = {"float32": "F32", "bfloat16": "BF16", "float16": "F16"}
# 8- and 4-bit weights with their scales; embeddings stay at 16 bits.
_BYTES_OF_BITS = {8: 1.15, 4: 0.65}
# Memory besides the weights: the library, activations, a tokenizer.
_MEMORY_FACTOR = 1.1
# The difference of a token's log-probability between two orders of summation: logits of up to about
# 50 have 24, 11 and 8 significant bits.
_ROUNDING_NATS: Mapping[str, float] = {"float32": 0, "float16": 0.1, "bfloat16": 0.5}
_GIB = 2**30


@dataclass(frozen=True, slots=True)
class Weights:
    """The form in which a Hugging Face model is loaded.

    Attributes:
        dtype: The type of the weights.
        bits: 8 or 4 for quantised weights, 0 for no quantisation.
        device_map: The distribution of layers over devices, in the format of the library
            accelerate; empty for one device.
        long_texts: The treatment of texts that are longer than the model's window.
    """

    dtype: Dtype = "float32"
    bits: Bits = 0
    device_map: str = ""
    long_texts: LongTexts = "refuse"

    @property
    def in_words(self) -> str:
        """The differences from the default, for identities and notes; empty if there are none."""
        parts = [
            *([self.dtype] if self.dtype != "float32" else []),
            *([f"{self.bits} bits"] if self.bits else []),
            *(["long texts through a sliding window"] if self.long_texts == "slide" else []),
        ]
        return ", ".join(parts)

    @property
    def rounding_nats(self) -> float:
        """By how much a token's score may depend on the batch that it is computed in."""
        return _ROUNDING_NATS["bfloat16" if self.bits else self.dtype]


DEFAULT_WEIGHTS = Weights()


def n_weights(folder: Path) -> int:
    """Return the number of weights in a folder's safetensors files; 0 without such files."""
    return sum(math.prod(about["shape"]) for about in _tensor_entries(folder))


def is_stored_as(folder: Path, dtype: Dtype) -> bool:
    """Return whether a folder's safetensors files contain weights of a single precision only."""
    return {about["dtype"] for about in _tensor_entries(folder)} <= {_STORED_DTYPES[dtype]}


def _tensor_entries(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the header entry of each tensor in a folder's safetensors files."""
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
    """Return the memory that is still available on this machine; infinite if unknown."""
    try:
        for line in Path("/proc/meminfo").read_text("utf-8").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    if not hasattr(os, "sysconf"):  # Windows
        return math.inf
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def bytes_needed(n: int, weights: Weights) -> float:
    """Return the memory that this number of weights takes in this form."""
    bytes_per_weight = _BYTES_OF_BITS[weights.bits] if weights.bits else _BYTES[weights.dtype]
    return n * bytes_per_weight * _MEMORY_FACTOR


def refuse_too_large(source: str, n: int, how: Weights, available: float, *, cuda: bool) -> None:
    """Raise an error if a model does not fit into memory; suggest forms that fit.

    Args:
        source: The model, for the message.
        n: The number of weights.
        how: The form of the weights.
        available: The free bytes on the computing device.
        cuda: Whether it is a CUDA device, on which weights can be quantised.

    Raises:
        LmError: The model does not fit.
    """
    needed = bytes_needed(n, how)
    if needed <= available:
        return
    alternatives = [("--dtype bfloat16", Weights("bfloat16"))]
    if cuda:
        alternatives += [("--bits 8", Weights(bits=8)), ("--bits 4", Weights(bits=4))]
    fitting = [
        f"{option} ({bytes_needed(n, alternative) / _GIB:.1f} GiB)"
        for option, alternative in alternatives
        if bytes_needed(n, alternative) <= available
    ]
    limit = available / (_BYTES[how.dtype] * _MEMORY_FACTOR) / 1e6
    remedy = (
        f"It would fit with {' or '.join(fitting)}."
        if fitting
        else f"No form of it fits; in {how.dtype} a model of up to {limit:,.0f} million weights "
        "does. A server can hold it for you: --model api:URL#MODEL."
    )
    raise LmError(
        f"{source} has {n / 1e6:,.0f} million weights, which take {needed / _GIB:.1f} GiB as "
        f"{f'{how.bits} bits' if how.bits else how.dtype}, but {available / _GIB:.1f} GiB are "
        f"free. Nothing was loaded. {remedy}"
    )
