"""Mechanical Turk through boto3: its words on one side, ours on the other."""

import json
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import boto3
from botocore.config import Config

from webapp.addresses import is_loopback
from webapp.recruiters.mturk.errors import HIT_EXISTS, no_credentials, told
from webapp.recruiters.mturk.question import answer_fields
from webapp.recruiters.mturk.requests import (
    Request,
    cents,
    dollars,
    offer_request,
    qualification_request,
    type_request,
)
from webapp.recruiters.mturk.sites import api_url
from webapp.recruiters.platform import (
    Bonus,
    HitState,
    Offer,
    PlatformError,
    Submission,
    Task,
)

_REGION = "us-east-1"  # the only one there is
_ATTEMPTS = 5
_PAGE = {"PageSize": 100}
_HIT_ID = re.compile(r"\b[A-Z0-9]{30}\b")
_TOKEN_KNOWN = re.compile(r"AlreadyExists|Duplicate")
# What a marketplace on this machine is signed with: it checks nobody, and the account's own keys
# stay where they are.
_PLAY_KEY = "parallax"


def open_client(endpoint: str, attempts: int = _ATTEMPTS) -> "MturkClient":
    """Return a client of one endpoint; nothing is called yet.

    Args:
        endpoint: ``live``, ``sandbox`` or an address.
        attempts: How often a call that may be repeated is made before it counts as unanswered.

    Raises:
        WebappError: The endpoint is no safe address.
        PlatformError: There are no credentials.
    """
    url = api_url(endpoint)
    keys = (_PLAY_KEY, _PLAY_KEY) if is_loopback(url) else (None, None)
    session = boto3.session.Session(*keys, region_name=_REGION)
    if session.get_credentials() is None:
        raise no_credentials()
    repeating, once = (
        session.client(
            "mturk",
            endpoint_url=url,
            config=Config(
                connect_timeout=5,
                read_timeout=30,
                retries={"mode": "standard", "total_max_attempts": most},
                # A proxy that the environment names does not know this machine's own addresses.
                proxies={} if is_loopback(url) else None,
            ),
        )
        for most in (attempts, 1)
    )
    return MturkClient(endpoint, repeating, once)


class MturkClient:
    """A ``webapp.recruiters.platform.Platform`` that is Mechanical Turk.

    Args:
        endpoint: ``live``, ``sandbox`` or an address.
        repeating: The boto3 client for calls that may be repeated: they only read, say the same
            thing again, or carry a token.
        once: The boto3 client for the others, which never repeats a call by itself.
    """

    # boto3 makes its clients' methods at run time, so they have no types.
    def __init__(self, endpoint: str, repeating: Any, once: Any) -> None:  # noqa: ANN401
        self.endpoint = endpoint
        self._repeating, self._once = repeating, once

    def balance_cents(self) -> int:
        """Return the money left, US cents."""
        return cents(self._call("get_account_balance")["AvailableBalance"])

    def requests(
        self, qualification: tuple[str, str] | None, task: Task, offers: Sequence[Offer]
    ) -> Iterator[tuple[str, str]]:
        """Yield each call that offering a task would make: its name and its JSON; make none."""
        if qualification is not None:
            yield "CreateQualificationType", _json(qualification_request(*qualification))
        yield "CreateHITType", _json(type_request(task, self.endpoint))
        for offer in offers:
            yield "CreateHITWithHITType", _json(offer_request("(the id of the HIT type)", offer))

    def make_type(self, task: Task) -> str:
        """Return the id of a task's HIT type; the same task always has the same."""
        made = self._call("create_hit_type", **type_request(task, self.endpoint))
        return str(made["HITTypeId"])

    def post(self, type_id: str, offer: Offer) -> str:
        """Post an offer as a HIT, and return its id; a known token gives the HIT that is there."""
        try:
            made = self._call("create_hit_with_hit_type", **offer_request(type_id, offer))
        except PlatformError as error:
            known = _HIT_ID.search(error.problem) if error.code == HIT_EXISTS else None
            if known is None:
                raise
            return known[0]
        return str(made["HIT"]["HITId"])

    def find_posted(self, qualification_id: str, token: str) -> str | None:
        """Return the id of the HIT with that token, of those whose workers it qualifies."""
        pages = self._pages(
            "list_hits_for_qualification_type", "HITs", QualificationTypeId=qualification_id
        )
        for hit in pages:
            if hit.get("RequesterAnnotation") == token:
                return str(hit["HITId"])
        return None

    def expire(self, hit_id: str, at: datetime) -> None:
        """Let workers find the HIT until then; earlier than now ends it."""
        self._call("update_expiration_for_hit", HITId=hit_id, ExpireAt=at)

    def state(self, hit_id: str) -> HitState:
        """Return how far the HIT has come."""
        hit = self._call("get_hit", HITId=hit_id)["HIT"]
        return HitState(
            places=hit["MaxAssignments"],
            available=hit["NumberOfAssignmentsAvailable"],
            pending=hit["NumberOfAssignmentsPending"],
            completed=hit["NumberOfAssignmentsCompleted"],
            expires_at=_utc(hit["Expiration"]),
        )

    def submissions(self, hit_id: str) -> Iterator[Submission]:
        """Yield every submitted assignment of the HIT, whatever became of it."""
        pages = self._pages("list_assignments_for_hit", "Assignments", HITId=hit_id)
        return map(_submission, pages)

    def submission(self, assignment_id: str) -> Submission:
        """Return one submitted assignment."""
        answer = self._call("get_assignment", AssignmentId=assignment_id)
        return _submission(answer["Assignment"])

    def approve(self, assignment_id: str, feedback: str = "") -> None:
        """Pay a submission's reward; approving an approved one is success."""
        more = {"RequesterFeedback": feedback} if feedback else {}
        self._judge("approve_assignment", "approved", AssignmentId=assignment_id, **more)

    def reject(self, assignment_id: str, reason: str) -> None:
        """Refuse to pay a submission; rejecting a rejected one is success."""
        self._judge(
            "reject_assignment", "rejected", AssignmentId=assignment_id, RequesterFeedback=reason
        )

    def _judge(self, operation: str, wanted: str, **request: str) -> None:
        try:
            self._call(operation, **request)
        except PlatformError:
            # Judged before, perhaps by a call whose answer was lost: the platform's word counts.
            if self.submission(request["AssignmentId"]).status != wanted:
                raise

    def send_bonus(
        self, worker_id: str, assignment_id: str, amount_cents: int, reason: str, token: str
    ) -> None:
        """Pay a bonus for a submitted assignment; a token the platform knows is success."""
        try:
            self._call(
                "send_bonus",
                WorkerId=worker_id,
                AssignmentId=assignment_id,
                BonusAmount=dollars(amount_cents),
                Reason=reason,
                UniqueRequestToken=token,
            )
        except PlatformError as error:
            if not _TOKEN_KNOWN.search(error.code):
                raise

    def bonuses(self, hit_id: str) -> Iterator[Bonus]:
        """Yield every bonus paid for the HIT's assignments."""
        for bonus in self._pages("list_bonus_payments", "BonusPayments", HITId=hit_id):
            yield Bonus(
                worker_id=bonus["WorkerId"],
                assignment_id=bonus["AssignmentId"],
                amount_cents=cents(bonus["BonusAmount"]),
                reason=bonus.get("Reason", ""),
                granted_at=_utc(bonus["GrantTime"]),
            )

    def make_qualification(self, name: str, description: str) -> str:
        """Return the id of our qualification of that name, made now unless it is there."""
        # There is no token for this call: what is there is looked for before one more is made.
        found = self._pages(
            "list_qualification_types",
            "QualificationTypes",
            Query=name,
            MustBeRequestable=False,
            MustBeOwnedByCaller=True,
        )
        for qualification in found:
            if qualification["Name"] == name:
                return str(qualification["QualificationTypeId"])
        with told("create_qualification_type"):
            made = self._once.create_qualification_type(**qualification_request(name, description))
        return str(made["QualificationType"]["QualificationTypeId"])

    def grant(self, qualification_id: str, worker_id: str) -> None:
        """Give a worker a qualification, without telling them; giving it twice is success."""
        self._call(
            "associate_qualification_with_worker",
            QualificationTypeId=qualification_id,
            WorkerId=worker_id,
            IntegerValue=1,
            SendNotification=False,
        )

    def notify(self, worker_ids: Sequence[str], subject: str, text: str) -> None:
        """Write to at most a hundred workers who worked for us."""
        with told("notify_workers"):
            self._once.notify_workers(Subject=subject, MessageText=text, WorkerIds=[*worker_ids])

    def _call(self, operation: str, **request: object) -> dict[str, Any]:
        with told(operation):
            answer: dict[str, Any] = getattr(self._repeating, operation)(**request)
        return answer

    def _pages(self, operation: str, key: str, **request: object) -> Iterator[dict[str, Any]]:
        pages = self._repeating.get_paginator(operation).paginate(**request, PaginationConfig=_PAGE)
        with told(operation):
            for page in pages:
                yield from page[key]


def _json(request: Request) -> str:
    return json.dumps(request, indent=2, ensure_ascii=False)


def _submission(assignment: dict[str, Any]) -> Submission:
    return Submission(
        assignment_id=assignment["AssignmentId"],
        hit_id=assignment["HITId"],
        worker_id=assignment["WorkerId"],
        status=assignment["AssignmentStatus"].lower(),
        accepted_at=_utc(assignment["AcceptTime"]),
        submitted_at=_utc(assignment["SubmitTime"]),
        fields=answer_fields(assignment.get("Answer", "")),
    )


def _utc(time: datetime) -> datetime:
    return time.astimezone(UTC)
