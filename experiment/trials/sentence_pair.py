"""Two whole sentences, one above the other."""

from collections.abc import Callable

from experiment.records import Item, Side, Trial


def options(trial: Trial, item: Item, render: Callable[[str], str]) -> tuple[str, str]:
    """Return the first and the second sentence as a participant reads them.

    Args:
        trial: The trial; it says where the good option stands.
        item: The trial's item; a context is read as the beginning of both sentences.
        render: From plain words to what the screen shows.
    """
    good, other = (
        render(f"{item.context} {option}".strip()) for option in (item.good, item.alternative)
    )
    return (good, other) if trial.good_side is Side.FIRST else (other, good)
