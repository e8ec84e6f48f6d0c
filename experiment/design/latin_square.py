"""The Latin square: which frame appears in which condition in which list."""

from collections.abc import Iterator

from experiment.errors import DesignError


def check_shape(n_frames: int, n_conditions: int, n_lists: int, where: str = "") -> None:
    """Raise a DesignError if no Latin square has this shape.

    Args:
        n_frames: Frames of the square; must be a multiple of the number of lists.
        n_conditions: Conditions of the square; at most as many as lists.
        n_lists: Lists.
        where: The square's name, for the message.
    """
    if min(n_frames, n_conditions, n_lists) < 1:
        raise DesignError(
            f"{n_frames} frames, {n_conditions} conditions and {n_lists} lists cannot make a "
            "Latin square",
            where=where,
            expected="at least one of each",
        )
    if n_conditions > n_lists:
        raise DesignError(
            f"{n_conditions} conditions do not fit {n_lists} lists without showing a list the "
            "same frame twice",
            where=where,
            expected="at most as many conditions as lists",
            remedy=f"Set design.lists to {n_conditions} or more",
        )
    if n_frames % n_lists:
        below, above = n_frames - n_frames % n_lists, n_frames - n_frames % n_lists + n_lists
        raise DesignError(
            f"{n_frames} frames cannot be balanced over {n_lists} lists",
            where=where,
            expected="a number of frames that is a multiple of the number of lists",
            remedy=f"Use {f'{below} or {above}' if below else above} frames",
        )


def cells(n_frames: int, n_conditions: int, n_lists: int, list_: int) -> Iterator[tuple[int, int]]:
    """Yield the cells of one list: every (frame f, condition c) with ``(f - c) mod L == list_``.

    Each list gets ``n_frames / n_lists`` cells of every condition and no frame twice; over the
    lists, each frame stands once in every condition. With as many lists as conditions this is
    the classical Latin square of psycholinguistics.

    Raises:
        DesignError: The shape cannot be balanced.
    """
    check_shape(n_frames, n_conditions, n_lists)
    for frame in range(n_frames):
        condition = (frame - list_) % n_lists
        if condition < n_conditions:
            yield frame, condition
