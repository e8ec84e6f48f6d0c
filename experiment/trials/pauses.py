"""Pages between trials: breaks, and the first page of a block."""

from collections.abc import Iterator, Sequence

from experiment.studies.study import Study


def breaks_before(study: Study, blocks: Sequence[str]) -> Iterator[int]:
    """Yield the positions, from 1, of the trials before which a break comes.

    Args:
        study: The study.
        blocks: The block of each trial of a session, in order.
    """
    every, between = study.trial.break_every, study.design.order.breaks
    for position, begins in enumerate(_begins(blocks), start=1):
        is_due = every > 0 and (position - 1) % every == 0
        if position > 1 and (is_due or (between and begins)):
            yield position


def pages_before(study: Study, blocks: Sequence[str]) -> dict[int, str]:
    """Return the name of the text that comes before each position that has one."""
    pages = study.design.order.pages
    return {
        position: pages[block]
        for position, (block, begins) in enumerate(
            zip(blocks, _begins(blocks), strict=True), start=1
        )
        if begins and block in pages
    }


def _begins(blocks: Sequence[str]) -> list[bool]:
    """Return of each trial whether its block begins with it."""
    return [not n or blocks[n - 1] != block for n, block in enumerate(blocks)]
