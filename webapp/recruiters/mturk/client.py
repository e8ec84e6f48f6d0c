"""Mechanical Turk through boto3: translates between its vocabulary and ours."""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

import boto3
from botocore.config import Config

from experiment.payment.cost import Charge
from webapp.core.addresses import is_loopback
from webapp.errors import WebappError
from webapp.recruiters.mturk.errors import HIT_EXISTS, no_credentials_error, platform_errors
from webapp.recruiters.mturk.requests import (
    Request,
    answer_fields,
    format_dollars,
    offer_request,
    parse_cents,
    qualification_request,
    type_request,
)
from webapp.recruiters.mturk.settings import (
    CLOSED_NOTICE,
    LIVE,
    MOST_PLACES,
    MturkSettings,
    api_url,
    fee_cents,
)
from webapp.recruiters.platform import (
    Audience,
    Bonus,
    Offer,
    OfferState,
    PlatformError,
    RejectionTerms,
    Submission,
    Task,
)
from webapp.recruiters.statuses import AssignmentStatus

Read = TypeVar("Read")

_REGION = "us-east-1"  # Mechanical Turk has only this region.
_ATTEMPTS = 5
_PAGE_PARAMETERS = {"PageSize": 100}
_HIT_ID = re.compile(r"\b[A-Z0-9]{30}\b")
# The service lists only these statuses: accepted, returned and timed-out assignments are not
# listed.
_STATUSES = {
    "Submitted": AssignmentStatus.SUBMITTED,
    "Approved": AssignmentStatus.APPROVED,
    "Rejected": AssignmentStatus.REJECTED,
}
_KNOWN_TOKEN = re.compile(r"AlreadyExists|Duplicate")
# Signs calls to a local stand-in, which checks no credentials; the account's own keys are not used.
_PLAY_KEY = "parallax"


def open_client(endpoint: str, attempts: int = _ATTEMPTS) -> "MturkClient":
    """Return a client of one endpoint, without calling it yet.

    Args:
        endpoint: ``live``, ``sandbox`` or an address.
        attempts: How often a repeatable call is made before it counts as unanswered.

    Raises:
        WebappError: The endpoint's address is not safe.
        PlatformError: There are no credentials.
    """
    url = api_url(endpoint)
    keys = (_PLAY_KEY, _PLAY_KEY) if is_loopback(url) else (None, None)
    session = boto3.session.Session(*keys, region_name=_REGION)
    if session.get_credentials() is None:
        raise no_credentials_error()
    repeating, once = (
        session.client(
            "mturk",
            endpoint_url=url,
            config=Config(
                connect_timeout=5,
                read_timeout=30,
                retries={"mode": "standard", "total_max_attempts": most},
                # A proxy from the environment cannot reach this machine's own addresses.
                proxies={} if is_loopback(url) else None,
            ),
        )
        for most in (attempts, 1)
    )
    return MturkClient(endpoint, repeating, once)


class MturkClient:
    """A ``webapp.recruiters.platform.Platform`` for Mechanical Turk.

    Args:
        endpoint: ``live``, ``sandbox`` or an address.
        repeating: The boto3 client for repeatable calls: calls that only read, are idempotent, or
            carry a token.
        once: The boto3 client for all other calls, which never repeats a call.
    """

    # boto3 creates its clients' methods at run time, so they have no types.
    def __init__(self, endpoint: str, repeating: Any, once: Any) -> None:  # noqa: ANN401
        self.endpoint = endpoint
        self._repeating, self._once = repeating, once
        self._types = dict[Task, str]()

    currency = "USD"
    most_places: int | None = MOST_PLACES
    tells_every_status = False
    hands_in_forms = True
    settles_later = False
    rejection_terms = RejectionTerms()

    def fees_minor(self, charges: Iterable[Charge], audience: Audience) -> int:
        """Return the total fee on payments, in US cents; the fee on each payment is rounded up."""
        return sum(
            charge.payments * fee_cents(charge.amount_minor, charge.places, audience)
            for charge in charges
        )

    def balance_minor(self) -> int:
        """Return the available balance, in US cents."""
        with platform_errors("get_account_balance"):
            return parse_cents(self._repeating.get_account_balance()["AvailableBalance"])

    def requests(
        self, qualification: tuple[str, str] | None, task: Task, offers: Sequence[Offer]
    ) -> Iterator[tuple[str, str]]:
        """Yield the name and JSON of each call that offering a task would make, without calling."""
        if qualification is not None:
            yield "CreateQualificationType", _to_json(qualification_request(*qualification))
        yield "CreateHITType", _to_json(type_request(task, self.endpoint))
        for offer in offers:
            yield "CreateHITWithHITType", _to_json(offer_request("(the id of the HIT type)", offer))

    def _get_hit_type_id(self, task: Task) -> str:
        """Return the id of a task's HIT type; the same task always has the same type."""
        if task not in self._types:
            with platform_errors("create_hit_type"):
                response = self._repeating.create_hit_type(**type_request(task, self.endpoint))
                self._types[task] = str(response["HITTypeId"])
        return self._types[task]

    def post(self, task: Task, offer: Offer) -> str:
        """Post an offer as a HIT and return its id; a known token returns the existing HIT."""
        type_id = self._get_hit_type_id(task)
        try:
            with platform_errors("create_hit_with_hit_type"):
                response = self._repeating.create_hit_with_hit_type(**offer_request(type_id, offer))
                return str(response["HIT"]["HITId"])
        except PlatformError as error:
            existing_hit = _HIT_ID.search(error.problem) if error.code == HIT_EXISTS else None
            if existing_hit is None:
                raise
            return existing_hit[0]

    def find_posted(self, token: str, qualification_id: str | None) -> str | None:
        """Return the id of the HIT with that token, among the HITs that use the qualification."""
        if qualification_id is None:
            raise PlatformError("a HIT is found by its qualification", where="list_hits")
        posted = self._read_pages(
            "list_hits_for_qualification_type",
            "HITs",
            lambda hit: (hit.get("RequesterAnnotation"), str(hit["HITId"])),
            QualificationTypeId=qualification_id,
        )
        return next((hit_id for annotation, hit_id in posted if annotation == token), None)

    def expire(self, offer_id: str, at: datetime) -> None:
        """Set the time until which workers can find the HIT; a past time ends the HIT."""
        self._call("update_expiration_for_hit", HITId=offer_id, ExpireAt=at)

    def state(self, offer_id: str) -> OfferState:
        """Return the HIT's progress."""
        with platform_errors("get_hit"):
            return _hit_state(self._repeating.get_hit(HITId=offer_id)["HIT"])

    def submissions(self, offer_id: str) -> Iterator[Submission]:
        """Yield every submitted assignment of the HIT, including approved and rejected ones."""
        return self._read_pages(
            "list_assignments_for_hit", "Assignments", _to_submission, HITId=offer_id
        )

    def submission(self, assignment_id: str) -> Submission:
        """Return one submitted assignment."""
        with platform_errors("get_assignment"):
            answer = self._repeating.get_assignment(AssignmentId=assignment_id)
            return _to_submission(answer["Assignment"])

    def approve(
        self, assignment_id: str, feedback: str = "", *, undo_rejection: bool = False
    ) -> None:
        """Pay a submission's reward; approving an approved submission is no error.

        Args:
            assignment_id: The submission.
            feedback: The message to the worker.
            undo_rejection: Whether a rejected submission is paid after all. Mechanical Turk allows
                this for thirty days.
        """
        options: dict[str, object] = {"RequesterFeedback": feedback} if feedback else {}
        if undo_rejection:
            options["OverrideRejection"] = True
        approved = AssignmentStatus.APPROVED
        self._decide("approve_assignment", approved, AssignmentId=assignment_id, **options)

    def reject(self, assignment_id: str, reason: str, category: str = "") -> None:
        """Refuse to pay for a submission; rejecting it a second time is not an error.

        Args:
            assignment_id: The submission.
            reason: The message to the worker.
            category: Unused: Mechanical Turk has no categories.
        """
        self._decide(
            "reject_assignment",
            AssignmentStatus.REJECTED,
            AssignmentId=assignment_id,
            RequesterFeedback=reason,
        )

    def _decide(self, operation: str, wanted: AssignmentStatus, **request: object) -> None:
        try:
            self._call(operation, **request)
        except PlatformError:
            # The submission was decided before, perhaps by a call whose answer was lost: read its
            # actual status.
            if self.submission(str(request["AssignmentId"])).status != wanted:
                raise

    def send_bonus(
        self, worker_id: str, assignment_id: str, amount_minor: int, reason: str, token: str
    ) -> None:
        """Pay a bonus for a submitted assignment.

        The call succeeds if the platform knows the token.
        """
        try:
            self._call(
                "send_bonus",
                WorkerId=worker_id,
                AssignmentId=assignment_id,
                BonusAmount=format_dollars(amount_minor),
                Reason=reason,
                UniqueRequestToken=token,
            )
        except PlatformError as error:
            if not _KNOWN_TOKEN.search(error.code):
                raise

    def bonuses(self, offer_id: str) -> Iterator[Bonus]:
        """Yield every bonus paid for the HIT's assignments."""
        return self._read_pages("list_bonus_payments", "BonusPayments", _to_bonus, HITId=offer_id)

    def make_qualification(self, name: str, description: str) -> str:
        """Return the id of our qualification of that name, creating the qualification if needed."""
        # This call takes no token, so an existing qualification is looked up before creating one.
        if (existing_id := self.find_qualification(name)) is not None:
            return existing_id
        with platform_errors("create_qualification_type"):
            response = self._once.create_qualification_type(
                **qualification_request(name, description)
            )
            return str(response["QualificationType"]["QualificationTypeId"])

    def find_qualification(self, name: str) -> str | None:
        """Return the id of our qualification of that name; None if it does not exist."""
        qualifications = self._read_pages(
            "list_qualification_types",
            "QualificationTypes",
            lambda kind: (kind["Name"], str(kind["QualificationTypeId"])),
            Query=name,
            MustBeRequestable=False,
            MustBeOwnedByCaller=True,
        )
        return next((id_ for known_name, id_ in qualifications if known_name == name), None)

    def grant(self, qualification_id: str, worker_id: str) -> None:
        """Give a worker a qualification without notifying them; repeating the call is no error."""
        self._call(
            "associate_qualification_with_worker",
            QualificationTypeId=qualification_id,
            WorkerId=worker_id,
            IntegerValue=1,
            SendNotification=False,
        )

    def notify(self, worker_ids: Sequence[str], subject: str, text: str) -> Collection[str]:
        """Write to at most a hundred workers, and return the workers whom no message reached.

        The service answers 200 even if it wrote to nobody.
        """
        with platform_errors("notify_workers"):
            answer = self._once.notify_workers(
                Subject=subject, MessageText=text, WorkerIds=[*worker_ids]
            )
            failed = answer.get("NotifyWorkersFailureStatuses", [])
            return frozenset(status["WorkerId"] for status in failed)

    def _call(self, operation: str, **request: object) -> None:
        with platform_errors(operation):
            getattr(self._repeating, operation)(**request)

    def _read_pages(
        self, operation: str, key: str, read: Callable[[dict[str, Any]], Read], **request: object
    ) -> Iterator[Read]:
        """Yield each entry that a paged operation lists, converted by ``read``."""
        pages = self._repeating.get_paginator(operation).paginate(
            **request, PaginationConfig=_PAGE_PARAMETERS
        )
        with platform_errors(operation):
            for page in pages:
                yield from map(read, page[key])


def _to_json(request: Request) -> str:
    return json.dumps(request, indent=2, ensure_ascii=False)


def _to_submission(assignment: dict[str, Any]) -> Submission:
    decided_at = assignment.get("ApprovalTime") or assignment.get("RejectionTime")
    return Submission(
        assignment_id=assignment["AssignmentId"],
        offer_id=assignment["HITId"],
        worker_id=assignment["WorkerId"],
        status=_STATUSES[assignment["AssignmentStatus"]],
        accepted_at=_to_utc(assignment["AcceptTime"]),
        submitted_at=_to_utc(assignment["SubmitTime"]),
        fields=answer_fields(assignment.get("Answer", "")),
        decided_at=_to_utc(decided_at) if decided_at else None,
    )


def _hit_state(hit: dict[str, Any]) -> OfferState:
    return OfferState(
        places=hit["MaxAssignments"],
        available=hit["NumberOfAssignmentsAvailable"],
        pending=hit["NumberOfAssignmentsPending"],
        completed=hit["NumberOfAssignmentsCompleted"],
        expires_at=_to_utc(hit["Expiration"]),
        reward_minor=parse_cents(hit["Reward"]),
        posted_at=_to_utc(hit["CreationTime"]),
    )


def _to_bonus(bonus: dict[str, Any]) -> Bonus:
    return Bonus(
        worker_id=bonus["WorkerId"],
        assignment_id=bonus["AssignmentId"],
        amount_minor=parse_cents(bonus["BonusAmount"]),
        reason=bonus.get("Reason", ""),
        granted_at=_to_utc(bonus["GrantTime"]),
    )


def _to_utc(time: datetime) -> datetime:
    return time.astimezone(UTC)


def open_mturk(settings: MturkSettings, *, live: bool = False) -> MturkClient:
    """Return the client of the endpoint that the settings name.

    Raises:
        WebappError: The endpoint is the live one, and the command does not allow it.
    """
    if settings.endpoint == LIVE and not live:
        raise WebappError(
            f"{CLOSED_NOTICE}, and its live endpoint spends real money",
            where="mturk_endpoint = live",
            remedy=(
                "Use a local marketplace (parallax marketplace), or add --live to the "
                "command if the service is open again"
            ),
        )
    return open_client(settings.endpoint)
