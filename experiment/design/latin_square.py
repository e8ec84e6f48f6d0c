"""The Latin square: each frame's condition in each list, and the choice of targets."""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, combinations

from experiment.design.frames import Frame
from experiment.errors import DesignError

Words = tuple[str, ...]
_N_SHUFFLES = 30


class FrameOrderer:
    """Numbers the frames of each square in turn, keeping count of the words in each list.

    A frame's number decides which lists show it. Each square gets the best of several random
    numberings: the one with the fewest repetitions of words and word pairs within a list.

    Args:
        n_lists: The number of lists.
    """

    def __init__(self, n_lists: int) -> None:
        self._counts: list[Counter[Words]] = [Counter() for _ in range(n_lists)]

    def order(
        self, by_template: Sequence[Sequence[Frame]], n_conditions: int, rng: random.Random
    ) -> list[Frame]:
        """Return a square's frames in the order of their numbers; its templates alternate."""
        tries = [_shuffle_frames(by_template, rng) for _ in range(_N_SHUFFLES)]
        best = min(tries, key=lambda frames: self._count_repetitions(frames, n_conditions))
        for met, words in zip(self._counts, self._list_words(best, n_conditions), strict=True):
            met.update(words)
        return best

    def _count_repetitions(self, frames: Sequence[Frame], n_conditions: int) -> int:
        # The increase of the sum of squared counts, which is smallest for even counts.
        return sum(
            n * (2 * met[words] + n)
            for met, coming in zip(
                self._counts, self._list_words(frames, n_conditions), strict=True
            )
            for words, n in Counter(coming).items()
        )

    def _list_words(self, frames: Sequence[Frame], n_conditions: int) -> list[list[Words]]:
        """Return the words and word pairs that each list would get."""
        n_lists, recurring = len(self._counts), [_list_word_combinations(frame) for frame in frames]
        return [
            [
                words
                for number, _ in cells(len(frames), n_conditions, n_lists, list_)
                for words in recurring[number]
            ]
            for list_ in range(n_lists)
        ]


def check_shape(n_frames: int, n_conditions: int, n_lists: int, location: str = "") -> None:
    """Raise a DesignError if no Latin square has this shape.

    Args:
        n_frames: Frames of the square; must be a multiple of the number of lists.
        n_conditions: Conditions of the square; at most as many as lists.
        n_lists: Lists.
        location: The square's name, for the message.
    """
    if min(n_frames, n_conditions, n_lists) < 1:
        raise DesignError(
            f"{n_frames} frames, {n_conditions} conditions and {n_lists} lists cannot make a "
            "Latin square",
            where=location,
            expected="at least one of each",
        )
    if n_conditions > n_lists:
        raise DesignError(
            f"{n_conditions} conditions do not fit {n_lists} lists without showing a list the "
            "same frame twice",
            where=location,
            expected="at most as many conditions as lists",
            remedy=f"Set design.lists to {n_conditions} or more",
        )
    if n_frames % n_lists:
        below, above = n_frames - n_frames % n_lists, n_frames - n_frames % n_lists + n_lists
        raise DesignError(
            f"{n_frames} frames cannot be balanced over {n_lists} lists",
            where=location,
            expected="a number of frames that is a multiple of the number of lists",
            remedy=f"Use {f'{below} or {above}' if below else above} frames",
        )


def cells(n_frames: int, n_conditions: int, n_lists: int, list_: int) -> Iterator[tuple[int, int]]:
    """Yield the cells of one list: every (frame f, condition c) with ``(f - c) mod L == list_``.

    Each list gets ``n_frames / n_lists`` cells of every condition and no frame twice; over the
    lists, each frame occurs once in every condition. With as many lists as conditions this is the
    classical Latin square of psycholinguistics.

    Raises:
        DesignError: The shape cannot be balanced.
    """
    check_shape(n_frames, n_conditions, n_lists)
    for frame in range(n_frames):
        condition = (frame - list_) % n_lists
        if condition < n_conditions:
            yield frame, condition


def _list_word_combinations(frame: Frame) -> list[Words]:
    lemmas = sorted(frame.lemmas.values())
    return [*((lemma,) for lemma in lemmas), *combinations(lemmas, 2)]


def _shuffle_frames(by_template: Sequence[Sequence[Frame]], rng: random.Random) -> list[Frame]:
    shuffled = [rng.sample(frames, len(frames)) for frames in by_template]
    return list(chain.from_iterable(zip(*shuffled, strict=True)))


def choose_targets(
    conditions: Sequence[int], n_conditions: int, catch_trials: int, list_: int, location: str = ""
) -> set[int]:
    """Return which of a square's items in one list are not catch trials.

    The conditions rotate from list to list, so that over the lists each is represented equally
    often (or once more than another, if the numbers do not divide evenly).

    Args:
        conditions: The condition (from 0) of each of the square's items in this list.
        n_conditions: The square's conditions.
        catch_trials: How many of the items are catch trials.
        list_: The list's number, from 0.
        location: The square's name, for the message.

    Raises:
        DesignError: There are fewer items than catch trials.
    """
    n_kept = len(conditions) - catch_trials
    if n_kept < 0:
        raise DesignError(
            f"{catch_trials} catch trials are asked for, but the square gives each list only "
            f"{len(conditions)} items",
            where=location,
            expected=f"at most {len(conditions)} catch_trials",
        )
    n_wanted = Counter((list_ * n_kept + turn) % n_conditions for turn in range(n_kept))
    targets = set()
    for index, condition in enumerate(conditions):
        if n_wanted[condition]:
            n_wanted[condition] -= 1
            targets.add(index)
    return targets
