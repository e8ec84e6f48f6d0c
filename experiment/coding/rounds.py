"""What a coder codes and in which order, and the category that follows from all codes."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

from experiment.seeds import generator


class Round(IntEnum):
    """Why a coder codes an answer."""

    TRAINING = 0
    FIRST = 1
    AGAIN = 2  # an answer that the coder has coded before, without a sign


def order_for_coder(
    answers: Iterable[str], seed: int, coder: int | str, repeated: float
) -> list[tuple[str, Round]]:
    """Return the order in which a coder codes answers, and which of them come a second time.

    Answers come in a random order, a different one for each coder. A share of the first half comes
    again, half of the order later. An answer that is added later does not change the order of the
    others.

    Args:
        answers: The answers' keys.
        seed: The run's seed.
        coder: The coder's number or name.
        repeated: The share of answers that come twice; at most one half.
    """
    places: list[tuple[float, str, Round]] = []
    for answer in answers:
        rng = generator(seed, "coding", coder, answer)
        place, draw = rng.random(), rng.random()
        places.append((place, answer, Round.FIRST))
        if place < 0.5 and draw < 2 * repeated:
            places.append((place + 0.5, answer, Round.AGAIN))
    return [(answer, round_) for _, answer, round_ in sorted(places)]


@dataclass(frozen=True, slots=True)
class Codes:
    """The categories that one answer received; empty where there is none.

    Attributes:
        listed: By the study's list of answers.
        first: By the first coder.
        second: By the second coder.
        first_again: By the first coder at the second time.
        second_again: By the second coder at the second time.
        decided: By the person who decides disagreements.
        proposed: By a model, as an opinion that never decides.
        proposed_by: The model.
    """

    listed: str = ""
    first: str = ""
    second: str = ""
    first_again: str = ""
    second_again: str = ""
    decided: str = ""
    proposed: str = ""
    proposed_by: str = ""

    @property
    def is_disputed(self) -> bool:
        """Whether the two coders disagree."""
        return bool(self.first and self.second) and self.first != self.second

    @property
    def category(self) -> str:
        """The answer's category; empty while a code or a decision is missing."""
        if self.listed:
            return self.listed
        if self.is_disputed:
            return self.decided
        return self.first if self.second else ""

    @property
    def columns(self) -> dict[str, str]:
        """The values of the exported columns."""
        return {
            "code": self.category,
            "listed": self.listed,
            "coder_1": self.first,
            "coder_2": self.second,
            "coder_1_again": self.first_again,
            "coder_2_again": self.second_again,
            "decided": self.decided,
            "proposed": self.proposed,
            "proposed_by": self.proposed_by,
        }
