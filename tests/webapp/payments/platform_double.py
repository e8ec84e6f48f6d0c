"""A paying platform in memory, that fails where a test wants it to.

It is there for crash points alone, where a test must choose between which two steps a process
dies; everything else is tried on the marketplace, over HTTP.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from experiment.payment.cost import Charge
from webapp.recruiters.platform import (
    Audience,
    Bonus,
    Offer,
    OfferState,
    PlatformError,
    PlatformUnreachable,
    RejectionTerms,
    Submission,
    Task,
)
from webapp.recruiters.statuses import AssignmentStatus

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
TOKEN_LIFE = timedelta(hours=24)


class ProcessDied(BaseException):
    """The process is gone: nothing of it runs any more."""


@dataclass
class Trouble:
    """What becomes of the next call of one operation.

    Attributes:
        before: Raised instead of the deed.
        after: Raised when the deed is done.
    """

    before: BaseException | None = None
    after: BaseException | None = None


LOST_REPLY = Trouble(after=PlatformUnreachable("no answer"))
NO_CONNECTION = Trouble(before=PlatformUnreachable("no connection"))
DIES_BEFORE = Trouble(before=ProcessDied())
DIES_AFTER = Trouble(after=ProcessDied())
REFUSES = Trouble(before=PlatformError("not enough money", code="InsufficientFunds"))


@dataclass
class PlatformDouble:
    """Keeps submissions, bonuses, offers and how often each deed was really done."""

    now: datetime = NOON
    balance: int = 100_000
    endpoint: str = "double"
    currency: str = "USD"
    most_places: int | None = 9
    tells_every_status: bool = False
    hands_in_forms: bool = True
    settles_later: bool = False
    rejection_terms: RejectionTerms = field(default_factory=RejectionTerms)
    submitted: dict[str, Submission] = field(default_factory=dict)
    paid: list[Bonus] = field(default_factory=list)
    approvals: list[str] = field(default_factory=list)
    rejections: list[str] = field(default_factory=list)
    reasons: dict[str, str] = field(default_factory=dict)
    categories: dict[str, str] = field(default_factory=dict)
    posted: dict[str, tuple[Task, str, Offer]] = field(default_factory=dict)
    granted: set[tuple[str, str]] = field(default_factory=set)
    unreachable: set[str] = field(default_factory=set)
    letters: list[tuple[str, str]] = field(default_factory=list)
    troubles: dict[str, list[Trouble]] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    refuse_open_transaction: Callable[[], None] = lambda: None
    _tokens: dict[str, datetime] = field(default_factory=dict)

    def add(self, assignment: str, worker: str, hit: str = "HIT1", **fields: str) -> None:
        self.submitted[assignment] = Submission(
            assignment, hit, worker, AssignmentStatus.SUBMITTED, NOON, NOON, fields
        )

    def trouble(self, operation: str, *troubles: Trouble) -> None:
        self.troubles.setdefault(operation, []).extend(troubles)

    def fees_minor(self, charges: Sequence[Charge], audience: Audience) -> int:
        return sum(-(-charge.amount_minor // 5) * charge.payments for charge in charges)

    def balance_minor(self) -> int:
        return self.balance

    def submissions(self, offer_id: str) -> Iterator[Submission]:
        with self._call("submissions"):
            yield from [one for one in self.submitted.values() if one.offer_id == offer_id]

    def submission(self, assignment_id: str) -> Submission:
        with self._call("submission"):
            return self._known(assignment_id)

    def approve(
        self, assignment_id: str, feedback: str = "", *, undo_rejection: bool = False
    ) -> None:
        with self._call("approve"):
            one = self._known(assignment_id)
            if one.status is AssignmentStatus.REJECTED and not undo_rejection:
                raise PlatformError("it was rejected", code="InvalidAssignmentState")
            if one.status is not AssignmentStatus.APPROVED:
                self.approvals.append(assignment_id)
                self.reasons[assignment_id] = feedback
                self.submitted[assignment_id] = replace(one, status=AssignmentStatus.APPROVED)

    def reject(self, assignment_id: str, reason: str, category: str = "") -> None:
        with self._call("reject"):
            one = self._known(assignment_id)
            if one.status is AssignmentStatus.APPROVED:
                raise PlatformError("it was approved", code="InvalidAssignmentState")
            if one.status is AssignmentStatus.SUBMITTED:
                self.rejections.append(assignment_id)
                self.reasons[assignment_id] = reason
                self.categories[assignment_id] = category
                self.submitted[assignment_id] = replace(one, status=AssignmentStatus.REJECTED)

    def send_bonus(
        self, worker_id: str, assignment_id: str, amount_minor: int, reason: str, token: str
    ) -> None:
        with self._call("send_bonus"):
            if token in self._tokens and self.now - self._tokens[token] < TOKEN_LIFE:
                return
            self._tokens[token] = self.now
            self.paid.append(Bonus(worker_id, assignment_id, amount_minor, reason, self.now))

    def bonuses(self, offer_id: str) -> Iterator[Bonus]:
        with self._call("bonuses"):
            yield from [b for b in self.paid if self._known(b.assignment_id).offer_id == offer_id]

    def post(self, task: Task, offer: Offer) -> str:
        with self._call("post"):
            known = self._tokens.get(offer.token)
            if known is None or self.now - known >= TOKEN_LIFE:
                self._tokens[offer.token] = self.now
                self.posted[f"HIT{len(self.posted) + 101}"] = (task, offer.token, offer)
            return max(hit for hit, one in self.posted.items() if one[1] == offer.token)

    def find_posted(self, token: str, qualification_id: str | None) -> str | None:
        with self._call("find_posted"):
            return next((hit for hit, one in self.posted.items() if one[1] == token), None)

    def expire(self, offer_id: str, at: datetime) -> None:
        with self._call("expire"):
            return

    def state(self, offer_id: str) -> OfferState:
        with self._call("state"):
            if offer_id in self.posted:
                places = self.posted[offer_id][2].places
                return OfferState(places, places, 0, 0, None)
            return OfferState(9, 0, 0, 0, NOON)

    def make_qualification(self, name: str, description: str) -> str:
        with self._call("make_qualification"):
            return f"Q {name}"

    def find_qualification(self, name: str) -> str | None:
        with self._call("find_qualification"):
            return f"Q {name}"

    def grant(self, qualification_id: str, worker_id: str) -> None:
        with self._call("grant"):
            self.granted.add((qualification_id, worker_id))

    def notify(self, worker_ids, subject: str, text: str) -> set[str]:
        with self._call("notify"):
            reached = [worker for worker in worker_ids if worker not in self.unreachable]
            self.letters += [(worker, text) for worker in reached]
            return set(worker_ids) - set(reached)

    def _known(self, assignment_id: str) -> Submission:
        if assignment_id not in self.submitted:
            raise PlatformError("there is no such submission", code="InvalidAssignmentState")
        return self.submitted[assignment_id]

    def _call(self, operation: str) -> "_Call":
        self.calls.append(operation)
        self.refuse_open_transaction()
        waiting = self.troubles.get(operation, [])
        return _Call(waiting.pop(0) if waiting else Trouble())


class WritingDouble(PlatformDouble):
    """A platform that writes to people about the offers that they took."""

    def write(self, offer_id: str, worker_ids: Sequence[str], text: str) -> None:
        self.letters += [(worker, text) for worker in worker_ids]


class _Call:
    def __init__(self, trouble: Trouble) -> None:
        self._trouble = trouble

    def __enter__(self) -> None:
        if self._trouble.before is not None:
            raise self._trouble.before

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None and self._trouble.after is not None:
            raise self._trouble.after
