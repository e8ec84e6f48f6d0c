"""What participants are owed, and the tokens by which nobody is paid twice."""

import hashlib
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from experiment.errors import ParallaxError
from experiment.money import in_words

LONGEST_TOKEN = 64
LONGEST_REASON = 1000


class PaymentError(ParallaxError):
    """An amount cannot be paid as it was asked for."""


class PaymentKind(StrEnum):
    """What is done with a participant's money."""

    REWARD = "reward"
    BONUS = "bonus"
    COMPENSATION = "compensation"
    SCREEN_OUT = "screen_out"
    REJECTION = "rejection"


class PaymentState(StrEnum):
    """How far a payment has come; a token is used by one payment for ever.

    A payment that is ``CALLING`` or ``UNKNOWN`` may or may not have been made, so the platform is
    asked before anything is done again. One that is ``ORDERED`` was set up, and the platform was
    told to pay it, which it is once: from then on it is only asked. One that was ``REFUSED`` was
    certainly not made. One that is ``WITHDRAWN`` was taken back before anybody took it up, or
    rejects what the platform had approved before, and is never made.
    """

    INTENDED = "intended"
    CALLING = "calling"
    ORDERED = "ordered"
    UNKNOWN = "unknown"
    REFUSED = "refused"
    DONE = "done"
    WITHDRAWN = "withdrawn"


# Nothing becomes of these any more.
SETTLED_FOR_GOOD = (PaymentState.DONE, PaymentState.WITHDRAWN)


@dataclass(frozen=True, slots=True)
class PaymentItem:
    """One thing to pay, or to refuse to pay.

    Attributes:
        payee: The participant's reference; for somebody who never became a participant, whatever
            else names them once in the run.
        kind: What is done.
        amount_minor: How much, in minor units of the run's currency; 0 for a rejection.
        reason: What the payee is told.
        serial: Tells payments of one kind to the same payee apart; empty where there is only one.
    """

    payee: str
    kind: PaymentKind
    amount_minor: int
    reason: str
    serial: str = ""

    def token(self, run_ref: str) -> str:
        """Return the payment's token: the same on every attempt, another for every payment."""
        return payment_token(run_ref, self.payee, self.kind, self.serial)


@dataclass(frozen=True, slots=True)
class Caps:
    """The most that is paid, rewards, bonuses and compensation together, in one currency."""

    per_participant_minor: int
    per_run_minor: int
    currency: str


def payment_token(run_ref: str, payee: str, kind: PaymentKind, serial: str = "") -> str:
    """Return a token of 64 characters that follows from its arguments alone."""
    text = "\x1f".join((run_ref, payee, kind, serial))
    return hashlib.sha256(text.encode()).hexdigest()[:LONGEST_TOKEN]


def plain_reason(reason: str) -> str:
    """Return a reason as it is stored and told: one space between words, none around them."""
    return " ".join(unicodedata.normalize("NFC", reason).split())


def is_same_reason(reason: str, other: str) -> bool:
    """Return whether two reasons differ at most in spaces and capitals."""
    return plain_reason(reason).casefold() == plain_reason(other).casefold()


def refuse_over_caps(
    before_minor: Mapping[str, int], new: Sequence[tuple[str, int]], caps: Caps
) -> None:
    """Let pass only what keeps every participant and the run within the caps.

    Args:
        before_minor: What each payee was promised or paid before.
        new: Payees and what they are to get now.
        caps: The most that is allowed.

    Raises:
        PaymentError: It would be too much.
    """
    totals = dict(before_minor)
    for payee, amount_minor in new:
        totals[payee] = totals.get(payee, 0) + amount_minor
        if totals[payee] > caps.per_participant_minor:
            raise PaymentError(
                f"a participant would get {in_words(totals[payee], caps.currency)} in all",
                expected=f"at most {in_words(caps.per_participant_minor, caps.currency)}",
                remedy="The setting most_per_participant is the limit",
            )
    if (total := sum(totals.values())) > caps.per_run_minor and new:
        raise PaymentError(
            f"the run would cost {in_words(total, caps.currency)} in rewards, bonuses and"
            " compensation",
            expected=f"at most {in_words(caps.per_run_minor, caps.currency)}",
            remedy="The setting most_per_run is the limit",
        )
