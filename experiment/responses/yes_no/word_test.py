"""The score of a yes/no word test, by the formula of LexTALE.

Lemhöfer & Broersma (2012), Behavior Research Methods 44, 325-343, doi:10.3758/s13428-011-0146-0:
the mean of the percentage of words that are accepted and the percentage of nonwords that are
rejected. Somebody who always gives the same answer gets 50, whatever the share of words.
"""

from collections.abc import Iterable
from statistics import fmean

from experiment.records import PAIR, Side
from experiment.tables.column import Column


def score_words(answers: Iterable[tuple[Side, bool]]) -> float | None:
    """Return the score, from 0 to 100; None if there are no words or no nonwords.

    Args:
        answers: The expected answer to each string (the first side is yes), and whether it was
            given.
    """
    given: dict[Side, list[bool]] = {side: [] for side in PAIR}
    for expected, right in answers:
        given[expected].append(right)
    if not all(given.values()):
        return None
    return fmean(100 * fmean(right) for right in given.values())


def make_score_column(name: str) -> Column:
    """Return the column of participants for a score with this name."""
    return Column(
        name,
        "number",
        "the score of a yes/no word test: the mean of the percentage of the trials with the "
        "expected answer yes that are right, and of those with the expected answer no (Lemhöfer & "
        "Broersma 2012)",
        unit="%",
        optional=True,
        absent="",
    )
