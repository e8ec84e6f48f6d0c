"""Phrasings of sampled answers, each with the label that a person reads in it."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from lm.answering.labels import LabelReading, read_label

FOLDER = Path(__file__).parent
_OPTIONS = ("The author that the guards like laughs.", "The author that the guards like laugh.")
_RATED = "The author that the guards like laughs."


class Phrasing(NamedTuple):
    """A text, the labels of its prompt, and the label or the reason for none, decided by hand."""

    text: str
    cut: bool
    labels: tuple[str, ...]
    prompt: str
    value: str

    def read(self) -> LabelReading:
        """Return what the grammar reads."""
        return read_label(self.text, self.labels, self.prompt, cut=self.cut)


def phrasings(half: str) -> Iterator[Phrasing]:
    """Yield the phrasings of one half: seen (while the grammar was written) or held."""
    lines = (FOLDER / f"phrasings_{half}.txt").read_text("utf-8").splitlines()
    for line in lines[1:]:
        named, value, shown = line.split("|", 2)
        text = shown.replace("∅", "").replace("⏎", "\n").replace("␣", " ")
        yes_no, _, letters = named.rpartition(":")
        if "-" in letters:
            labels = tuple(map(str, range(1, int(letters[-1]) + 1)))
            prompt = f"{_RATED}\nAnswer:"
        else:
            labels = tuple(letters)
            options = ("yes", "no") if yes_no else _OPTIONS
            lines_ = [f"{label}. {text_}" for label, text_ in zip(labels, options, strict=False)]
            prompt = "\n".join([*([_RATED] if yes_no else []), *lines_, "Answer:"])
        yield Phrasing(text.replace("✂", ""), "✂" in text, labels, prompt, value)
