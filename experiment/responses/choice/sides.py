"""Where two options stand."""

from experiment.records import Side


def on_sides(good: str, other: str, good_side: Side) -> tuple[str, str]:
    """Return the first and the second of two options, the good one where it belongs."""
    return (good, other) if good_side is Side.FIRST else (other, good)
