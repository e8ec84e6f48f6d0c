"""What paying would do, for somebody to confirm; and what became of it."""

import hashlib
from collections import Counter
from dataclasses import dataclass

from experiment.payment.payment import PaymentState
from webapp.payments.ledger import Entry


@dataclass(frozen=True, slots=True)
class Proposal:
    """What paying would do now.

    Attributes:
        entries: What is not done yet.
        done: How many of those asked for were done before, with the same amounts.
        amount_minor: What the payees get, in minor units of the currency.
        with_fees_minor: The same with the platform's fees.
        currency: The code of the run's currency.
    """

    entries: tuple[Entry, ...]
    done: int
    amount_minor: int
    with_fees_minor: int
    currency: str

    @property
    def digest(self) -> str:
        """What distinguishes this proposal from any other: who gets how much, and for what."""
        lines = sorted(
            "\x1f".join(
                (e.item.payee, e.item.kind, str(e.item.amount_minor), e.item.reason, e.category)
            )
            for e in self.entries
        )
        return hashlib.sha256("\x1e".join((self.currency, *lines)).encode()).hexdigest()

    def order(self, *, undo_rejections: bool = False, additional: bool = False) -> str:
        """What distinguishes it together with what it may do besides: two people ask for both."""
        said = f"{self.digest} {undo_rejections} {additional}"
        return hashlib.sha256(said.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Outcome:
    """How far the payments of a proposal have come.

    Attributes:
        states: How many are in which state.
        answers: What the platform said of those that are not done.
    """

    states: Counter[str]
    answers: tuple[str, ...]

    @property
    def undone(self) -> int:
        """How many are not done."""
        return sum(self.states.values()) - self.states[PaymentState.DONE]

    def __str__(self) -> str:
        return ", ".join(f"{number} {state}" for state, number in sorted(self.states.items()))
