"""What a report says of a study's lists: their number, trials and places."""

from collections.abc import Sequence

from analysis.tables.provenance import counted
from experiment.studies.design import Design


def lists_in_words(design: Design) -> str:
    """Return a sentence about the lists; quotas may make some of them smaller."""
    numbers = range(design.n_lists)
    trials, places = map(design.trials, numbers), map(design.places, numbers)
    return (
        f"The study has {counted(design.n_lists, 'list')} of {_span(sorted({*trials}), 'trial')} "
        f"with {_span(sorted({*places}), 'place')} each."
    )


def _span(numbers: Sequence[int], noun: str) -> str:
    before = f"{numbers[0]:,} to " if len(numbers) > 1 else ""
    return before + counted(numbers[-1], noun)
