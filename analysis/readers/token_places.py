"""Tokens in a table of scores: which are no piece of a text, and which have no score."""

import re
from collections.abc import Sequence
from pathlib import Path

from analysis.errors import AnalysisError
from experiment.materials.formats.delimited import MISSING_NUMBERS

# Special tokens outside the text: <s>, </s>, <|endoftext|>, [CLS]. An unknown word's is within it.
_SPECIAL = re.compile(r"(?!<unk>|\[unk\])(?:<\|?/?[\w ]+\|?>|\[[a-z]+\])", re.IGNORECASE)
_TWO = 2


def is_special(token: str) -> bool:
    """Return whether a token is no piece of a text, such as <eos>."""
    return bool(_SPECIAL.fullmatch(token))


def strip_boundary_marker(token: str) -> str:
    """Return a token without the tokenizer's markers for word boundaries."""
    return re.sub(r"^##|^[\u2581\u0120]|</w>$", "", token)


def refuse_moved_scores(texts: Sequence[Sequence[str]], path: Path) -> None:
    """Raise if every text lacks a score where only scores that moved by a row lack it.

    Nothing precedes a first token, so many programs give it a score of 0 or none. After a move,
    the second token of every text has it, or the last one of the text before.

    Args:
        texts: The cells with the scores of each text's tokens, in their order.
        path: The file.

    Raises:
        AnalysisError: The scores have moved.
    """
    if len(texts) < _TWO or min(map(len, texts)) <= _TWO:
        return
    second_is_certain = all(_is_zero(cells[1]) for cells in texts)
    second_is_missing = all(_is_missing(cells[1]) and not _is_missing(cells[0]) for cells in texts)
    last_is_certain = all(
        _is_zero(cells[-1]) and not (_is_zero(cells[0]) or _is_missing(cells[0])) for cells in texts
    )
    if not (second_is_certain or second_is_missing or last_is_certain):
        return
    place = "last" if last_is_certain else "second"
    score = "no score" if second_is_missing else "a score of 0, which is a probability of 1"
    raise AnalysisError(
        f"the {place} token of each of the {len(texts):,} texts has {score}: the scores have "
        "probably moved by a row, away from their tokens",
        where=str(path),
        expected="a score of every token but the first, to which some models give 0 or none",
        remedy="Compare the columns of tokens and of scores with the program's output; where a "
        "0 is a rounded score, write more digits",
    )


def _is_missing(cell: str) -> bool:
    return cell.lower() in MISSING_NUMBERS


def _is_zero(cell: str) -> bool:
    try:
        return float(cell) == 0
    except ValueError:
        return False
