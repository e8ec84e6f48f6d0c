"""Excluding participants by their answers outside the trials, and by missing answers."""

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt

from experiment.exclusion.answered import Answered, Assessment
from experiment.exclusion.selection import Names
from experiment.records import Judgment

_UNKNOWN = "the questionnaire is not known"


class NotNative(BaseModel):
    """Excludes participants whose answer to a question is not one of those accepted."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    question: str = Field(min_length=1, description="the question's name")
    accepted: Names = Field(min_length=1, description="the answers of participants who are kept")

    def judge(self, judgments: Sequence[Judgment]) -> Assessment:
        """Return whether the answer is accepted; capitals and spaces around it do not matter."""
        answers = Answered.of(judgments).questionnaire
        if answers is None:
            return None, _UNKNOWN
        accepted = f"accepted: {', '.join(self.accepted)}"
        given = answers.get(self.question, "").strip()
        if not given:
            return False, f'"{self.question}" was not answered; {accepted}'
        return _among(given, self.accepted), f'"{self.question}" was answered "{given}"; {accepted}'

    @property
    def right_answers(self) -> dict[str, tuple[str, ...]]:
        """The questions that the rule reads, and the answers that it looks for."""
        return {self.question: self.accepted}


class FailedComprehension(BaseModel):
    """Excludes participants who answer too many comprehension questions wrongly."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    answers: dict[str, Names] = Field(
        min_length=1, description="each question's name and its right answer, or several"
    )
    max_wrong: NonNegativeInt = Field(default=0, description="the most wrong or missing answers")

    def judge(self, judgments: Sequence[Judgment]) -> Assessment:
        """Return whether few enough answers are wrong, and which are."""
        given = Answered.of(judgments).questionnaire
        if given is None:
            return None, _UNKNOWN
        wrong = [
            name for name, right in self.answers.items() if not _among(given.get(name, ""), right)
        ]
        named = f" ({', '.join(wrong)})" if wrong else ""
        evidence = f"{len(wrong)} of {len(self.answers)} questions of comprehension wrong{named}"
        return len(wrong) <= self.max_wrong, f"{evidence}; at most {self.max_wrong} allowed"

    @property
    def right_answers(self) -> dict[str, tuple[str, ...]]:
        """The questions that the rule reads, and the answers that it looks for."""
        return dict(self.answers)


class Incomplete(BaseModel):
    """Excludes participants who left out too many trials, or questions of the questionnaire."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    max_missing_trials: NonNegativeInt = Field(
        default=0, description="the most trials without an answer"
    )
    max_missing_answers: NonNegativeInt | None = Field(
        default=None, description="the most questions without an answer; any number by default"
    )

    def judge(self, judgments: Sequence[Judgment]) -> Assessment:
        """Return whether little enough is missing, and how much."""
        session = Answered.of(judgments)
        results = [self._trials(session)]
        if self.max_missing_answers is not None:
            results.append(self._answers(session, self.max_missing_answers))
        kept = [one for one, _ in results]
        evidence = "; ".join(text for _, text in results)
        return False if False in kept else None if None in kept else True, evidence

    def _trials(self, session: Answered) -> Assessment:
        if session.n_trials is None:
            return None, "the number of trials is not known"
        missing = session.n_trials - len(session)
        evidence = f"{missing} of {session.n_trials} trials without an answer"
        kept = missing <= self.max_missing_trials
        return kept, f"{evidence}; at most {self.max_missing_trials} allowed"

    def _answers(self, session: Answered, most: int) -> Assessment:
        if session.questionnaire is None:
            return None, _UNKNOWN
        missing = sum(not answer.strip() for answer in session.questionnaire.values())
        evidence = f"{missing} of {len(session.questionnaire)} questions without an answer"
        return missing <= most, f"{evidence}; at most {most} allowed"


def _among(given: str, accepted: Sequence[str]) -> bool:
    return given.strip().casefold() in {one.strip().casefold() for one in accepted}
