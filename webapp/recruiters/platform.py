"""What every paying platform offers, in words that belong to no vendor.

Every call either does what it says, or raises: ``PlatformError`` where the platform refused for
good, ``PlatformUnreachable`` where nobody knows whether the deed was done. Amounts are minor units
of the platform's currency; a client converts them where it sends them. What only some platforms can
do is in ``webapp.recruiters.capabilities``.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import ParamSpec, Protocol, TypeVar

from experiment.payment.cost import Charge
from webapp.errors import WebappError
from webapp.recruiters.statuses import AssignmentStatus

_P = ParamSpec("_P")
_R = TypeVar("_R")


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
        not_of: Offers of earlier runs of which they must not have taken any, by id.
        one_of: Offers of an earlier part's runs of which they must have taken one, by id; a tuple
            for each part.
    """

    countries: tuple[str, ...] = ()
    min_approval_percent: int | None = None
    min_approved: int | None = None
    masters: bool = False
    having: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()
    not_of: tuple[str, ...] = ()
    one_of: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Task:
    """What workers read in the platform's list, and on what terms they work.

    Attributes:
        title: Its name.
        description: What there is to do.
        keywords: What workers may search for.
        reward_minor: The pay of one assignment.
        currency: The code of its currency.
        duration: How long a worker has from accepting to submitting.
        approve_after: After how long the platform approves a submission by itself.
        audience: Who may take it.
        median_minutes: How long it takes at the median; None where nobody knows.
        screen_out_minor: The pay of participants who are screened out; 0 for nothing.
        screen_out_places: How many may get that.
        withdrawn_percent: What share of the reward who withdraws gets; None where a person decides.
        devices: With which kinds of device it can be taken; empty for any.
        filters: Who may take it, by the platform's own filters.
        filter_set: A filter set of the platform, in their place.
        filter_set_version: Which version of it; None for the latest.
        peripherals: What else participants need.
        naivety: How much newcomers to the platform are preferred; None for its own choice.
        most_at_once: How many may work at the same time; None for any number.
        list_quotas: Whether each list has an address and a number of places of its own.
        label: What kind of work it is, by the platform's word.
        group: A group of the platform's that whoever finishes is put into; empty for none.
        content_warning: What participants are warned of.
        content_warning_details: In what way it is so.
    """

    title: str
    description: str
    keywords: tuple[str, ...]
    reward_minor: int
    currency: str
    duration: timedelta
    approve_after: timedelta
    audience: Audience = field(default_factory=Audience)
    median_minutes: float | None = None
    screen_out_minor: int = 0
    screen_out_places: int = 0
    withdrawn_percent: int | None = None
    devices: tuple[str, ...] = ()
    filters: tuple[Mapping[str, object], ...] = field(default=(), hash=False)
    filter_set: str = ""
    filter_set_version: int | None = None
    peripherals: tuple[str, ...] = ()
    naivety: float | None = None
    most_at_once: int | None = None
    list_quotas: bool = False
    label: str = ""
    group: str = ""
    content_warning: str = ""
    content_warning_details: str = ""


@dataclass(frozen=True, slots=True)
class Offer:
    """So many places of a task, offered for a while.

    Attributes:
        link: The address that the platform shows to workers in a frame.
        places: How many workers may take it.
        lifetime: For how long it can be found.
        token: Another one for each offer; it also marks the offer, so that it can be found again.
        frame_height_px: The frame's height; 0 for the worker's whole window.
        quotas: Addresses in place of the link, each with how many of the places it has; empty
            where the link is for all.
    """

    link: str
    places: int
    lifetime: timedelta
    token: str
    frame_height_px: int = 0
    quotas: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class OfferState:
    """How far an offer has come, as the platform counts.

    Attributes:
        places: How many workers it is for.
        available: Places that nobody has taken.
        pending: Places that somebody has accepted and not submitted.
        completed: Places whose work was approved or rejected.
        expires_at: When workers cannot find it any more, past for one that was ended or paused;
            None where it can be found until somebody ends it.
        reward_minor: What the platform pays for each, minor units, whatever it was posted with;
            None where it does not tell.
        revived: How many places people find at least when it gets more, of an offer that was
            ended with some left; 0 otherwise.
    """

    places: int
    available: int
    pending: int
    completed: int
    expires_at: datetime | None
    reward_minor: int | None = None
    revived: int = 0

    def is_open(self, now: datetime) -> bool:
        """Return whether workers can find it."""
        return self.expires_at is None or self.expires_at > now

    @property
    def submitted(self) -> int:
        """Places whose work waits to be approved or rejected."""
        return self.places - self.available - self.pending - self.completed


@dataclass(frozen=True, slots=True)
class Submission:
    """A worker's assignment, as the platform reports it.

    Attributes:
        assignment_id: The platform's id of it.
        offer_id: That of the offer it is of.
        worker_id: Whose it is.
        status: How far it has come.
        accepted_at: When it was taken.
        submitted_at: When it was handed in; None for one that was not.
        fields: What the page's form sent through the worker's browser, so anybody may have
            written it.
        paid_minor: What was paid for it, bonuses aside; None where that follows from its status
            and the task's reward.
    """

    assignment_id: str
    offer_id: str
    worker_id: str
    status: AssignmentStatus
    accepted_at: datetime
    submitted_at: datetime | None = None
    fields: Mapping[str, str] = field(default_factory=dict)
    paid_minor: int | None = None


@dataclass(frozen=True, slots=True)
class Bonus:
    """A bonus the platform has paid.

    Attributes:
        worker_id: Who got it.
        assignment_id: On which assignment.
        amount_minor: How much, without the fee.
        reason: What they were told; empty where the platform does not keep it.
        granted_at: When; None where the platform does not keep it.
    """

    worker_id: str
    assignment_id: str
    amount_minor: int
    reason: str = ""
    granted_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class RejectionTerms:
    """What a platform requires of a researcher who refuses to pay.

    Attributes:
        least_characters: How long the reason must be.
        categories: One of these must be named; empty for a platform without any.
    """

    least_characters: int = 1
    categories: tuple[str, ...] = ()


def by_paying_copy(method: Callable[_P, _R]) -> Callable[_P, _R]:
    """Mark what moves money or places, or writes to people: only the paying copy may call it.

    ``webapp.recruiters.registry.open_platform`` sees to it, for every platform.
    """
    vars(method)["by_paying_copy"] = True
    return method


class Platform(Protocol):
    """A platform where workers are found and paid.

    Attributes:
        endpoint: Which one it is: ``live``, ``sandbox`` or an address.
        most_places: How many places one offer is made for at most, so that fees stay low; None
            for any number.
        tells_every_status: Whether ``submissions`` yields assignments that nobody has handed in
            too: those at work, given back, timed out. Where it does not, polling infers them.
        hands_in_forms: Whether people hand in a form of our page, which brings a receipt; elsewhere
            our server hands in for them.
        settles_later: Whether a call that was answered may be carried out only later, or not at
            all: then a deed counts only when the platform reports it.
        rejection_terms: What it asks of a rejection.
    """

    endpoint: str
    most_places: int | None
    tells_every_status: bool
    hands_in_forms: bool
    settles_later: bool
    rejection_terms: RejectionTerms

    @property
    def currency(self) -> str:
        """The code of the money it pays in."""
        ...

    def fees_minor(self, charges: Sequence[Charge], audience: Audience) -> int:
        """Return the platform's fee on payments together, as the platform itself calculates it."""
        ...

    def balance_minor(self) -> int:
        """Return the money left for rewards, fees and bonuses."""
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

    @by_paying_copy
    def post(self, task: Task, offer: Offer) -> str:
        """Post an offer of a task, and return its id; a token the platform knows is success."""
        ...

    def find_posted(self, token: str, qualification_id: str | None) -> str | None:
        """Return the id of the offer with that token, None where there is none.

        Args:
            token: The offer's; found also when the platform itself has forgotten it.
            qualification_id: One of our qualifications, which the offer's audience must lack or
                have; None on a platform without them.
        """
        ...

    @by_paying_copy
    def expire(self, offer_id: str, at: datetime) -> None:
        """Let workers find the offer until then: earlier than now ends it, later reopens it."""
        ...

    def state(self, offer_id: str) -> OfferState:
        """Return how far the offer has come."""
        ...

    def submissions(self, offer_id: str) -> Iterator[Submission]:
        """Yield the assignments of the offer, whatever became of them.

        One may come twice, or be missing until the next time: what is missing is not gone.
        """
        ...

    def submission(self, assignment_id: str) -> Submission:
        """Return one assignment."""
        ...

    @by_paying_copy
    def approve(
        self, assignment_id: str, feedback: str = "", *, undo_rejection: bool = False
    ) -> None:
        """Pay a submission's reward; approving an approved one is success.

        Args:
            assignment_id: The submission.
            feedback: What the worker reads.
            undo_rejection: Whether one that was rejected is paid after all.
        """
        ...

    @by_paying_copy
    def reject(self, assignment_id: str, reason: str, category: str = "") -> None:
        """Refuse to pay a submission; rejecting a rejected one is success."""
        ...
