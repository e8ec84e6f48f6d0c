"""What only some paying platforms can do: each a protocol, asked for by ``isinstance``.

Nothing outside a recruiter's folder asks which platform it is.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Protocol, runtime_checkable

from webapp.recruiters.platform import Bonus, Offer, Task, by_paying_copy


@runtime_checkable
class TokenBonuses(Protocol):
    """Pays bonuses that carry our token, so that a repetition pays nothing twice."""

    @by_paying_copy
    def send_bonus(
        self, worker_id: str, assignment_id: str, amount_minor: int, reason: str, token: str
    ) -> None:
        """Pay a bonus for a judged assignment; a token the platform knows is success."""
        ...

    def bonuses(self, offer_id: str) -> Iterator[Bonus]:
        """Yield every bonus paid for the offer's assignments, with its reason."""
        ...


@runtime_checkable
class TwoStepBonuses(Protocol):
    """Pays a bonus that was set up before, and again each time it is told to.

    A set-up alone costs nothing. Its id is committed before it is paid. ``pay_bonus`` is called at
    most once for a set-up, and never repeated by the client; what became of it is read.
    """

    @by_paying_copy
    def set_up_bonus(self, offer_id: str, assignment_id: str, amount_minor: int) -> str:
        """Return the id of a new set-up of one bonus for one assignment; nothing is paid yet."""
        ...

    @by_paying_copy
    def pay_bonus(self, set_up_id: str) -> None:
        """Tell the platform to pay what was set up; it may do so only later.

        Raises:
            PlatformUnreachable: Nobody knows whether it was told.
            PlatformError: It refused: certainly nothing is paid.
        """
        ...

    def bonuses_of(self, assignment_id: str) -> Sequence[int]:
        """Return the amount of each bonus that the assignment shows as paid, in any order."""
        ...


@runtime_checkable
class BonusesForAnybody(TwoStepBonuses, Protocol):
    """Pays bonuses on assignments that were returned or ran out of time, too.

    Compensation is paid so, on the assignment that could not be handed in.

    Attributes:
        pays_unsubmitted: True.
    """

    pays_unsubmitted: bool


@runtime_checkable
class Qualifications(Protocol):
    """Marks workers, and offers tasks to those who have a mark or lack it."""

    def make_qualification(self, name: str, description: str) -> str:
        """Return the id of our qualification of that name, made now unless it is there."""
        ...

    def find_qualification(self, name: str) -> str | None:
        """Return the id of our qualification of that name; None where there is none."""
        ...

    def grant(self, qualification_id: str, worker_id: str) -> None:
        """Give a worker a qualification, without telling them; giving it twice is success."""
        ...


@runtime_checkable
class Drafts(Protocol):
    """``post`` makes a draft that nobody finds before it is launched."""

    @by_paying_copy
    def launch(self, offer_id: str) -> None:
        """Let workers find a posted draft; launching a launched one is success."""
        ...


@runtime_checkable
class GrowingOffers(Protocol):
    """Adds places to an offer that is there, in place of posting another."""

    @by_paying_copy
    def grow(self, offer_id: str, places: int) -> None:
        """Let an offer have so many places in all, and be found; as many as it has is success."""
        ...


@runtime_checkable
class ListQuotas(Protocol):
    """Gives each list of an offer an address and a number of places of its own."""

    def list_places(self, offer_id: str) -> Mapping[str, int]:
        """Return how many places each address of an offer still has for somebody."""
        ...

    @by_paying_copy
    def grow_lists(self, offer_id: str, quotas: Sequence[tuple[str, int]]) -> None:
        """Add places to addresses of an offer; it is never repeated by itself."""
        ...


@runtime_checkable
class Letters(Protocol):
    """Writes to workers."""

    @by_paying_copy
    def notify(self, worker_ids: Sequence[str], subject: str, text: str) -> Collection[str]:
        """Write to workers who worked for us, and return those whom no letter reached.

        It is never repeated by itself.
        """
        ...


@runtime_checkable
class Accounts(Protocol):
    """Has several accounts, of which the credentials and settings choose one."""

    def account(self) -> str:
        """Return the platform's id of the account that pays."""
        ...


@runtime_checkable
class Messages(Protocol):
    """Writes to people about an offer that they took."""

    @by_paying_copy
    def write(self, offer_id: str, worker_ids: Sequence[str], text: str) -> None:
        """Write to people who took the offer; it is never repeated by itself.

        Raises:
            PlatformUnreachable: Nobody knows whether it was sent.
        """
        ...


@runtime_checkable
class CountedAudience(Protocol):
    """Says how many people could find a task."""

    def eligible(self, task: Task) -> int | None:
        """Return how many; None where there are fewer than the platform tells."""
        ...


@runtime_checkable
class TestOffers(Protocol):
    """Makes a copy of a draft for people who only try it out."""

    def offer_test(self, task: Task, offer: Offer) -> str:
        """Return the address of a copy of the offer, which nobody but test participants find."""
        ...


@runtime_checkable
class Webhooks(Protocol):
    """Calls our server when something happens to a submission."""

    def hook_secret(self, *, new: bool) -> str:
        """Return what the platform signs its calls with.

        Args:
            new: Whether another one is made, by which every other tool's stops working.
        """
        ...

    def subscribe(self, target_url: str) -> str:
        """Have an address called, and return the subscription's id; again is success."""
        ...


@runtime_checkable
class ReturnRequests(Protocol):
    """Asks workers to give an assignment back, which costs them nothing."""

    @by_paying_copy
    def request_return(self, assignment_id: str, reason: str) -> None:
        """Ask for it; asking twice is success."""
        ...


@runtime_checkable
class ScreenOuts(Protocol):
    """Pays a smaller reward for a screening; ``Task`` says how much, and how often."""

    def screen_outs_left(self, offer_id: str) -> int:
        """Return how many may still be paid for being screened out."""
        ...

    @by_paying_copy
    def add_screen_outs(self, offer_id: str, places: int) -> None:
        """Let so many in all be paid for being screened out; as many as there are is success."""
        ...


@runtime_checkable
class PublishNotes(Protocol):
    """Has something to say of a task before it is published."""

    def notes(self, task: Task) -> Sequence[tuple[str, str]]:
        """Return what a researcher should know: a name and a value each."""
        ...


@runtime_checkable
class EditedOffers(Protocol):
    """Offers can be changed on the platform's own site, behind our back."""

    def edits(self, offer_id: str, task: Task, link: str) -> Sequence[str]:
        """Return what of an offer is not as it was posted, in words."""
        ...


@runtime_checkable
class StoppableOffers(Protocol):
    """Ends offers for good, which frees what they hold back."""

    @by_paying_copy
    def stop(self, offer_id: str) -> None:
        """End an offer; ending an ended one is success."""
        ...


@runtime_checkable
class Demographics(Protocol):
    """Exports participants' demographics, a limited number of times."""

    most_exports: int

    def exports_used(self, offer_id: str) -> int:
        """Return how many exports of an offer were made, of those that can be made."""
        ...

    def demographics(self, offer_id: str) -> bytes:
        """Return the table of who took part; asking the same again uses nothing up."""
        ...
