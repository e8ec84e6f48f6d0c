"""The exclusion rules that a new study.toml proposes."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CatchTrials:
    """A construction whose items are all catch trials.

    Attributes:
        name: The construction.
        trials: How many trials of it each list has.
        both: Whether its items have two versions.
    """

    name: str
    trials: int
    both: bool


def rules_of_errors(catch: Sequence[CatchTrials]) -> Iterator[str]:
    """Yield a rule that counts errors on catch trials, or a commented example of one."""
    for construction in catch:
        yield (
            f"# Participants with more errors than this on the {construction.trials} catch trials "
            "are excluded."
        )
        yield "[[exclusion]]"
        yield 'rule = "max_errors"'
        yield f"construction = {json.dumps(construction.name, ensure_ascii=False)}"
        yield 'kind = "catch"'
        yield f"max_errors = {max(min(1, construction.trials - 1), construction.trials // 4)}"
        yield ""
    if not catch:
        yield "# No list has catch trials, so no one is excluded. With catch trials, for example:"
        yield "# [[exclusion]]"
        yield '# rule = "max_errors"'
        yield '# kind = "catch"'
        yield "# max_errors = 1"
        yield ""


def no_rule() -> Iterator[str]:
    """Yield a comment that no participant is excluded, and an example of a rule."""
    yield "# No one is excluded, because no answer is right or wrong. You could write, for example:"
    yield "# [[exclusion]]"
    yield '# rule = "same_side" # the same answer'
    yield "# max_share = 0.9"
    yield ""
