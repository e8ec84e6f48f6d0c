"""What the exclusion rules see of one participant, and of all of them together."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self, overload

from experiment.integrity.certificate import Certificate
from experiment.records import Judgment

# Whether a rule keeps somebody (None: it cannot be told, which excludes nobody), and the evidence.
Assessment = tuple[bool | None, str]


@dataclass(frozen=True, slots=True)
class Answered(Sequence[Judgment]):
    """One participant's session: a sequence of its judgments, and what else was answered.

    Attributes:
        judgments: One for each answered trial.
        questionnaire: The answer to each question of the study, empty where there is none; None
            where nothing is known of the questionnaire.
        n_trials: The trials that the participant was to judge; None where it is unknown.
        everyone: All participants who are compared with each other; None before they are known.
        certificate: How plausible the session is, by its own records; None where nothing is
            known of that, as in simulated runs.
    """

    judgments: tuple[Judgment, ...]
    questionnaire: Mapping[str, str] | None = None
    n_trials: int | None = None
    everyone: "Everyone | None" = None
    certificate: Certificate | None = None

    @classmethod
    def of(cls, judgments: Sequence[Judgment]) -> "Answered":
        """Return a session from its judgments, unless they are one already."""
        return judgments if isinstance(judgments, Answered) else cls(tuple(judgments))

    def among(self, everyone: "Everyone") -> Self:
        """Return the session as one of all participants."""
        return replace(self, everyone=everyone)

    @overload
    def __getitem__(self, index: int) -> Judgment: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Judgment]: ...
    def __getitem__(self, index: int | slice) -> Judgment | Sequence[Judgment]:
        """Return a judgment, or several."""
        return self.judgments[index]

    def __len__(self) -> int:
        """Return the number of judgments."""
        return len(self.judgments)

    def __iter__(self) -> Iterator[Judgment]:
        """Yield the judgments."""
        return iter(self.judgments)


@dataclass(frozen=True, slots=True)
class Everyone:
    """All participants who finished, whatever other rules say of them.

    Attributes:
        sessions: Their sessions.
    """

    sessions: Sequence[Answered]
    _found: dict[str, list[float]] = field(default_factory=dict, repr=False, compare=False)

    def measured(self, name: str, measure: Callable[[Answered], float | None]) -> list[float]:
        """Return a measure's value for each participant who has one.

        Args:
            name: What the measure is remembered by, so that it is taken once for each participant.
            measure: The measure.
        """
        if name not in self._found:
            values = map(measure, self.sessions)
            self._found[name] = [value for value in values if value is not None]
        return self._found[name]
