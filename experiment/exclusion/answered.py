"""The data that exclusion rules read: one participant's session, and all sessions together."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self, overload

from experiment.integrity.certificate import Certificate
from experiment.records import Judgment

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
    _found: dict[str, list[float]] = field(default_factory=dict, repr=False, compare=False)

    def measured(self, name: str, measure: Callable[[Answered], float | None]) -> list[float]:
        """Return a measure's value for each participant who has one.

        Args:
            name: The cache key, so that the measure is computed once for each participant.
            measure: Computes the measure of a session; None if it has none.
        """
        if name not in self._found:
            values = map(measure, self.sessions)
            self._found[name] = [value for value in values if value is not None]
        return self._found[name]
