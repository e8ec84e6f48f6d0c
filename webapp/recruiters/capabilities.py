"""Abilities of only some paying platforms: protocols, tested with ``isinstance``.

Code outside a recruiter's folder never checks which platform it has.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Protocol, runtime_checkable

from webapp.recruiters.platform import Bonus, Offer, Task, by_paying_copy


@runtime_checkable
class TokenBonuses(Protocol):
    """Pays bonuses that carry our token, so that a repeated call pays nothing twice."""

    @by_paying_copy
    def send_bonus(
        self, worker_id: str, assignment_id: str, amount_minor: int, reason: str, token: str
    ) -> None:
        """Pay a bonus for a judged assignment.

        The call succeeds if the platform knows the token.
        """
        ...

    def bonuses(self, offer_id: str) -> Iterator[Bonus]:
        """Yield every bonus paid for the offer's assignments, with its reason."""
        ...


@runtime_checkable
class TwoStepBonuses(Protocol):
    """Pays a bonus in two steps, set-up and payment; each payment call pays again.

    A set-up alone costs nothing. Its id is committed before the payment. ``pay_bonus`` is called at
    most once for each set-up, and the client never repeats it; the outcome is read afterwards.
    """

    @by_paying_copy
    def set_up_bonus(self, offer_id: str, assignment_id: str, amount_minor: int) -> str:
        """Set up one bonus for one assignment and return the set-up's id; nothing is paid yet."""
        ...

    @by_paying_copy
    def pay_bonus(self, set_up_id: str) -> None:
        """Tell the platform to pay a set-up bonus; the platform may pay it later.

        Raises:
            PlatformUnreachable: It is unknown whether the call reached the platform.
            PlatformError: The platform refused: certainly nothing is paid.
        """
        ...

    def bonuses_of(self, assignment_id: str) -> Sequence[int]:
        """Return the amount of each bonus that the assignment shows as paid, in any order."""
        ...


@runtime_checkable
class BonusesForAnybody(TwoStepBonuses, Protocol):
    """Pays bonuses also on assignments that were returned or ran out of time.

    Compensation is paid this way, on the assignment that could not be submitted.

    Attributes:
        pays_unsubmitted: True.
    """

    pays_unsubmitted: bool


@runtime_checkable
class Qualifications(Protocol):
    """Marks workers with qualifications, and restricts tasks to workers with or without one."""

    def make_qualification(self, name: str, description: str) -> str:
        """Return the id of our qualification of that name, creating the qualification if needed."""
        ...

    def find_qualification(self, name: str) -> str | None:
        """Return the id of our qualification of that name; None if it does not exist."""
        ...

    def grant(self, qualification_id: str, worker_id: str) -> None:
        """Give a worker a qualification without notifying them; repeating the call is no error."""
        ...


@runtime_checkable
class Drafts(Protocol):
    """Makes a draft in ``post``; workers cannot find the draft before it is launched."""

    @by_paying_copy
    def launch(self, offer_id: str) -> None:
        """Let workers find a posted draft; repeating the call is no error."""
        ...


@runtime_checkable
class GrowingOffers(Protocol):
    """Adds places to an existing offer, instead of posting another."""

    @by_paying_copy
    def grow(self, offer_id: str, places: int) -> None:
        """Set the offer's total number of places and open it.

        Setting the present number is no error.
        """
        ...


@runtime_checkable
class ListQuotas(Protocol):
    """Gives each list of an offer its own address and number of places."""

    def list_places(self, offer_id: str) -> Mapping[str, int]:
        """Return how many places each address of an offer still has free."""
        ...

    @by_paying_copy
    def grow_lists(self, offer_id: str, quotas: Sequence[tuple[str, int]]) -> None:
        """Add places to addresses of an offer; the client never repeats this call."""
        ...


@runtime_checkable
class Letters(Protocol):
    """Writes to workers who worked for us."""

    @by_paying_copy
    def notify(self, worker_ids: Sequence[str], subject: str, text: str) -> Collection[str]:
        """Write to workers who worked for us, and return the workers whom no message reached.

        The client never repeats this call.
        """
        ...


@runtime_checkable
class Accounts(Protocol):
    """Has several accounts; the credentials and settings select one."""

    def account(self) -> str:
        """Return the platform's id of the account that pays."""
        ...


@runtime_checkable
class Messages(Protocol):
    """Writes to participants about an offer that they took."""

    @by_paying_copy
    def write(self, offer_id: str, worker_ids: Sequence[str], text: str) -> None:
        """Write to participants who took the offer; the client never repeats this call.

        Raises:
            PlatformUnreachable: It is unknown whether the message was sent.
        """
        ...


@runtime_checkable
class CountedAudience(Protocol):
    """Counts the people who could find a task."""

    def eligible(self, task: Task) -> int | None:
        """Return the number of people.

        None if it is below the smallest number that the platform reports.
        """
        ...


@runtime_checkable
class TestOffers(Protocol):
    """Makes a copy of a draft for test participants."""

    def offer_test(self, task: Task, offer: Offer) -> str:
        """Return the address of a copy of the offer that only test participants can find."""
        ...


@runtime_checkable
class Webhooks(Protocol):
    """Calls our server when something happens to a submission."""

    def hook_secret(self, *, new: bool) -> str:
        """Return the secret with which the platform signs its calls.

        Args:
            new: Whether a new secret is made; the old one then stops working for every other tool.
        """
        ...

    def subscribe(self, target_url: str) -> str:
        """Subscribe an address to calls and return the subscription's id.

        Repeating it is no error.
        """
        ...


@runtime_checkable
class ReturnRequests(Protocol):
    """Asks workers to return an assignment, which has no cost for them."""

    @by_paying_copy
    def request_return(self, assignment_id: str, reason: str) -> None:
        """Ask the worker to return the assignment; asking twice is no error."""
        ...


@runtime_checkable
class ScreenOuts(Protocol):
    """Pays a smaller reward for a screening.

    ``Task`` holds the amount and the number of payments.
    """

    def screen_outs_left(self, offer_id: str) -> int:
        """Return how many screen-outs may still be paid."""
        ...

    @by_paying_copy
    def add_screen_outs(self, offer_id: str, places: int) -> None:
        """Set the total number of paid screen-outs; setting the present number is no error."""
        ...


@runtime_checkable
class PublishNotes(Protocol):
    """Has notes on a task for the researcher to read before publishing."""

    def notes(self, task: Task) -> Sequence[tuple[str, str]]:
        """Return the notes for the researcher, each as a name and a value."""
        ...


@runtime_checkable
class EditedOffers(Protocol):
    """Has offers that can be changed on the platform's own site, without our knowledge."""

    def edits(self, offer_id: str, task: Task, link: str) -> Sequence[str]:
        """Return descriptions of each difference between an offer and what was posted."""
        ...


@runtime_checkable
class StoppableOffers(Protocol):
    """Ends offers permanently, which frees the money they reserve."""

    @by_paying_copy
    def stop(self, offer_id: str) -> None:
        """End an offer; repeating the call is no error."""
        ...


@runtime_checkable
class Demographics(Protocol):
    """Exports participants' demographics, a limited number of times."""

    most_exports: int

    def exports_used(self, offer_id: str) -> int:
        """Return how many of an offer's limited exports have been used."""
        ...

    def demographics(self, offer_id: str) -> bytes:
        """Return the table of participants; an identical request uses up no further export."""
        ...
