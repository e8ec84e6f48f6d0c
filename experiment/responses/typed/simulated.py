"""What simulated participants type."""

import random
from collections.abc import Sequence

from experiment.responses.base import Known
from experiment.responses.responders import Responder, Typist
from experiment.responses.typed.text import RIGHT
from experiment.seeds import generator

# What they type where no answer is accepted; the first word of a frame's own order is typed most
# often, the second half as often, the third a third as often, and so on.
WORDS = (
    "house", "water", "book", "friend", "street", "morning", "garden", "letter", "music", "table",
)  # fmt: skip


def simulate_text(
    responder: Responder,
    known: Known,
    accepted: Sequence[str],
    words: Sequence[str],
    *,
    gap: int,
    may_pass: bool,
    rng: random.Random,
) -> str:
    """Return what a simulated participant types into a gap; empty for no answer.

    Args:
        responder: The kind of participant.
        known: What the simulation knows of the trial.
        accepted: The gap's right answers.
        words: The words that the study allows.
        gap: The gap's number, from 0.
        may_pass: Whether participants may say that they cannot think of an answer.
        rng: The source of randomness.
    """
    if isinstance(responder, Typist):
        return responder.type_word(rng.choice(words), rng)
    item = known.item
    side = responder.choose(item.kind, RIGHT, known.accuracy, rng)
    if accepted and side is RIGHT:
        return accepted[0]
    words = list(words)
    keys = (item.construction, item.frame, *([str(gap)] if gap else []))
    generator(0, "typed words", *keys).shuffle(words)
    if side is not RIGHT and not accepted:
        return "" if may_pass else rng.choice(words)
    weights = [1 / place for place in range(1, len(words) + 1)]
    [text] = rng.choices(words, weights)
    return text
