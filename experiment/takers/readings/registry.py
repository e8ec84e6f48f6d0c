"""The readings by name."""

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
    """Return a reading.

    Args:
        name: A registered name, or ``"module:Class"`` for one of the user's own.

    Raises:
        UnknownNameError: There is no reading of that name.
        PluginError: It cannot be imported, or is none.
    """
    return cast(type[Reading], READINGS.load(name))()
