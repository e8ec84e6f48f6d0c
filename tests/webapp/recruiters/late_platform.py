"""A second paying platform, in memory, with everything that Mechanical Turk spares us.

It is asynchronous: it answers at once, and does what was asked hours later. It is not idempotent: a
bonus that it is told to pay again is paid again. Its lists come in any order, with rows twice and
rows missing. It tells every status by itself, takes amounts in yen, and fails where a test says so.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from experiment.payment.cost import Charge
from webapp.recruiters.arrivals import Acceptance, Arrival, Landing, checked_id
from webapp.recruiters.base import Recruiter
from webapp.recruiters.platform import (
    Audience,
    Offer,
    OfferState,
    Platform,
    PlatformError,
    PlatformUnreachable,
    RejectionTerms,
    Submission,
    Task,
)
from webapp.recruiters.statuses import SUBMITTED_STATUSES, AssignmentStatus

LATE = timedelta(hours=1)
REWARD, LEAST_REASON, CATEGORY = 150, 20, "LOW_EFFORT"


@dataclass
class LatePlatform:
    """Offers, assignments and money, and how often it was told to pay each set-up."""

    clock: Callable[[], datetime]
    rng: random.Random
    endpoint: str = "http://127.0.0.1:2"
    currency: str = "JPY"
    most_places: int | None = None
    tells_every_status: bool = True
    hands_in_forms: bool = False
    settles_later: bool = True
    pays_unsubmitted: bool = True
    rejection_terms: RejectionTerms = RejectionTerms(LEAST_REASON, (CATEGORY, "OTHER"))  # noqa: RUF009
    assignments: dict[str, Submission] = field(default_factory=dict)
    offers: dict[str, Offer] = field(default_factory=dict)
    launched: set[str] = field(default_factory=set)
    paused: set[str] = field(default_factory=set)
    set_ups: dict[str, tuple[str, int]] = field(default_factory=dict)
    orders: Counter[str] = field(default_factory=Counter)
    bonuses: dict[str, list[int]] = field(default_factory=dict)
    fail: Callable[[str, str], None] = lambda operation, when: None
    ignores_orders: bool = False
    _later: list[tuple[datetime, Callable[[], None]]] = field(default_factory=list)

    # Workers' side

    def take(self, worker_id: str) -> str:
        [offer_id] = self.launched
        id_ = f"S{len(self.assignments) + 1:05}"
        self.assignments[id_] = Submission(
            id_, offer_id, worker_id, AssignmentStatus.ACTIVE, self.clock()
        )
        return id_

    def become(self, assignment_id: str, status: AssignmentStatus, paid: int | None = None) -> None:
        known = self.assignments[assignment_id]
        handed_in = self.clock() if status in SUBMITTED_STATUSES else None
        self.assignments[assignment_id] = replace(
            known, status=status, submitted_at=handed_in, paid_minor=paid
        )

    def paid(self, worker_id: str) -> list[tuple[str, int]]:
        """Return what somebody was really paid."""
        self._catch_up()
        found = [one for one in self.assignments.values() if one.worker_id == worker_id]
        rewards = [("reward", REWARD) for a in found if a.status is AssignmentStatus.APPROVED]
        bonuses = [("bonus", b) for a in found for b in self.bonuses.get(a.assignment_id, [])]
        return rewards + bonuses

    # Requesters' side

    def fees_minor(self, charges: Sequence[Charge], audience: Audience) -> int:
        return sum(charge.amount_minor * charge.payments for charge in charges) // 3

    def balance_minor(self) -> int:
        return 1_000_000

    def requests(self, qualification, task: Task, offers: Sequence[Offer]):
        yield from (("POST /offers", offer.token) for offer in offers)

    def post(self, task: Task, offer: Offer) -> str:
        with self._called("post"):
            id_ = f"O{len(self.offers) + 1}"
            self.offers[id_] = offer
            return id_

    def find_posted(self, token: str, qualification_id: str | None) -> str | None:
        with self._called("find_posted"):
            return next((id_ for id_, one in self.offers.items() if one.token == token), None)

    def launch(self, offer_id: str) -> None:
        with self._called("launch"):
            self.launched.add(offer_id)

    def grow(self, offer_id: str, places: int) -> None:
        with self._called("grow"):
            self.offers[offer_id] = replace(self.offers[offer_id], places=places)
            self.paused.discard(offer_id)

    def expire(self, offer_id: str, at: datetime) -> None:
        with self._called("expire"):
            (self.paused.add if at <= self.clock() else self.paused.discard)(offer_id)

    def state(self, offer_id: str) -> OfferState:
        with self._called("state"):
            there = [a.status for a in self.assignments.values() if a.offer_id == offer_id]
            working = there.count(AssignmentStatus.ACTIVE)
            ended = sum(status in SUBMITTED_STATUSES for status in there)
            waiting = there.count(AssignmentStatus.SUBMITTED)
            places = self.offers[offer_id].places
            closed = offer_id in self.paused or offer_id not in self.launched
            over = self.clock() - LATE if closed else None
            return OfferState(places, places - working - ended, working, ended - waiting, over)

    def submissions(self, offer_id: str) -> Iterator[Submission]:
        with self._called("submissions"):
            rows = [one for one in self.assignments.values() if one.offer_id == offer_id]
            kept = [row for row in rows if self.rng.random() < 0.8]
            kept += self.rng.choices(rows, k=len(rows) // 2) if rows else []
            self.rng.shuffle(kept)
        yield from kept

    def submission(self, assignment_id: str) -> Submission:
        with self._called("submission"):
            return self._known(assignment_id)

    def approve(
        self, assignment_id: str, feedback: str = "", *, undo_rejection: bool = False
    ) -> None:
        with self._called("approve"):
            wanted = self._known(assignment_id).status
            if wanted is AssignmentStatus.REJECTED and not undo_rejection:
                raise PlatformError("it is rejected")
            self._do_later(lambda: self.become(assignment_id, AssignmentStatus.APPROVED))

    def reject(self, assignment_id: str, reason: str, category: str = "") -> None:
        with self._called("reject"):
            if len(reason) < LEAST_REASON or category != CATEGORY:
                raise PlatformError("a reason and a category are wanted")
            self._do_later(lambda: self.become(assignment_id, AssignmentStatus.REJECTED))

    def set_up_bonus(self, offer_id: str, assignment_id: str, amount_minor: int) -> str:
        with self._called("set_up_bonus"):
            assert self._known(assignment_id).offer_id == offer_id
            id_ = f"B{len(self.set_ups) + 1}"
            self.set_ups[id_] = (assignment_id, amount_minor)
            return id_

    def pay_bonus(self, set_up_id: str) -> None:
        with self._called("pay_bonus"):
            self.orders[set_up_id] += 1
            assignment_id, amount_minor = self.set_ups[set_up_id]
            shown = self.bonuses.setdefault(assignment_id, [])
            if not self.ignores_orders:
                self._do_later(lambda: shown.append(amount_minor))

    def bonuses_of(self, assignment_id: str) -> Sequence[int]:
        with self._called("bonuses_of"):
            return self.rng.sample(shown := self.bonuses.get(assignment_id, []), len(shown))

    def _known(self, assignment_id: str) -> Submission:
        if assignment_id not in self.assignments:
            raise PlatformError("there is no such submission")
        return self.assignments[assignment_id]

    def _do_later(self, deed: Callable[[], None]) -> None:
        self._later.append((self.clock() + self.rng.choice((timedelta(), LATE)), deed))

    def _catch_up(self) -> None:
        now = self.clock()
        due = [deed for at, deed in self._later if at <= now]
        self._later = [(at, deed) for at, deed in self._later if at > now]
        for deed in due:
            deed()

    def _called(self, operation: str) -> "_Call":
        self._catch_up()
        return _Call(self, operation)


class _Call:
    """One call: it may be lost on the way there, or on the way back."""

    def __init__(self, platform: LatePlatform, operation: str) -> None:
        self._fail, self._operation = platform.fail, operation

    def __enter__(self) -> None:
        self._fail(self._operation, "before")

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self._fail(self._operation, "after")


def lost(wanted: str, when: str) -> Callable[[str, str], None]:
    """Return what loses the first call of one operation, before or after the deed."""
    left = [True]

    def fail(operation: str, at: str) -> None:
        if left and (operation, at) == (wanted, when):
            left.clear()
            raise PlatformUnreachable("there was no answer")

    return fail


class LateRecruiter(Recruiter):
    """Brings people of the platform above, whose links name them."""

    name = "tests.webapp.recruiters.late_platform:LateRecruiter"
    platform: Platform

    def arrival(self, landing: Landing) -> Arrival:
        person = checked_id(landing.arguments, "person")
        return Arrival(person, acceptance=Acceptance(landing.arguments["submission"], "O1", ""))

    def open_platform(self, *, live: bool) -> Platform:
        return type(self).platform
