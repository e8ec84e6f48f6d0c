"""The interface of exclusion rules, the sessions that rules read, and planned studies."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Protocol, Self, overload

from pydantic import BaseModel, ConfigDict

from experiment.errors import ParallaxError, StudyError
from experiment.integrity.certificate import Certificate
from experiment.records import Item, Judgment, Kind
from experiment.responses.base import Arrangement, Gives, ResponseType, ScoredAnswer
from experiment.studies.study import Study

# A rule's decision (True: kept; None: undecidable, which excludes nobody) and its evidence.
Assessment = tuple[bool | None, str]


@dataclass(frozen=True, slots=True)
class Answered(Sequence[Judgment]):
    """One participant's session: a sequence of judgments, with the questionnaire and records.

    Attributes:
        judgments: One for each answered trial.
        questionnaire: The answer to each question of the study, empty if unanswered; None if the
            questionnaire is unknown.
        n_trials: The number of trials in the participant's session; None if unknown.
        everyone: All participants to compare with; None before they are known.
        certificate: The plausibility figures from the session's records; None if there are none, as
            in simulated runs.
    """

    judgments: tuple[Judgment, ...]
    questionnaire: Mapping[str, str] | None = None
    n_trials: int | None = None
    everyone: "Everyone | None" = None
    certificate: Certificate | None = None

    @classmethod
    def of(cls, judgments: Sequence[Judgment]) -> "Answered":
        """Return a session with these judgments; an ``Answered`` is returned unchanged."""
        return judgments if isinstance(judgments, Answered) else cls(tuple(judgments))

    def among(self, everyone: "Everyone") -> Self:
        """Return a copy of the session that can be compared with all participants."""
        return replace(self, everyone=everyone)

    @overload
    def __getitem__(self, index: int) -> Judgment: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Judgment]: ...
    def __getitem__(self, index: int | slice) -> Judgment | Sequence[Judgment]:
        """Return a judgment or a slice of judgments."""
        return self.judgments[index]

    def __len__(self) -> int:
        """Return the number of judgments."""
        return len(self.judgments)

    def __iter__(self) -> Iterator[Judgment]:
        """Yield the judgments."""
        return iter(self.judgments)


@dataclass(frozen=True, slots=True)
class Everyone:
    """All participants who finished, including those whom other rules exclude.

    Attributes:
        sessions: Their sessions.
    """

    sessions: Sequence[Answered]
    _measured: dict[str, list[float]] = field(default_factory=dict, repr=False, compare=False)

    def measured(self, name: str, measure: Callable[[Answered], float | None]) -> list[float]:
        """Return a measure's value for each participant who has one.

        Args:
            name: The cache key, so that the measure is computed once for each participant.
            measure: Computes the measure of a session; None if it has none.
        """
        if name not in self._measured:
            values = map(measure, self.sessions)
            self._measured[name] = [value for value in values if value is not None]
        return self._measured[name]


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
    def judged(self) -> ScoredAnswer:
        """The evaluation of an error-free answer to this trial."""
        return self.session_type.score_answer(
            self.shown, self.session_type.correct_answer(self.shown)
        )


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
                PlannedTrial(entry.item, arrangement, response)
                for entry, arrangement in zip(entries, self.arranged(number), strict=True)
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
        reads_targets: Whether the rule depends on the answers to targets, or on their times. If any
            rule of a study does, a blind run shows only who is kept and who is excluded: see
            ``rules.blind_verdict``. A rule that does not say so is taken to read them.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    name: ClassVar[str]
    reason: ClassVar[str]
    setting_words: ClassVar[Mapping[str, str]] = {}
    between_parts: ClassVar[str] = "; "
    needs: ClassVar[Gives | None] = None
    needs_everyone: ClassVar[bool] = False
    needs_certificate: ClassVar[bool] = False
    reads_targets: ClassVar[bool] = True

    def judge(self, judgments: Sequence[Judgment]) -> Assessment:
        """Return whether the rule keeps the participant, and the evidence: see ExclusionRule."""
        raise NotImplementedError

    @property
    def parts(self) -> tuple[ExclusionRule, ...]:
        """The rules that this rule combines; empty for a simple rule."""
        return ()

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
