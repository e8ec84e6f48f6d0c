"""What a paying platform offers, in words that belong to no vendor.

Every call either does what it says, or raises: ``PlatformError`` where the platform refused for
good, ``PlatformUnreachable`` where nobody knows whether the deed was done. Calls that make
something take a token of the caller's; repeating one with a token the platform knows is success.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal, Protocol

from webapp.errors import WebappError


class PlatformError(WebappError):
    """A platform refused a call, for good.

    Args:
        problem: What is wrong.
        code: The platform's own name for it; empty where it has none.
        where: Which call it was.
        expected: What would have been right.
        remedy: What to do about it.
    """

    def __init__(
        self, problem: str, *, code: str = "", where: str = "", expected: str = "", remedy: str = ""
    ) -> None:
        super().__init__(problem, where=where, expected=expected, remedy=remedy)
        self.code = code


class PlatformUnreachable(PlatformError):
    """No answer, or a fault: nobody knows whether the deed was done. Safe to ask again later."""


@dataclass(frozen=True, slots=True)
class Audience:
    """Who may take a task.

    Attributes:
        countries: ISO 3166 codes of the countries they live in; empty for all.
        min_approval_percent: How much of their earlier work was approved, at least.
        min_approved: How many of their earlier tasks were approved, at least.
        masters: Whether only the platform's own elite may.
        having: Qualifications they must have, by id.
        lacking: Qualifications they must not have, by id.
    """

    countries: tuple[str, ...] = ()
    min_approval_percent: int | None = None
    min_approved: int | None = None
    masters: bool = False
    having: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Task:
    """What workers read in the platform's list, and on what terms they work.

    Attributes:
        title: Its name.
        description: What there is to do.
        keywords: What workers may search for.
        reward_cents: The pay of one assignment, US cents.
        duration: How long a worker has from accepting to submitting.
        approve_after: After how long the platform approves a submission by itself.
        audience: Who may take it.
    """

    title: str
    description: str
    keywords: tuple[str, ...]
    reward_cents: int
    duration: timedelta
    approve_after: timedelta
    audience: Audience = field(default_factory=Audience)


@dataclass(frozen=True, slots=True)
class Offer:
    """So many places of a task, offered for a while.

    Attributes:
        link: The address that the platform shows to workers in a frame.
        places: How many workers may take it.
        lifetime: For how long it can be found.
        token: Another one for each offer; it also marks the offer, so that it can be found again.
        frame_height_px: The frame's height; 0 for the worker's whole window.
    """

    link: str
    places: int
    lifetime: timedelta
    token: str
    frame_height_px: int = 0


@dataclass(frozen=True, slots=True)
class HitState:
    """How far an offer has come, as the platform counts.

    Attributes:
        places: How many workers it is for.
        available: Places that nobody has taken.
        pending: Places that somebody has accepted and not submitted.
        completed: Places whose work was approved or rejected.
        expires_at: When workers cannot find it any more.
    """

    places: int
    available: int
    pending: int
    completed: int
    expires_at: datetime

    @property
    def submitted(self) -> int:
        """Places whose work waits to be approved or rejected."""
        return self.places - self.available - self.pending - self.completed


@dataclass(frozen=True, slots=True)
class Submission:
    """A worker's submitted assignment, as the platform tells it.

    Attributes:
        fields: What the page's form sent through the worker's browser, so anybody may have
            written it.
    """

    assignment_id: str
    hit_id: str
    worker_id: str
    status: Literal["submitted", "approved", "rejected"]
    accepted_at: datetime
    submitted_at: datetime
    fields: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Bonus:
    """A bonus the platform has paid."""

    worker_id: str
    assignment_id: str
    amount_cents: int
    reason: str
    granted_at: datetime


class Platform(Protocol):
    """A platform where workers are found and paid.

    Attributes:
        endpoint: Which one it is: ``live``, ``sandbox`` or an address.
    """

    endpoint: str

    def balance_cents(self) -> int:
        """Return the money left for rewards, fees and bonuses, US cents."""
        ...

    def requests(
        self, qualification: tuple[str, str] | None, task: Task, offers: Sequence[Offer]
    ) -> Iterator[tuple[str, str]]:
        """Yield each call that offering a task would make: its name, and what it says; make none.

        Args:
            qualification: Name and description of one to be made first; None where there is none.
            task: The task.
            offers: Its offers.
        """
        ...

    def make_type(self, task: Task) -> str:
        """Return the id of a task's type; the same task always has the same."""
        ...

    def post(self, type_id: str, offer: Offer) -> str:
        """Post an offer of a task's type, and return its HIT id."""
        ...

    def find_posted(self, qualification_id: str, token: str) -> str | None:
        """Return the HIT id of the offer with that token, None where there is none.

        Args:
            qualification_id: A qualification that the offer's audience must lack or have.
            token: The offer's; found also when the platform itself has forgotten it.
        """
        ...

    def expire(self, hit_id: str, at: datetime) -> None:
        """Let workers find the offer until then: earlier than now ends it, later reopens it."""
        ...

    def state(self, hit_id: str) -> HitState:
        """Return how far the offer has come."""
        ...

    def submissions(self, hit_id: str) -> Iterator[Submission]:
        """Yield every submitted assignment of the offer, whatever became of it."""
        ...

    def submission(self, assignment_id: str) -> Submission:
        """Return one submitted assignment."""
        ...

    def approve(self, assignment_id: str, feedback: str = "") -> None:
        """Pay a submission's reward; approving an approved one is success."""
        ...

    def reject(self, assignment_id: str, reason: str) -> None:
        """Refuse to pay a submission; rejecting a rejected one is success."""
        ...

    def send_bonus(
        self, worker_id: str, assignment_id: str, amount_cents: int, reason: str, token: str
    ) -> None:
        """Pay a bonus for a submitted assignment; the platform knows a token for 24 hours."""
        ...

    def bonuses(self, hit_id: str) -> Iterator[Bonus]:
        """Yield every bonus paid for the offer's assignments."""
        ...

    def make_qualification(self, name: str, description: str) -> str:
        """Return the id of our qualification of that name, made now unless it is there."""
        ...

    def grant(self, qualification_id: str, worker_id: str) -> None:
        """Give a worker a qualification, without telling them; giving it twice is success."""
        ...

    def notify(self, worker_ids: Sequence[str], subject: str, text: str) -> None:
        """Write to workers who worked for us; never repeated by itself."""
        ...
