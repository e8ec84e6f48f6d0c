"""Weights read from their files one at a time, where they are held in another precision."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from transformers import modeling_utils

from lm.weights import Dtype, is_stored_as


@contextmanager
def read_one_at_a_time(folder: Path | None, dtype: Dtype) -> Iterator[None]:
    """Let transformers read each tensor by itself where it is to be converted.

    Weights that are converted are copies, and a file that is mapped stays in memory beside them
    until all are there: float32 beside bfloat16 is three times the bfloat16. The library reads one
    by one where files cannot be mapped, and can be told so by nothing but the function that it
    opens files with.

    Args:
        folder: Where the files are; None where they are not here yet.
        dtype: What they are converted to, if they hold something else.
    """
    opened: Any = getattr(modeling_utils, "safe_open", None)
    if opened is None or folder is None or is_stored_as(folder, dtype):
        yield
        return

    def one_by_one(*arguments: object, **options: object) -> object:
        if "backend" in options:
            options["backend"] = "pread"
        return opened(*arguments, **options)

    modeling_utils.safe_open = one_by_one
    try:
        yield
    finally:
        modeling_utils.safe_open = opened
