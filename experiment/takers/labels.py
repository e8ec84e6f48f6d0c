"""By what an option, or a point of a scale, is named in a prompt."""

from experiment.plugins import unknown_name
from experiment.records import SIDES

# As many as a trial can have answers.
LABEL_SETS: dict[str, tuple[str, ...]] = {
    "numbers": tuple("123456789"),
    "letters": tuple("ABCDEFGHI"),
    "late_letters": tuple("RSTUVWXYZ"),
}
assert all(len(labels) == len(SIDES) for labels in LABEL_SETS.values())


def labels_of(name: str, n: int) -> tuple[str, ...]:
    """Return the first ``n`` labels of a set.

    Raises:
        UnknownNameError: There is no such set.
    """
    if name not in LABEL_SETS:
        raise unknown_name("set of labels", name, LABEL_SETS)
    return LABEL_SETS[name][:n]
