"""What an exclusion rule answers for itself: its words, its power, what a blind run may show."""

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
    """A pydantic model of its own parameters that judges one participant who finished.

    This is all that a plug-in must have. Whatever else ``BaseRule`` has is optional, and functions
    of ``rules.py`` know what to assume where a rule lacks it.
    """

    def judge(self, judgments: Sequence[Judgment]) -> Assessment:
        """Return whether the participant is kept, and the figures that say so in words.

        None in place of a truth value says that it cannot be decided, which excludes nobody.

        Args:
            judgments: The participant's judgments, one for each trial; an ``Answered``, which
                has the questionnaire and the other participants as well.

        Raises:
            StudyError: The rule counts what these judgments do not have.
        """


class ListedItem(Protocol):
    """An item of a list, with its kind there."""

    @property
    def item(self) -> Item:
        """The item."""

    @property
    def kind(self) -> Kind:
        """What it is for in this list."""


@dataclass(frozen=True, slots=True)
class PlannedTrial:
    """A trial as the first participant of its list has it.

    Attributes:
        item: The item.
        shown: What is on its screen.
        session_type: The type of response of the whole session.
    """

    item: Item
    shown: Arrangement
    session_type: ResponseType

    @property
    def response(self) -> ResponseType:
        """The type of response of this trial."""
        return self.session_type.of_item(self.item)

    @property
    def judged(self) -> Judged:
        """What a faultless answer says."""
        return self.session_type.judged(self.shown, self.session_type.faultless(self.shown))


@dataclass(frozen=True, slots=True)
class PlannedStudy:
    """A study before anybody takes part in it.

    Attributes:
        study: The study.
        items: Its items; empty where they could not be read.
        lists: Its lists; empty where they could not be built.
        session_type: The type of response of its sessions; None where it is unknown.
        arranged: Returns what is on the screen in each trial of a list, by the list's number.
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
        """Return the trials of each list that count.

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
    """A rule of our own; those of plug-ins may inherit from it.

    Attributes:
        name: As study.toml names it.
        reason: Why it excludes, in words that follow "excluded for".
        setting_words: Its parameters in words, where these are not the parameters' names.
        between_parts: What stands between the rules that it is made of, where it is told in words.
        needs: What it needs answers to tell; None where any will do.
        needs_everyone: Whether it compares all participants, so that it waits for the last of them.
        needs_certificate: Whether it reads how plausible the session is.
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
        """Return whether the participant is kept, and the evidence: see ``ExclusionRule``."""
        raise NotImplementedError

    @property
    def parts(self) -> tuple[ExclusionRule, ...]:
        """The rules that it is made of."""
        return ()

    @property
    def reads_targets(self) -> bool:
        """Whether its evidence depends on the answers to targets, or on their times.

        Such evidence tells of the results ("3 errors on the 4 trials"), so a blind run must not
        show it: see ``rules.blind_evidence``. Devices and the questionnaire tell nothing of them.
        """
        return False

    def unknown_names(self, planned: PlannedStudy) -> Iterator[ParallaxError]:
        """Yield what the rule names and the study does not have.

        The place (``where``) of each error is the rule's own key, or empty for the whole rule.
        """
        yield from ()

    def powerless(self, planned: PlannedStudy) -> Iterator[ParallaxError]:
        """Yield why the rule can exclude nobody, whatever participants answer: see ``never``."""
        yield from ()

    def flaws(self, planned: PlannedStudy) -> Iterator[ParallaxError]:
        """Yield what is wrong with the rule in a study, each with the rule's key as its place."""
        yield from list(self.unknown_names(planned)) or self.powerless(planned)


def never(reason: str, key: str = "rule", expected: str = "") -> StudyError:
    """Return the error that a rule can exclude nobody.

    Args:
        reason: Why.
        key: The rule's key that it is about.
        expected: What would exclude somebody; empty where no value of the key would.
    """
    return StudyError(f"the rule can never exclude anyone: {reason}", where=key, expected=expected)
