"""Models of Prolific's answers, with the fields that Parallax reads."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError

from webapp.recruiters.platform import PlatformUnreachable, Submission
from webapp.recruiters.statuses import AssignmentStatus

Answer = TypeVar("Answer", bound="_Answer")
Utc = Annotated[datetime, AfterValidator(lambda time: time.astimezone(UTC))]

STATUSES = {
    "RESERVED": AssignmentStatus.RESERVED,
    "ACTIVE": AssignmentStatus.ACTIVE,
    "AWAITING REVIEW": AssignmentStatus.SUBMITTED,
    "APPROVED": AssignmentStatus.APPROVED,
    "PARTIALLY APPROVED": AssignmentStatus.PARTIALLY_APPROVED,
    "REJECTED": AssignmentStatus.REJECTED,
    "RETURNED": AssignmentStatus.RETURNED,
    "TIMED-OUT": AssignmentStatus.TIMED_OUT,
    "SCREENED OUT": AssignmentStatus.SCREENED_OUT,
}
SCREEN_OUT = "FIXED_SCREEN_OUT_PAYMENT"


class _Answer(BaseModel):
    # New fields of the platform are ignored.
    model_config = ConfigDict(extra="ignore", frozen=True)


class CodeAnswer(_Answer):
    """One completion code of a study."""

    code: str | None
    code_type: str
    actions: list[dict[str, Any]]
    actor: str = "participant"


class StudyAnswer(_Answer):
    """A study."""

    id: str
    name: str = ""
    internal_name: str | None = None
    status: str
    total_available_places: int
    reward: int
    estimated_completion_time: float
    external_study_url: str | None = None
    access_details: list[dict[str, Any]] = []
    completion_codes: list[CodeAnswer] = []
    filters: list[dict[str, Any]] = []
    filter_set_id: str | None = None
    device_compatibility: list[str] = []
    is_external_study_url_secure: bool = False


class SubmissionAnswer(_Answer):
    """One submission, as it appears in a list or in a call for it."""

    id: str
    status: str
    started_at: Utc
    participant_id: str = ""
    participant: str = ""
    completed_at: Utc | None = None
    study_id: str = ""
    bonus_payments: list[float] = []
    return_requested: Utc | None = None

    def to_submission(self, study_id: str = "") -> Submission:
        """Return the submission in vendor-neutral terms.

        Raises:
            PlatformUnreachable: Its status is unknown to Parallax or to the platform.
        """
        if self.status not in STATUSES:
            raise PlatformUnreachable(f'a submission is "{self.status}"', code=self.status)
        return Submission(
            assignment_id=self.id,
            offer_id=self.study_id or study_id,
            worker_id=self.participant_id or self.participant,
            status=STATUSES[self.status],
            accepted_at=self.started_at,
            submitted_at=self.completed_at,
        )


class BalanceAnswer(_Answer):
    """The balance of a workspace's wallet, in minor units."""

    currency_code: str
    available_balance: int


class Recommendation(_Answer):
    """The platform's recommended pay for an hour, in minor units."""

    currency: str
    min_reward_per_hour: int
    recommended_reward_per_hour: int


def read(model: type[Answer], answer: object, where: str) -> Answer:
    """Parse an answer as a model.

    Raises:
        PlatformUnreachable: The answer does not fit the model: the call's outcome is unknown.
    """
    try:
        return model.model_validate(answer)
    except ValidationError as error:
        detail = error.errors(include_url=False)[0]
        place = ".".join(map(str, detail["loc"])) or "the whole of it"
        raise PlatformUnreachable(
            f"the answer cannot be read ({place}: {detail['msg']})",
            where=where,
            remedy="Run the same command again later; nothing is done twice",
        ) from error


def member(answer: object, name: str, where: str) -> Any:  # noqa: ANN401 - JSON of any shape
    """Return one member of an answer.

    Raises:
        PlatformUnreachable: The member is missing.
    """
    if isinstance(answer, Mapping) and name in answer:
        return answer[name]
    raise PlatformUnreachable(f"the answer lacks {name}", where=where)
