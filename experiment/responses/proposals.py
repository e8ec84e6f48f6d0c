"""What a new study of a response type is given: its words, parameters and exclusion rules."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from pydantic import BaseModel, ConfigDict

from experiment.materials.render import has_picture
from experiment.records import Item
from experiment.responses.answer import Gives

# The words and the instructions page of a new study whose contexts all have a picture.
_PICTURE_PAGES = ("picture", "instructions_picture")


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


def propose_error_rules(catch: Sequence[CatchTrials]) -> Iterator[str]:
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


def propose_no_rule(*example: str) -> Iterator[str]:
    """Yield a comment that no participant is excluded, and an example of a rule.

    Args:
        example: The lines of the rule, if not that about the same answer.
    """
    yield "# No one is excluded, because no answer is right or wrong. You could write, for example:"
    yield "# [[exclusion]]"
    for line in example or ('rule = "same_side" # the same answer', "max_share = 0.9"):
        yield f"# {line}"
    yield ""


class Proposals(BaseModel):
    """How every response type makes a table of items a new study.

    Attributes:
        asked: The heading in ``words.toml`` with the words of a new study of this type.
        instructions: The instructions page that a new study gets.
        comments: The comments on the parameters in a new study's study.toml, by name.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    gives: ClassVar[frozenset[Gives]]
    has_context_above: ClassVar[bool]
    asked: ClassVar[str] = "pair"
    instructions: ClassVar[str] = "instructions"
    comments: ClassVar[Mapping[str, str]] = {}

    @classmethod
    def suits(cls, items: Sequence[Item], against: Sequence[str]) -> bool:
        """Return whether this type suits a table's items, if their author names no type.

        Args:
            items: The items.
            against: The columns of the other options, if there are two or more.
        """
        return False

    def asked_about(self, items: Sequence[Item]) -> tuple[str, str]:
        """Return a new study's heading in ``words.toml`` and its instructions page."""
        pictured = self.has_context_above and all(has_picture(item.context) for item in items)
        return _PICTURE_PAGES if pictured else (self.asked, self.instructions)

    @classmethod
    def propose_parameters(
        cls, items: Sequence[Item], against: Sequence[str], ends: tuple[str, str]
    ) -> tuple[dict[str, object], str]:
        """Return the parameters of a new study, and a sentence that explains the decision.

        Args:
            items: The items.
            against: The columns of the other options, if there are two or more.
            ends: The words for the two ends of a scale, in the study's language.
        """
        return {}, ""

    def compared_regions(self, items: Sequence[Item]) -> tuple[int, ...]:
        """Return the regions that a new study compares, counted from the critical one."""
        return ()

    def proposed_rules(self, catch: Sequence[CatchTrials]) -> Iterator[str]:
        """Yield the lines about exclusion for a new study.toml.

        Args:
            catch: The constructions whose items are all catch trials.
        """
        yield from propose_error_rules(catch) if Gives.RIGHT in self.gives else propose_no_rule()
