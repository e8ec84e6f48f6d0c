"""The interface of exclusion rules, and planned studies to test rules on."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from pydantic import BaseModel, ConfigDict

from experiment.errors import ParallaxError, StudyError
from experiment.exclusion.answered import Assessment
from experiment.records import Item, Judgment, Kind
from experiment.responses.base import Arrangement, Gives, Judged, ResponseType
from experiment.studies.study import Study


class ExclusionRule(Protocol):
    """An exclusion rule: a pydantic model of its parameters that judges finished participants.

    A plug-in must provide only this method. The other members of ``BaseRule`` are optional; the
    functions of ``rules.py`` supply defaults for a rule that lacks them.
    """

    def judge(self, judgments: Sequence[Judgment]) -> Assessment:
        """Return whether the rule keeps the participant, and the evidence in words.

        The decision is None if it cannot be made, which excludes nobody.

        Args:
            judgments: The participant's judgments, one for each trial; Parallax passes an
                ``Answered``, which also has the questionnaire and the other participants.

        Raises:
            StudyError: The rule needs data that these judgments lack.
        """


class ListedItem(Protocol):
    """An item on a list, with its kind there."""

    @property
    def item(self) -> Item:
        """The item."""

    @property
    def kind(self) -> Kind:
        """The item's kind in this list: target, filler or catch."""


@dataclass(frozen=True, slots=True)
class PlannedTrial:
    """A trial of a list's first participant.

    Attributes:
        item: The item.
        shown: The trial's arrangement on the screen.
        session_type: The response type of the whole session.
    """

    item: Item
    shown: Arrangement
    session_type: ResponseType

    @property
    def response(self) -> ResponseType:
        """The response type of this trial."""
        return self.session_type.of_item(self.item)

    @property
    def judged(self) -> Judged:
        """The evaluation of an error-free answer to this trial."""
        return self.session_type.judged(self.shown, self.session_type.faultless(self.shown))


@dataclass(frozen=True, slots=True)
class PlannedStudy:
    """A study before any participant has taken part.

    Attributes:
        study: The study.
        items: The study's items; empty if they could not be read.
        lists: The study's lists; empty if they could not be built.
        session_type: The response type of the sessions; None if unknown.
        arranged: Returns the arrangement of each trial of a list, by the list's number.
    """

    study: Study
    items: Sequence[Item]
    lists: Sequence[Sequence[ListedItem]]
    session_type: ResponseType | None
    arranged: Callable[[int], Sequence[Arrangement]]

    @property
    def longest(self) -> int:
        """The number of trials of the longest list."""
        return max(map(len, self.lists), default=0)

    def trials(self, counts: Callable[[ListedItem], bool]) -> list[list[PlannedTrial]]:
        """Return the trials of each list that count for a rule.

        Args:
            counts: Whether an item of a list counts.

        Raises:
            ParallaxError: An item cannot be shown.
        """
        response = self.session_type
        if response is None:
            return []
        return [
            [
                PlannedTrial(entry.item, shown, response)
                for entry, shown in zip(entries, self.arranged(number), strict=True)
                if counts(entry)
            ]
            for number, entries in enumerate(self.lists)
        ]


class BaseRule(BaseModel):
    """Base class of the built-in rules; plug-ins may inherit from it.

    Attributes:
        name: The rule's name in study.toml.
        reason: The reason for an exclusion, in words that follow "excluded for".
        setting_words: Wording of the parameters whose names are not clear enough.
        between_parts: The separator between the parts of a combined rule in words.
        needs: What the answers must provide; None if any answers will do.
        needs_everyone: Whether the rule compares all participants, and so waits until all have
            finished.
        needs_certificate: Whether the rule reads the session's certificate.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    name: ClassVar[str]
    reason: ClassVar[str]
    setting_words: ClassVar[Mapping[str, str]] = {}
    between_parts: ClassVar[str] = "; "
    needs: ClassVar[Gives | None] = None
    needs_everyone: ClassVar[bool] = False
    needs_certificate: ClassVar[bool] = False

    def judge(self, judgments: Sequence[Judgment]) -> Assessment:
        """Return whether the rule keeps the participant, and the evidence: see ExclusionRule."""
        raise NotImplementedError

    @property
    def parts(self) -> tuple[ExclusionRule, ...]:
        """The rules that this rule combines; empty for a simple rule."""
        return ()

    @property
    def reads_targets(self) -> bool:
        """Whether the rule's evidence depends on the answers to targets, or on their times.

        Such evidence reveals results ("3 errors on the 4 trials"), so a blind run must not show it:
        see ``rules.blind_evidence``. Devices and the questionnaire reveal no results.
        """
        return False

    def unknown_names(self, planned: PlannedStudy) -> Iterator[ParallaxError]:
        """Yield an error for each name in the rule that the study lacks.

        The location (``where``) of each error is the rule's key, or empty for the whole rule.
        """
        yield from ()

    def powerless(self, planned: PlannedStudy) -> Iterator[ParallaxError]:
        """Yield why the rule can never exclude anybody, whatever the answers: see ``never``."""
        yield from ()

    def flaws(self, planned: PlannedStudy) -> Iterator[ParallaxError]:
        """Yield the rule's faults in a study, each located at one of the rule's keys."""
        yield from list(self.unknown_names(planned)) or self.powerless(planned)


def never(reason: str, key: str = "rule", expected: str = "") -> StudyError:
    """Return the error that a rule can never exclude anybody.

    Args:
        reason: Why it cannot.
        key: The rule's key at fault.
        expected: A value that could exclude somebody; empty if no value of the key can.
    """
    return StudyError(f"the rule can never exclude anyone: {reason}", where=key, expected=expected)
