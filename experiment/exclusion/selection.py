"""Which trials a rule looks at."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from experiment.errors import StudyError
from experiment.records import Judgment, Kind


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


_Name = Annotated[str, Field(min_length=1)]
# One name, or a list of which any will do.
Names = Annotated[tuple[_Name, ...], BeforeValidator(_as_list)]


class Selection(BaseModel):
    """The trials that a rule counts: all of them, or those that fit every key given."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    construction: Names = Field(default=(), description="constructions whose trials count")
    condition: Names = Field(default=(), description="conditions whose trials count")
    kind: Annotated[tuple[Kind, ...], BeforeValidator(_as_list)] = Field(
        default=(), description="kinds that count: target, filler, catch"
    )
    where: dict[str, Names] = Field(
        default={}, description="the study's own columns, and the values that count"
    )

    def selects(
        self, construction: str, condition: str, kind: Kind, own: Sequence[tuple[str, str]]
    ) -> bool:
        """Return whether a trial counts."""
        columns = dict(own)
        return (
            construction in (self.construction or (construction,))
            and condition in (self.condition or (condition,))
            and kind in (self.kind or (kind,))
            and all(columns.get(name) in values for name, values in self.where.items())
        )

    def selected(self, judgments: Sequence[Judgment], rule: str) -> list[Judgment]:
        """Return the judgments that count.

        Args:
            judgments: All judgments of a participant.
            rule: The rule's name, for the message.

        Raises:
            StudyError: No judgment counts.
        """
        counted = [
            one
            for one in judgments
            if self.selects(one.construction, one.condition, one.kind, one.extra)
        ]
        if not counted:
            seen = sorted({judgment.construction for judgment in judgments})
            what = (
                f'counts errors on "{self.construction[0]}"'
                if len(self.construction) == 1 and self._only_constructions
                else f"counts the {self.trials}"
            )
            raise StudyError(
                f'the exclusion rule "{rule}" {what}, but the participant judged none of them',
                where="study.toml, exclusion",
                expected=f"one of: {', '.join(seen)}" if self._only_constructions else "",
            )
        return counted

    def right(self, judgments: Sequence[Judgment], rule: str) -> list[bool]:
        """Return whether each judgment that counts was right.

        Those of trials that have no expected answer are left out.

        Raises:
            StudyError: No judgment counts, or none is right or wrong.
        """
        known = (judgment.chose_good for judgment in self.selected(judgments, rule))
        counted = [good for good in known if good is not None]
        if not counted:
            raise StudyError(
                f'the exclusion rule "{rule}" counts correct answers, but none of these answers is '
                "right or wrong",
                where="study.toml, exclusion",
                expected='the rule "rating_gap", or one of times, sides or the questionnaire',
            )
        return counted

    @property
    def _only_constructions(self) -> bool:
        return not (self.condition or self.kind or self.where)

    @property
    def trials(self) -> str:
        """What is selected in words, such as "catch trials of simple_agreement"."""
        words = [f"{' or '.join(self.kind)} trials" if self.kind else "trials"]
        if self.construction:
            words.append(f"of {' or '.join(self.construction)}")
        if self.condition:
            words.append(f"in the condition {' or '.join(self.condition)}")
        words += [f"with {name} = {' or '.join(values)}" for name, values in self.where.items()]
        return " ".join(words)
