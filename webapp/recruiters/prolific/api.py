"""Prolific's API: HTTP calls, which of them are repeated, and models of the answers.

Calls that only read or are idempotent are repeated if the platform is busy or silent. Calls that
are not idempotent are made once: ``once``. Models have only the fields that Parallax reads.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Annotated, Any, TypeVar

import httpx
from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential

from webapp.recruiters.platform import PlatformError, PlatformUnreachable, Submission
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
    """A study, as Prolific's API returns it."""

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
    published_at: Utc | None = None


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
            raise PlatformUnreachable(
                f'a submission has the status "{self.status}", which Parallax does not know',
                code=self.status,
            )
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


def parse(model: type[Answer], answer: object, where: str) -> Answer:
    """Parse an answer as a model.

    Raises:
        PlatformUnreachable: The answer does not fit the model: the call's outcome is unknown.
    """
    try:
        return model.model_validate(answer)
    except ValidationError as error:
        detail = error.errors(include_url=False)[0]
        location = ".".join(map(str, detail["loc"])) or "the whole of it"
        raise PlatformUnreachable(
            f"the answer cannot be read ({location}: {detail['msg']})",
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


_API = "/api/v1"
_BUSY_STATUS = 429
_TOKEN_REMEDY = (
    "Set prolific_token to a token of the researcher's account (Prolific: Settings, Go to API token"
    " page): docs/prolific.md"
)
_AGAIN_REMEDY = "Run the same command again later; nothing is done twice"
_LONGEST_WAIT_S = 30.0


class WalletBusyError(PlatformUnreachable):
    """The wallet is in use by another call (429): certainly nothing was done."""


class NotSentError(PlatformUnreachable):
    """There was no connection, so the call never reached the platform."""


class NotFoundError(PlatformError):
    """The platform has no object of that id, or none that belongs to us (404)."""


@dataclass(frozen=True, slots=True)
class ApiClient:
    """The API of one endpoint.

    Attributes:
        http: The connection, with the token.
        attempts: How often a repeatable call is made before it counts as unanswered.
        sleep: Waits for a number of seconds.
    """

    http: httpx.Client
    attempts: int
    sleep: Callable[[float], None]

    def get(self, path: str, params: Mapping[str, str | int] | None = None) -> Any:  # noqa: ANN401
        """Send a GET request and return the platform's answer.

        Raises:
            PlatformUnreachable: The platform does not answer.
            PlatformError: The platform refuses.
        """
        return self._send_repeatedly("GET", path, params=params)

    def send(self, method: str, path: str, body: object = None) -> Any:  # noqa: ANN401
        """Send an idempotent call and return the answer.

        Raises:
            PlatformUnreachable: The outcome is unknown.
            PlatformError: The platform refuses.
        """
        return self._send_repeatedly(method, path, body=body)

    def send_once(self, path: str, body: object = None, method: str = "POST") -> Any:  # noqa: ANN401
        """Send a call exactly once, without repeating it, and return the answer.

        Raises:
            Busy: The platform is busy; nothing was done.
            NotSentError: There was no connection; nothing was done.
            PlatformUnreachable: The outcome is unknown.
            PlatformError: The platform refuses.
        """
        return self._send_request(method, path, body, None)[0]

    def send_once_with_headers(
        self, path: str, body: object = None
    ) -> tuple[Any, Mapping[str, str]]:
        """Send a call exactly once, and return the answer and its headers.

        Raises:
            PlatformError: As for ``once``.
        """
        return self._send_request("POST", path, body, None)

    def list_entries(self, path: str, params: Mapping[str, str | int]) -> Iterator[Any]:
        """Yield each entry of a paged list."""
        address: str | None = path
        page_params: Mapping[str, str | int] | None = params
        while address:
            answer = self.get(address, page_params)
            yield from answer["results"]
            # The link to the next page already holds the parameters.
            address, page_params = (answer.get("_links", {}).get("next") or {}).get("href"), None
            address = address and f"{address.partition(_API)[2]}"

    def _send_repeatedly(
        self,
        method: str,
        path: str,
        *,
        body: object = None,
        params: Mapping[str, str | int] | None = None,
    ) -> Any:  # noqa: ANN401 - JSON of any shape
        repeated = Retrying(
            retry=retry_if_exception_type(PlatformUnreachable),
            stop=stop_after_attempt(self.attempts),
            wait=wait_exponential(max=_LONGEST_WAIT_S),
            sleep=self.sleep,
            reraise=True,
        )
        return repeated(self._send_request, method, path, body, params)[0]

    def _send_request(
        self, method: str, path: str, body: object, params: Mapping[str, str | int] | None
    ) -> tuple[Any, Mapping[str, str]]:
        where = f"{method} {path.partition('?')[0]}"
        try:
            answer = self.http.request(method, f"{_API}{path}", json=body, params=params)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            raise NotSentError(
                f"there is no connection: {error}", where=where, remedy=_AGAIN_REMEDY
            ) from error
        except httpx.LocalProtocolError:
            # The exception's message quotes the header, and so the token.
            problem = "the request cannot be sent: prolific_token has characters that no token has"
            raise PlatformError(problem, where=where, remedy=_TOKEN_REMEDY) from None
        except httpx.HTTPError as error:
            problem = f"there was no answer ({str(error) or 'it took too long'})"
            raise PlatformUnreachable(problem, where=where, remedy=_AGAIN_REMEDY) from error
        if not answer.is_success:
            raise _make_refusal_error(answer, where)
        return _read_content(answer, where), answer.headers


def _read_content(answer: httpx.Response, where: str) -> Any:  # noqa: ANN401 - JSON of any shape
    if not answer.headers.get("Content-Type", "").startswith("application/json"):
        return answer.text
    if not answer.content.strip():
        return None
    try:
        return answer.json()
    except ValueError as error:
        # The answer was cut off: the platform may have carried out the call.
        problem = "the answer cannot be read"
        raise PlatformUnreachable(problem, where=where, remedy=_AGAIN_REMEDY) from error


def _make_refusal_error(answer: httpx.Response, where: str) -> PlatformError:
    code, words = _read_error(answer)
    status = answer.status_code
    if status == _BUSY_STATUS:
        problem = f"the platform is busy with another call ({words})"
        return WalletBusyError(problem, code=code, where=where, remedy=_AGAIN_REMEDY)
    if status >= 500 or status == 408:
        problem = f"the platform has a fault ({status} {words})"
        return PlatformUnreachable(problem, code=code, where=where, remedy=_AGAIN_REMEDY)
    if status in (401, 403):
        problem = f"the platform does not accept the token ({words})"
        return PlatformError(problem, code=code, where=where, remedy=_TOKEN_REMEDY)
    kind = NotFoundError if status == HTTPStatus.NOT_FOUND else PlatformError
    return kind(f"the platform refused: {words}", code=code or str(status), where=where)


def _read_error(answer: httpx.Response) -> tuple[str, str]:
    """Return the platform's error code and message; only some calls wrap them."""
    try:
        error = answer.json()
        error = error.get("error", error)
        return str(error.get("error_code", "")), _detail_in_words(error.get("detail", ""))
    except (ValueError, AttributeError):
        return "", answer.reason_phrase


def _detail_in_words(detail: object) -> str:
    if isinstance(detail, dict):
        return "; ".join(f"{name}: {_detail_in_words(part)}" for name, part in detail.items())
    if isinstance(detail, list):
        return " ".join(map(_detail_in_words, detail))
    return str(detail)[:500]
