"""Rules that exclude participants for questionnaire answers, or for missing answers."""

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from pydantic import Field, NonNegativeInt

from experiment.errors import ParallaxError, StudyError
from experiment.exclusion.base import Answered, Assessment, BaseRule, PlannedStudy, never
from experiment.exclusion.selection import Names
from experiment.plugins import unknown_name
from experiment.records import Judgment
from experiment.studies.question import FinalQuestion

_NO_QUESTIONNAIRE = "the questionnaire is not known"


class _QuestionRule(BaseRule):
    """Base class of the rules that compare questionnaire answers with expected ones."""

    reads_targets: ClassVar[bool] = False

    @property
    def right_answers(self) -> Mapping[str, tuple[str, ...]]:
        """The questions that the rule reads, and the answers that it expects."""
        raise NotImplementedError

    def unknown_names(self, planned: PlannedStudy) -> Iterator[ParallaxError]:
        """Yield questions that are missing or conditional, and answers that no question offers."""
        questions = {question.name: question for question in planned.study.questionnaire}
        for name, accepted in self.right_answers.items():
            if name not in questions:
                yield unknown_name("question", name, questions)
                continue
            if questions[name].when:
                yield StudyError(
                    f'the rule reads the answer to "{name}", which only participants of one level '
                    "are asked",
                    expected="a question that everybody is asked",
                )
            offered = questions[name].offered
            for answer in accepted if offered and questions[name].type != "choices" else ():
                if not _is_among(answer, offered):
                    yield unknown_name(f'answer to "{name}",', answer, offered)

    def _count_failable(self, planned: PlannedStudy) -> int:
        """Return to how many of the rule's questions a participant can give another answer."""
        questions = {question.name: question for question in planned.study.questionnaire}
        return sum(
            _can_fail(questions[name], accepted) for name, accepted in self.right_answers.items()
        )


class NotNative(_QuestionRule):
    """Excludes participants whose answer to a question is not an accepted one."""

    name: ClassVar[str] = "not_native"
    reason: ClassVar[str] = "the answer about their languages"
    question: str = Field(
        min_length=1, description="the question's name", json_schema_extra={"offers": "questions"}
    )
    accepted: Names = Field(min_length=1, description="the answers of participants who are kept")

    def judge(self, judgments: Sequence[Judgment]) -> Assessment:
        """Return whether the answer is accepted, ignoring case and surrounding spaces."""
        answers = Answered.of(judgments).questionnaire
        if answers is None:
            return None, _NO_QUESTIONNAIRE
        accepted = f"accepted: {', '.join(self.accepted)}"
        answer = answers.get(self.question, "").strip()
        if not answer:
            return False, f'"{self.question}" was not answered; {accepted}'
        is_accepted = _is_among(answer, self.accepted)
        return is_accepted, f'"{self.question}" was answered "{answer}"; {accepted}'

    @property
    def right_answers(self) -> Mapping[str, tuple[str, ...]]:
        """The question that the rule reads, and the answers that it accepts."""
        return {self.question: self.accepted}

    def powerless(self, planned: PlannedStudy) -> Iterator[ParallaxError]:
        """Report that the rule accepts every answer that the question offers."""
        if not self._count_failable(planned):
            yield never(
                f'it accepts every answer that "{self.question}" offers',
                "accepted",
                "an answer less",
            )


class FailedComprehension(_QuestionRule):
    """Excludes participants who answer too many comprehension questions wrongly."""

    name: ClassVar[str] = "failed_comprehension"
    reason: ClassVar[str] = "wrong answers about the instructions"
    answers: dict[str, Names] = Field(
        min_length=1, description="each question's name and its right answer, or several"
    )
    max_wrong: NonNegativeInt = Field(default=0, description="the most wrong or missing answers")

    def judge(self, judgments: Sequence[Judgment]) -> Assessment:
        """Return whether few enough answers are wrong, and name the wrong ones."""
        answers = Answered.of(judgments).questionnaire
        if answers is None:
            return None, _NO_QUESTIONNAIRE
        wrong = [
            name
            for name, right in self.answers.items()
            if not _is_among(answers.get(name, ""), right)
        ]
        wrong_names = f" ({', '.join(wrong)})" if wrong else ""
        evidence = (
            f"{len(wrong)} of {len(self.answers)} questions of comprehension wrong{wrong_names}"
        )
        return len(wrong) <= self.max_wrong, f"{evidence}; at most {self.max_wrong} allowed"

    @property
    def right_answers(self) -> Mapping[str, tuple[str, ...]]:
        """The comprehension questions and their right answers."""
        return self.answers

    def powerless(self, planned: PlannedStudy) -> Iterator[ParallaxError]:
        """Report that the limit allows as many wrong answers as there can be."""
        n = self._count_failable(planned)
        if self.max_wrong >= n:
            yield never(
                f"it allows {self.max_wrong} wrong answers, and {n} can be wrong",
                expected=f"max_wrong below {n}" if n else "questions that offer a wrong answer",
            )


class Incomplete(BaseRule):
    """Excludes participants who omitted too many trials or questionnaire answers."""

    name: ClassVar[str] = "incomplete"
    reason: ClassVar[str] = "missing answers"
    reads_targets: ClassVar[bool] = False
    max_missing_trials: NonNegativeInt = Field(
        default=0, description="the most trials without an answer"
    )
    max_missing_answers: NonNegativeInt | None = Field(
        default=None, description="the most questions without an answer; any number by default"
    )

    def judge(self, judgments: Sequence[Judgment]) -> Assessment:
        """Return whether few enough trials and answers are missing, and how many are."""
        session = Answered.of(judgments)
        results = [self._assess_trials(session)]
        if self.max_missing_answers is not None:
            results.append(self._assess_answers(session, self.max_missing_answers))
        kept = [kept for kept, _ in results]
        evidence = "; ".join(text for _, text in results)
        return False if False in kept else None if None in kept else True, evidence

    def _assess_trials(self, session: Answered) -> Assessment:
        if session.n_trials is None:
            return None, "the number of trials is not known"
        missing = session.n_trials - len(session)
        evidence = f"{missing} of {session.n_trials} trials without an answer"
        is_kept = missing <= self.max_missing_trials
        return is_kept, f"{evidence}; at most {self.max_missing_trials} allowed"

    def _assess_answers(self, session: Answered, max_missing: int) -> Assessment:
        if session.questionnaire is None:
            return None, _NO_QUESTIONNAIRE
        missing = sum(not answer.strip() for answer in session.questionnaire.values())
        evidence = f"{missing} of {len(session.questionnaire)} questions without an answer"
        return missing <= max_missing, f"{evidence}; at most {max_missing} allowed"

    def powerless(self, planned: PlannedStudy) -> Iterator[ParallaxError]:
        """Report that the limit allows as many omissions as there can be."""
        n_trials, allowed = planned.longest, self.max_missing_trials
        if n_trials and allowed >= n_trials:
            yield never(
                f"it allows {allowed} missing trials of {n_trials}",
                expected=f"max_missing_trials below {n_trials}",
            )
        n = sum(map(_may_be_empty, planned.study.questionnaire))
        if self.max_missing_answers is not None and self.max_missing_answers >= n:
            yield never(
                f"it allows {self.max_missing_answers} missing answers, and {n} of the questions "
                "may be left out",
                "max_missing_answers",
                f"max_missing_answers below {n}" if n else "a question that is not required",
            )


def _is_among(answer: str, accepted: Sequence[str]) -> bool:
    return answer.strip().casefold() in {text.strip().casefold() for text in accepted}


def _can_fail(question: FinalQuestion, accepted: tuple[str, ...]) -> bool:
    """Return whether a participant who finishes can give another answer, or none."""
    is_closed = question.type in ("choice", "scale")
    all_accepted = is_closed and all(_is_among(offered, accepted) for offered in question.offered)
    return _may_be_empty(question) or not all_accepted


def _may_be_empty(question: FinalQuestion) -> bool:
    return not question.required or bool(question.when or question.only_if)
