"""The registry of readings."""

from typing import cast

from experiment.plugins import Registry
from experiment.takers.readings.base import Reading

READINGS = Registry(
    "reading",
    {
        "sentence": "experiment.takers.readings.sentence:Sentence",
        "difference": "experiment.takers.readings.difference:Difference",
        "after_instructions": "experiment.takers.readings.sentence:AfterInstructions",
        "acceptability": "experiment.takers.readings.acceptability:Acceptability",
        "forced_choice": "experiment.takers.readings.forced_choice:ForcedChoice",
        "rating": "experiment.takers.readings.rating:Rating",
    },
    group="parallax.readings",
    requires=("name", "forms", "asks", "weights"),
)


def load_reading(name: str) -> Reading:
    """Return a reading by name.

    Args:
        name: A registered name, or ``"module:Class"`` for the user's own reading.

    Raises:
        UnknownNameError: No reading has this name.
        PluginError: The class cannot be imported, or is not a reading.
    """
    return cast(type[Reading], READINGS.load(name))()
