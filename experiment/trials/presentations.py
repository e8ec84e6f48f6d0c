"""The ways of presenting a trial, by name."""

from collections.abc import Callable
from typing import Protocol, cast

from experiment.plugins import Registry
from experiment.records import Item, Trial

PRESENTATIONS = Registry(
    "presentation", {"sentence_pair": "experiment.trials.sentence_pair:options"}
)


class Presentation(Protocol):
    """Says which text a participant reads first and which second."""

    def __call__(self, trial: Trial, item: Item, render: Callable[[str], str]) -> tuple[str, str]:
        """Return the two texts of a trial."""


def load_presentation(name: str) -> Presentation:
    """Return the presentation a study names.

    Raises:
        UnknownNameError: There is no such presentation.
    """
    return cast(Presentation, PRESENTATIONS.load(name))
