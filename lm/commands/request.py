"""The options of `parallax lm train`, as passed to each kind of model."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tqdm import tqdm

from lm.errors import LmError


@dataclass(frozen=True, slots=True)
class TrainRequest:
    """One call of the command.

    Attributes:
        type: The kind of model.
        preset: The named settings to start from; empty: none.
        data: A text, or a folder of texts.
        out: The model's folder.
        name: The model's name in tables and figures; empty: named after its type.
        max_words: The largest number of known words.
        min_count: Words that occur less often are unknown.
        options: The options of that kind of model; options not given are ``None``.
    """

    type: str
    preset: str
    data: Path
    out: Path
    name: str
    max_words: int
    min_count: int
    options: Mapping[str, object]


def shown(sentences: Iterable[list[str]], task: str) -> Iterator[list[str]]:
    """Yield the sentences, and show their number."""
    yield from tqdm(sentences, desc=task, unit=" sentences", disable=None)


@contextmanager
def explained_memory() -> Iterator[None]:
    """Turn an out-of-memory error into a message that names the settings to lower."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if not isinstance(error, MemoryError) and "memory" not in str(error):
            raise
        reason = str(error).splitlines() or ["Python could not get any more"]
        raise LmError(
            f"there is not enough memory ({reason[0]}). Lower `--batch`, then `--steps` or "
            "`--hidden`; fewer words (`--max-words`) or `--softmax adaptive` help too."
        ) from error
