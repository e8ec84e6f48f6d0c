"""Which items of a square stay targets when most of them are catch trials."""

from collections import Counter
from collections.abc import Sequence

from experiment.errors import DesignError


def targets_among(
    conditions: Sequence[int], n_conditions: int, catch_trials: int, list_: int, where: str = ""
) -> set[int]:
    """Return which of a square's items in one list are no catch trials.

    The conditions take turns from list to list, so that over the lists each is represented
    equally often (or once more than another, where the numbers do not divide).

    Args:
        conditions: The condition (from 0) of each of the square's items in this list.
        n_conditions: The square's conditions.
        catch_trials: How many of the items are catch trials.
        list_: The list's number, from 0.
        where: The square's name, for the message.

    Raises:
        DesignError: There are fewer items than catch trials.
    """
    n_kept = len(conditions) - catch_trials
    if n_kept < 0:
        raise DesignError(
            f"{catch_trials} catch trials are asked for, but the square gives each list only "
            f"{len(conditions)} items",
            where=where,
            expected=f"at most {len(conditions)} catch_trials",
        )
    wanted = Counter((list_ * n_kept + turn) % n_conditions for turn in range(n_kept))
    kept = set()
    for index, condition in enumerate(conditions):
        if wanted[condition]:
            wanted[condition] -= 1
            kept.add(index)
    return kept
