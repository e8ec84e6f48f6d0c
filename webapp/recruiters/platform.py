"""The interface of every paying platform, in vendor-neutral terms.

Every call either succeeds, or raises: ``PlatformError`` if the platform refused permanently,
``PlatformUnreachable`` if the outcome is unknown. Amounts are minor units of the platform's
currency; a client converts them when sending. Abilities of only some platforms are in
``webapp.recruiters.capabilities``.
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
    """A platform refused a call permanently.

    Args:
        problem: The problem.
        code: The platform's own code of the error; empty if it has none.
        where: The call that failed.
        expected: What would have been right.
        remedy: What to do about it.
    """

    def __init__(
        self, problem: str, *, code: str = "", where: str = "", expected: str = "", remedy: str = ""
    ) -> None:
        super().__init__(problem, where=where, expected=expected, remedy=remedy)
        self.code = code


class PlatformUnreachable(PlatformError):
    """No answer, or a fault of the platform: the outcome is unknown. Repeating later is safe."""


@dataclass(frozen=True, slots=True)
class Audience:
    """The requirements on the workers who may take a task.

    Attributes:
        countries: ISO 3166 codes of the countries they live in; empty for all.
        min_approval_percent: The lowest approval rate of their earlier work.
        min_approved: The lowest number of their earlier tasks that were approved.
        masters: Whether only the platform's own elite may take the task.
        having: Required qualifications, by id.
        lacking: Excluded qualifications, by id.
        not_of: Offers of earlier runs; participants of any of them are excluded, by id.
        one_of: For each earlier part, a tuple of the offers of its runs, by id; workers must have
            taken one offer of each tuple.
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
    """The description of a task in the platform's list, and its terms.

    Attributes:
        title: The title.
        description: The description of the work.
        keywords: Search terms.
        reward_minor: The pay of one assignment.
        currency: The code of its currency.
        duration: The time allowed from accepting to submitting.
        approve_after: The time after which the platform approves a submission automatically.
        audience: The workers who may take the task.
        median_minutes: The median time the task takes; None if unknown.
        screen_out_minor: The pay of participants who are screened out; 0 for nothing.
        screen_out_places: How many participants may be paid for being screened out.
        withdrawn_percent: The share of the reward paid to a participant who withdraws; None if a
            researcher decides.
        devices: The kinds of device with which the task can be taken; empty for any.
        filters: The platform's own filters of participants.
        filter_set: A filter set of the platform, instead of filters.
        filter_set_version: The version of the filter set; None for the latest.
        peripherals: Further equipment that participants need.
        naivety: How much newcomers to the platform are preferred; None for the platform's default.
        most_at_once: How many participants may work at the same time; None for any number.
        list_quotas: Whether each list has its own address and number of places.
        label: The platform's name for the kind of work.
        group: The platform's participant group to which participants who finish are added; empty
            for none.
        content_warning: The kind of content that participants are warned of.
        content_warning_details: Details of the warning.
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
    """A number of places (participant slots) of a task, offered for a limited time.

    Attributes:
        link: The address that the platform shows to workers in a frame.
        places: How many workers may take the offer.
        lifetime: How long workers can find the offer.
        token: A unique token, which also marks the offer on the platform, to find it again.
        frame_height_px: The frame's height; 0 for the worker's whole window.
        quotas: Addresses that replace the link, each with its share of the places; empty if one
            link is for all.
    """

    link: str
    places: int
    lifetime: timedelta
    token: str
    frame_height_px: int = 0
    quotas: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class OfferState:
    """The progress of an offer, as the platform counts it.

    Attributes:
        places: The number of workers the offer is for.
        available: Places that no worker has taken.
        pending: Places that a worker has accepted and not submitted.
        completed: Places whose work was approved or rejected.
        expires_at: The time from which workers cannot find the offer, in the past if it was ended
            or paused; None if it stays open until it is ended.
        reward_minor: What the platform pays for each assignment, in minor units, even if the offer
            was posted with another reward; None if the platform does not tell.
        revived: For an offer that was ended with free places: the least number of places that
            workers find once it gets more; 0 otherwise.
        posted_at: When it was posted or published; None if it was not, or the platform does not
            tell.
    """

    places: int
    available: int
    pending: int
    completed: int
    expires_at: datetime | None
    reward_minor: int | None = None
    revived: int = 0
    posted_at: datetime | None = None

    def is_open(self, now: datetime) -> bool:
        """Return whether workers can find the offer."""
        return self.expires_at is None or self.expires_at > now

    @property
    def submitted(self) -> int:
        """The places whose work waits to be approved or rejected."""
        return self.places - self.available - self.pending - self.completed


@dataclass(frozen=True, slots=True)
class Submission:
    """A worker's assignment, as the platform reports it.

    Attributes:
        assignment_id: The platform's id of the assignment.
        offer_id: The id of its offer.
        worker_id: The worker's id.
        status: The status.
        accepted_at: The time at which the worker accepted it.
        submitted_at: The time at which it was submitted; None if it was not.
        fields: The fields of our page's form, sent through the worker's browser and so untrusted.
        paid_minor: The amount paid for it without bonuses; None if the amount follows from its
            status and the task's reward.
        decided_at: The time at which it was approved or rejected; None if it was not, or the
            platform does not tell.
    """

    assignment_id: str
    offer_id: str
    worker_id: str
    status: AssignmentStatus
    accepted_at: datetime
    submitted_at: datetime | None = None
    fields: Mapping[str, str] = field(default_factory=dict)
    paid_minor: int | None = None
    decided_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Bonus:
    """A bonus the platform has paid.

    Attributes:
        worker_id: The worker who got it.
        assignment_id: The assignment on which it was paid.
        amount_minor: The amount, without the fee.
        reason: The message to the worker; empty if the platform does not keep it.
        granted_at: The time of the payment; None if the platform does not keep it.
    """

    worker_id: str
    assignment_id: str
    amount_minor: int
    reason: str = ""
    granted_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class RejectionTerms:
    """A platform's requirements for rejecting a submission.

    Attributes:
        least_characters: The minimum length of the reason.
        categories: The categories, one of which must be named; empty for a platform without any.
    """

    least_characters: int = 1
    categories: tuple[str, ...] = ()


def by_paying_copy(method: Callable[_P, _R]) -> Callable[_P, _R]:
    """Mark a method that moves money or places, or writes to people.

    Only the paying copy may call it.

    ``webapp.recruiters.registry.open_platform`` enforces this, for every platform.
    """
    vars(method)["by_paying_copy"] = True
    return method


class Platform(Protocol):
    """A platform where workers are found and paid.

    Attributes:
        endpoint: The endpoint: ``live``, ``sandbox`` or an address.
        most_places: The largest number of places of one offer, so that fees stay low; None for any
            number.
        tells_every_status: Whether ``submissions`` also yields assignments that were not submitted:
            in progress, returned, timed out. If not, polling infers them.
        hands_in_forms: Whether participants submit a form of our page, which carries a receipt;
            otherwise our server submits for them.
        settles_later: Whether an answered call may be carried out later, or not at all: it then
            counts as done only once the platform reports it.
        rejection_terms: The requirements for a rejection.
    """

    endpoint: str
    most_places: int | None
    tells_every_status: bool
    hands_in_forms: bool
    settles_later: bool
    rejection_terms: RejectionTerms

    @property
    def currency(self) -> str:
        """The code of the currency in which the platform pays."""
        ...

    def fees_minor(self, charges: Sequence[Charge], audience: Audience) -> int:
        """Return the total fee on payments, as the platform itself calculates it."""
        ...

    def balance_minor(self) -> int:
        """Return the balance available for rewards, fees and bonuses."""
        ...

    def requests(
        self, qualification: tuple[str, str] | None, task: Task, offers: Sequence[Offer]
    ) -> Iterator[tuple[str, str]]:
        """Yield the name and content of each call that offering a task would make, without calling.

        Args:
            qualification: Name and description of a qualification to create first; None if there is
                none.
            task: The task.
            offers: Its offers.
        """
        ...

    @by_paying_copy
    def post(self, task: Task, offer: Offer) -> str:
        """Post an offer of a task and return its id; a token the platform knows is no error."""
        ...

    def find_posted(self, token: str, qualification_id: str | None) -> str | None:
        """Return the id of the offer with that token, None if there is none.

        Args:
            token: The offer's token; it is found even if the platform itself has forgotten it.
            qualification_id: One of our qualifications, which the offer's audience must lack or
                have; None on a platform without qualifications.
        """
        ...

    @by_paying_copy
    def expire(self, offer_id: str, at: datetime) -> None:
        """Set the time until which workers find the offer.

        A past time ends it, a later time reopens it.
        """
        ...

    def state(self, offer_id: str) -> OfferState:
        """Return the offer's progress."""
        ...

    def submissions(self, offer_id: str) -> Iterator[Submission]:
        """Yield the assignments of the offer in every status.

        An assignment may come twice, or be missing from one call: it still exists.
        """
        ...

    def submission(self, assignment_id: str) -> Submission:
        """Return one assignment."""
        ...

    @by_paying_copy
    def approve(
        self, assignment_id: str, feedback: str = "", *, undo_rejection: bool = False
    ) -> None:
        """Pay a submission's reward; approving an approved submission is no error.

        Args:
            assignment_id: The submission.
            feedback: The message to the worker.
            undo_rejection: Whether a rejected submission is paid after all.
        """
        ...

    @by_paying_copy
    def reject(self, assignment_id: str, reason: str, category: str = "") -> None:
        """Refuse to pay for a submission; rejecting it a second time is not an error."""
        ...
