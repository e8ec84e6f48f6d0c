"""The accepted answers of a typed trial: how they are stored, and which answers are among them."""

from collections.abc import Sequence
from urllib.parse import quote, unquote

from experiment.coding.normalise import normalise
from experiment.records import Side
from experiment.responses.typed.text import GAP_SEPARATOR, RIGHT, WRONG

ANSWER_SEPARATOR = "|"
# Between the answers of several gaps, in an item's cell and in a stored trial.
OF_NEXT_GAP = ";"
MOST_ACCEPTED = 100


def encode(of_gaps: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return the answers of each gap in a row, encoded so that none has a space or semicolon."""
    encoded: list[str] = []
    for number, answers in enumerate(of_gaps):
        encoded += [OF_NEXT_GAP] * (number > 0)
        encoded += [quote(answer, safe="") for answer in answers]
    return tuple(encoded)


def decode(encoded: Sequence[str]) -> list[list[str]]:
    """Return the answers of each gap; of a trial without answers, one gap without any."""
    of_gaps: list[list[str]] = [[]]
    for answer in encoded:
        if answer == OF_NEXT_GAP:
            of_gaps.append([])
        else:
            of_gaps[-1].append(unquote(answer))
    return of_gaps


def find_side(text: str, encoded: Sequence[str]) -> Side | None:
    """Return the side of an answer; None where no answer is expected.

    Args:
        text: The answer as it was typed, with a separator between the texts of several gaps.
        encoded: The accepted answers as in a stored trial. A gap without any accepts every text.
    """
    if not encoded:
        return None
    of_gaps = decode(encoded)
    texts = text.split(GAP_SEPARATOR) if len(of_gaps) > 1 else [text]
    is_accepted = len(texts) == len(of_gaps) and all(
        not answers or normalise(typed) in map(normalise, answers)
        for typed, answers in zip(texts, of_gaps, strict=True)
    )
    return RIGHT if is_accepted else WRONG
