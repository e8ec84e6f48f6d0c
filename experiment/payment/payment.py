"""Payments to participants, and the tokens that prevent double payment."""

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
    """A requested amount cannot be paid."""


class PaymentKind(StrEnum):
    """The kind of a payment, or its rejection."""

    REWARD = "reward"
    BONUS = "bonus"
    COMPENSATION = "compensation"
    SCREEN_OUT = "screen_out"
    REJECTION = "rejection"


class PaymentState(StrEnum):
    """The state of a payment; each token belongs to a single payment forever.

    A payment that is ``CALLING`` or ``UNKNOWN`` may or may not have been made, so the platform is
    queried before any further attempt. An ``ORDERED`` payment was set up, and the platform was told
    once to pay it: from then on the platform is only queried. A ``REFUSED`` payment was certainly
    not made. A ``WITHDRAWN`` payment was cancelled before processing, or rejects work that the
    platform had already approved, and is never made.
    """

    INTENDED = "intended"
    CALLING = "calling"
    ORDERED = "ordered"
    UNKNOWN = "unknown"
    REFUSED = "refused"
    DONE = "done"
    WITHDRAWN = "withdrawn"


# Final states.
SETTLED_FOR_GOOD = (PaymentState.DONE, PaymentState.WITHDRAWN)


@dataclass(frozen=True, slots=True)
class PaymentItem:
    """A payment, or a rejection.

    Attributes:
        payee: The participant's reference; for a person who never became a participant, another
            identifier that is unique in the run.
        kind: The kind of payment.
        amount_minor: The amount in minor units of the run's currency; 0 for a rejection.
        reason: The reason given to the payee.
        serial: Distinguishes payments of one kind to the same payee; empty if there is only one.
    """

    payee: str
    kind: PaymentKind
    amount_minor: int
    reason: str
    serial: str = ""

    def token(self, run_ref: str) -> str:
        """Return the payment's token, the same for every attempt and unique to the payment."""
        return payment_token(run_ref, self.payee, self.kind, self.serial)


@dataclass(frozen=True, slots=True)
class Caps:
    """The maximum of rewards, bonuses and compensation together, in one currency."""

    per_participant_minor: int
    per_run_minor: int
    currency: str


def payment_token(run_ref: str, payee: str, kind: PaymentKind, serial: str = "") -> str:
    """Return a token of 64 characters that depends only on the arguments."""
    text = "\x1f".join((run_ref, payee, kind, serial))
    return hashlib.sha256(text.encode()).hexdigest()[:LONGEST_TOKEN]


def plain_reason(reason: str) -> str:
    """Return a reason with normalised spaces, as stored and as shown to the payee."""
    return " ".join(unicodedata.normalize("NFC", reason).split())


def is_same_reason(reason: str, other_reason: str) -> bool:
    """Return whether two reasons differ at most in spaces and capitals."""
    return plain_reason(reason).casefold() == plain_reason(other_reason).casefold()


def refuse_over_caps(
    before_minor: Mapping[str, int], new: Sequence[tuple[str, int]], caps: Caps
) -> None:
    """Raise a PaymentError unless every participant and the run stay within the caps.

    Args:
        before_minor: The amount that each payee was promised or paid before.
        new: Payees and their new amounts.
        caps: The maximum amounts.

    Raises:
        PaymentError: A cap would be exceeded.
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
