"""Independent recomputation of unigram models' log-probabilities from their word counts."""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray


def logprobs_again(source: str, texts: Sequence[str]) -> list[NDArray[np.float64]]:
    """Return the log-probability of each word of whole texts.

    Args:
        source: The model's folder.
        texts: The texts.
    """
    lines = (Path(source) / "words.tsv").read_text("utf-8").split("\n")
    counts = {word: int(count) for word, count in (line.rsplit("\t", 1) for line in lines if line)}
    total = sum(counts.values()) + len(counts)
    return [
        np.array([math.log((counts.get(w, counts["<unk>"]) + 1) / total) for w in text.split()])
        for text in texts
    ]
