"""A paying platform in memory, that fails where a test wants it to.

It is there for crash points alone, where a test must choose between which two steps a process
dies; everything else is tried on the marketplace, over HTTP.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from webapp.recruiters.platform import (
    Bonus,
    HitState,
    Offer,
    PlatformError,
    PlatformUnreachable,
    Submission,
    Task,
)

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
    submitted: dict[str, Submission] = field(default_factory=dict)
    paid: list[Bonus] = field(default_factory=list)
    approvals: list[str] = field(default_factory=list)
    rejections: list[str] = field(default_factory=list)
    posted: dict[str, tuple[str, str, Offer]] = field(default_factory=dict)
    types: dict[str, Task] = field(default_factory=dict)
    granted: set[tuple[str, str]] = field(default_factory=set)
    letters: list[tuple[str, str]] = field(default_factory=list)
    troubles: dict[str, list[Trouble]] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    _tokens: dict[str, datetime] = field(default_factory=dict)

    def add(self, assignment: str, worker: str, hit: str = "HIT1", **fields: str) -> None:
        self.submitted[assignment] = Submission(
            assignment, hit, worker, "submitted", NOON, NOON, fields
        )

    def trouble(self, operation: str, *troubles: Trouble) -> None:
        self.troubles.setdefault(operation, []).extend(troubles)

    def balance_cents(self) -> int:
        return self.balance

    def submissions(self, hit_id: str) -> Iterator[Submission]:
        with self._call("submissions"):
            yield from [one for one in self.submitted.values() if one.hit_id == hit_id]

    def submission(self, assignment_id: str) -> Submission:
        with self._call("submission"):
            return self._known(assignment_id)

    def approve(self, assignment_id: str, feedback: str = "") -> None:
        with self._call("approve"):
            one = self._known(assignment_id)
            if one.status == "rejected":
                raise PlatformError("it was rejected", code="InvalidAssignmentState")
            if one.status == "submitted":
                self.approvals.append(assignment_id)
                self.submitted[assignment_id] = replace(one, status="approved")

    def reject(self, assignment_id: str, reason: str) -> None:
        with self._call("reject"):
            one = self._known(assignment_id)
            if one.status == "approved":
                raise PlatformError("it was approved", code="InvalidAssignmentState")
            if one.status == "submitted":
                self.rejections.append(assignment_id)
                self.submitted[assignment_id] = replace(one, status="rejected")

    def send_bonus(
        self, worker_id: str, assignment_id: str, amount_cents: int, reason: str, token: str
    ) -> None:
        with self._call("send_bonus"):
            if token in self._tokens and self.now - self._tokens[token] < TOKEN_LIFE:
                return
            self._tokens[token] = self.now
            self.paid.append(Bonus(worker_id, assignment_id, amount_cents, reason, self.now))

    def bonuses(self, hit_id: str) -> Iterator[Bonus]:
        with self._call("bonuses"):
            yield from [b for b in self.paid if self._known(b.assignment_id).hit_id == hit_id]

    def make_type(self, task: Task) -> str:
        with self._call("make_type"):
            type_id = f"TYPE {task.title} {task.reward_cents} {task.audience.having}"
            self.types[type_id] = task
            return type_id

    def post(self, type_id: str, offer: Offer) -> str:
        with self._call("post"):
            known = self._tokens.get(offer.token)
            if known is None or self.now - known >= TOKEN_LIFE:
                self._tokens[offer.token] = self.now
                self.posted[f"HIT{len(self.posted) + 101}"] = (type_id, offer.token, offer)
            return max(hit for hit, one in self.posted.items() if one[1] == offer.token)

    def find_posted(self, qualification_id: str, token: str) -> str | None:
        with self._call("find_posted"):
            return next((hit for hit, one in self.posted.items() if one[1] == token), None)

    def expire(self, hit_id: str, at: datetime) -> None:
        with self._call("expire"):
            return

    def state(self, hit_id: str) -> HitState:
        with self._call("state"):
            return HitState(9, 0, 0, 0, NOON)

    def make_qualification(self, name: str, description: str) -> str:
        with self._call("make_qualification"):
            return f"Q {name}"

    def grant(self, qualification_id: str, worker_id: str) -> None:
        with self._call("grant"):
            self.granted.add((qualification_id, worker_id))

    def notify(self, worker_ids, subject: str, text: str) -> None:
        with self._call("notify"):
            self.letters += [(worker, text) for worker in worker_ids]

    def _known(self, assignment_id: str) -> Submission:
        if assignment_id not in self.submitted:
            raise PlatformError("there is no such submission", code="InvalidAssignmentState")
        return self.submitted[assignment_id]

    def _call(self, operation: str) -> "_Call":
        self.calls.append(operation)
        waiting = self.troubles.get(operation, [])
        return _Call(waiting.pop(0) if waiting else Trouble())


class _Call:
    def __init__(self, trouble: Trouble) -> None:
        self._trouble = trouble

    def __enter__(self) -> None:
        if self._trouble.before is not None:
            raise self._trouble.before

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None and self._trouble.after is not None:
            raise self._trouble.after
