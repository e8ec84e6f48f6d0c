"""Sample distractors for human judging: which of two words continues the sentence."""

import csv
from collections.abc import Sequence
from pathlib import Path

from analysis.maze.distractors import Use
from experiment.seeds import generator
from experiment.tables.atomic_write import atomic_write

DRAWN = 50
_SIDES = ("first", "second")


def write_judging(uses: Sequence[Use], seed: int, out: Path) -> int:
    """Write a table to fill in, and its key, and return the number of pairs.

    Args:
        uses: Every distractor with its word.
        seed: The seed of the sample and of the sides.
        out: The table (.tsv); the key has ``.key`` before the suffix.
    """
    rng = generator(seed, "maze judging")
    drawn = rng.sample(list(uses), min(DRAWN, len(uses)))
    rows, key = [], []
    for number, use in enumerate(drawn, start=1):
        right = rng.randrange(len(_SIDES))
        pair = [use.distractor, use.distractor]
        pair[right] = use.sentence.words[use.position]
        rows.append([number, use.sentence.context(use.position), *pair, ""])
        key.append([number, use.sentence.place, use.position + 1, _SIDES[right]])
    _table(out, ["number", "beginning", *_SIDES, "goes_on"], rows)
    _table(out.with_suffix(f".key{out.suffix}"), ["number", "place", "position", "goes_on"], key)
    return len(rows)


def _table(out: Path, header: list[str], rows: Sequence[Sequence[object]]) -> None:
    with atomic_write(out) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
