"""The judgments that a rule counts."""

from collections.abc import Sequence

from experiment.errors import StudyError
from experiment.records import Judgment


def judgments_of(construction: str, judgments: Sequence[Judgment], rule: str) -> list[Judgment]:
    """Return the judgments of one construction, targets, fillers and catch trials alike.

    Args:
        construction: The construction whose trials count.
        judgments: All judgments of a participant.
        rule: The rule's name, for the message.

    Raises:
        StudyError: No trial is of the construction.
    """
    counted = [judgment for judgment in judgments if judgment.construction == construction]
    if not counted:
        seen = sorted({judgment.construction for judgment in judgments})
        raise StudyError(
            f'the exclusion rule "{rule}" counts errors on "{construction}", of which the '
            "participant judged nothing",
            where="study.toml, exclusion",
            expected=f"one of: {', '.join(seen)}",
        )
    return counted
