"""What `parallax lm train` was asked for, as its kinds of models take it."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tqdm import tqdm


@dataclass(frozen=True, slots=True)
class TrainRequest:
    """One call of the command.

    Attributes:
        type: Which kind of model.
        preset: The named settings to start from; empty: none.
        data: A text, or a folder of texts.
        out: The model's folder.
        name: What tables and figures will call it; empty: by its type.
        max_words: How many words are known at most.
        min_count: Words that occur less often are unknown.
        options: The options of that kind of model; those not given are ``None``.
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
    """Yield the sentences and show how many there were."""
    yield from tqdm(sentences, desc=task, unit=" sentences", disable=None)
