"""A proposal of payments for a user to confirm, and its outcome."""

import hashlib
from collections import Counter
from dataclasses import dataclass

from experiment.payment.payment import PaymentState
from webapp.payments.ledger import Entry


@dataclass(frozen=True, slots=True)
class Proposal:
    """The payments that would be made now.

    Attributes:
        entries: The payments not done yet.
        done: How many requested payments were done before, with the same amounts.
        amount_minor: The total for the payees, in minor units of the currency.
        with_fees_minor: The total with the platform's fees.
        currency: The code of the run's currency.
    """

    entries: tuple[Entry, ...]
    done: int
    amount_minor: int
    with_fees_minor: int
    currency: str

    @property
    def digest(self) -> str:
        """A digest of the payees, amounts and reasons, which identifies this proposal."""
        lines = sorted(
            "\x1f".join(
                (e.item.payee, e.item.kind, str(e.item.amount_minor), e.item.reason, e.category)
            )
            for e in self.entries
        )
        return hashlib.sha256("\x1e".join((self.currency, *lines)).encode()).hexdigest()

    def order(self, *, undo_rejections: bool = False, additional: bool = False) -> str:
        """A digest of the proposal and its permissions, which both of two users must request."""
        said = f"{self.digest} {undo_rejections} {additional}"
        return hashlib.sha256(said.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a proposal.

    Attributes:
        states: The number of payments in each state.
        answers: The platform's answers on payments that are not done.
    """

    states: Counter[str]
    answers: tuple[str, ...]

    @property
    def undone(self) -> int:
        """The number of payments that are not done."""
        return sum(self.states.values()) - self.states[PaymentState.DONE]

    def __str__(self) -> str:
        return ", ".join(f"{number} {state}" for state, number in sorted(self.states.items()))
