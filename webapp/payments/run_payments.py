"""A run that pays: proposing payments and making them, for the commands and the pages alike.

A request first becomes a proposal, which a user confirms. Carrying it out records the user in the
audit log, in the transaction that stores the payments.
"""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from sqlalchemy.orm import Session

from experiment.money import in_words
from experiment.payment.cost import Charge
from experiment.payment.payment import (
    Caps,
    PaymentKind,
    PaymentState,
)
from experiment.studies.study import Study
from webapp.core.clock import Clock
from webapp.core.settings import Settings
from webapp.database.engine import Sessions, reading
from webapp.database.models import Payment, Run
from webapp.errors import RunError
from webapp.payments.accounts import PayeeAccount, accounts
from webapp.payments.compensate import offer_compensation, taken_up
from webapp.payments.ledger import (
    Entry,
    is_settled,
    line_of,
    payments_of,
    record_payments,
    refuse_other_amounts,
)
from webapp.payments.pay import pay, pay_entries
from webapp.recruiters.platform import Platform
from webapp.recruiters.registry import open_platform
from webapp.recruitment.plan_cost import limits_of
from webapp.recruitment.poll import poll
from webapp.recruitment.publish import published, recruitment_hits
from webapp.recruitment.terms import refuse_another_reward, refuse_other_purse, task_of
from webapp.runs.runs import find_named_run, load_launched_study
from webapp.runs.second_person import GuardedRequest, close_request, find_first_person
from webapp.users.audit_log import record_act


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


@dataclass(frozen=True, slots=True)
class RunPayments:
    """A run that pays: its up-to-date records, and its platform.

    Attributes:
        settings: The installation's settings.
        sessions: The installation's session factory.
        run: The run.
        study: Its study.
        platform: The platform on which its participants are paid.
        by: The user who pays, for the audit log.
        now: The clock.
    """

    settings: Settings
    sessions: Sessions
    run: Run
    study: Study
    platform: Platform
    by: str
    now: Clock

    @property
    def caps(self) -> Caps:
        """The installation's limits of pay."""
        return limits_of(self.settings, self.run.currency).caps

    def accounts(self) -> list[PayeeAccount]:
        """Return the account of each participant."""
        with reading(self.sessions) as session:
            return accounts(session, self.run)

    def proposal(self, entries: Sequence[Entry]) -> Proposal:
        """Return the proposal of paying these entries now.

        Raises:
            PaymentError: It exceeds a limit, or an entry was decided with another amount.
            RunError: The balance is too small, or the reward was changed on the platform.
        """
        lines = self.ledger()
        # Done payments are also checked against the requested amounts.
        refuse_other_amounts(self.run, entries, lines)
        left = [
            entry
            for entry in entries
            if (line := line_of(entry, self.run.ref, lines)) is None or not is_decided(line)
        ]
        if any(entry.item.kind == PaymentKind.REWARD for entry in left):
            self._refuse_another_reward()
        if left:
            self._refuse_too_much(left)
        return Proposal(
            entries=tuple(left),
            done=len(entries) - len(left),
            amount_minor=sum(entry.item.amount_minor for entry in left),
            with_fees_minor=self._with_fees_minor(left),
            currency=self.run.currency,
        )

    def carry_out(
        self, proposal: Proposal, *, undo_rejections: bool = False, additional: bool = False
    ) -> Outcome:
        """Pay a proposal and return the outcome; no payment is made twice.

        Raises:
            PaymentError: It exceeds a limit by now, or an entry was decided with another amount.
            SecondPersonError: The study requires two persons for payments, and this was the first.
        """
        order = proposal.order(undo_rejections=undo_rejections, additional=additional)
        first = self._first_of_two(proposal, order)
        pay_entries(
            self.sessions,
            self.platform,
            self.run,
            proposal.entries,
            self.caps,
            self.now,
            undo_rejections=undo_rejections,
            additional=additional,
            also=partial(self._note, proposal, undo_rejections, first, order),
        )
        ledger = self.ledger()
        found = (line_of(entry, self.run.ref, ledger) for entry in proposal.entries)
        payments = [line for line in found if line is not None]
        undone = (payment for payment in payments if not _is_done(payment))
        answers = {payment.answer or "another process is working on it" for payment in undone}
        states = Counter(str(payment.state) for payment in payments)
        return Outcome(states, tuple(sorted(answers)))

    def offer(self, proposal: Proposal, link: str) -> bool:
        """Offer the compensation of a proposal, and return whether the platform told the worker.

        Args:
            proposal: A proposal of one entry.
            link: The address of the page by which they submit.

        Raises:
            PaymentError: It exceeds a limit by now, or was offered with another amount.
            PlatformError: A call was refused or not answered; offering again continues.
            SecondPersonError: The study requires two persons for payments, and this was the first.
        """
        order = proposal.order()
        first = self._first_of_two(proposal, order)
        (entry,) = proposal.entries
        return offer_compensation(
            self.sessions,
            self.platform,
            self.run,
            self.study,
            entry,
            self.caps,
            link,
            self.now,
            also=partial(self._note, proposal, False, first, order),
        )

    def pay_compensation(self) -> tuple[int, int]:
        """Pay the agreed compensation whose assignments have been submitted since.

        Returns:
            How many were paid, and how many were attempted.
        """
        ids = [
            payment.id
            for payment in self.ledger()
            if payment.kind == PaymentKind.COMPENSATION and not is_settled(payment)
        ]
        paid = pay(self.sessions, self.platform, ids, self.now)
        return sum(map(_is_done, paid)), len(paid)

    def ledger(self) -> Sequence[Payment]:
        """Return the run's whole ledger."""
        with reading(self.sessions) as session:
            return payments_of(session, self.run)

    def note(self, act: str, **after: str) -> None:
        """Record an act on this run's money in the audit log."""
        with self.sessions.begin() as session:
            record_act(session, self.by, act, self.now(), run_ref=self.run.ref, after=after)

    def _with_fees_minor(self, entries: Sequence[Entry]) -> int:
        audience = task_of(self.study, not_again=()).audience
        amounts = Counter(entry.item.amount_minor for entry in entries if entry.item.amount_minor)
        # Offers are never made with more places than this.
        places = self.platform.most_places or 1
        charges = [Charge(amount_minor, times, places) for amount_minor, times in amounts.items()]
        fees_minor = self.platform.fees_minor(charges, audience) if charges else 0
        return sum(entry.item.amount_minor for entry in entries) + fees_minor

    def _amount(self, amount_minor: int) -> str:
        return in_words(amount_minor, self.run.currency)

    def _refuse_another_reward(self) -> None:
        # An approval pays the platform's reward, but the ledger would record the study's.
        with reading(self.sessions) as session:
            offers = [hit.platform_id for hit in recruitment_hits(session, self.run)]
        for offer in filter(None, offers):
            refuse_another_reward(
                self.study,
                f"run {self.run.ref}, offer {offer}",
                self.platform.state(offer).reward_minor,
                "an approval would pay",
                "Restore the reward on the platform's own site; or approve there, and "
                f"write it into the ledger with: parallax reconcile {self.run.ref} --fix",
            )

    def _refuse_too_much(self, entries: Sequence[Entry]) -> None:
        with self.sessions() as session:
            # A trial that is never committed: exceeded limits are reported before the user is
            # asked.
            record_payments(session, self.run, entries, self.caps, self.now())
        # The platform reserved the rewards when the HITs were posted.
        new = [entry for entry in entries if entry.item.kind != PaymentKind.REWARD]
        needed_minor = self._with_fees_minor(new)
        if needed_minor and needed_minor > (balance_minor := self.platform.balance_minor()):
            raise RunError(
                f"the balance of {self._amount(balance_minor)} is too small for these payments",
                where=f"run {self.run.ref}",
                expected=f"at least {self._amount(needed_minor)}",
                remedy="Nothing was paid. Add money on the platform, and ask again",
            )

    def _first_of_two(self, proposal: Proposal, order: str) -> str:
        told = f"{len(proposal.entries)} payments, {self._amount(proposal.amount_minor)} in all"
        wanted = GuardedRequest(self.run, self.study, "payments", order, told, self.by, self.now())
        return find_first_person(self.sessions, wanted)

    def _note(
        self, proposal: Proposal, undo_rejections: bool, first: str, order: str, session: Session
    ) -> None:
        kinds = Counter(str(entry.item.kind) for entry in proposal.entries)
        payees = ", ".join(entry.item.payee for entry in proposal.entries)
        after = {
            "what": ", ".join(f"{number} {kind}" for kind, number in sorted(kinds.items())),
            "payees": payees,
            "amount": self._amount(proposal.amount_minor),
            "with fees": self._amount(proposal.with_fees_minor),
        }
        if first:
            after["asked for by"] = first
            close_request(session, self.run, "payments", order)
        if undo_rejections:
            after["rejections"] = "undone"
        if len(reasons := {entry.item.reason for entry in proposal.entries}) == 1:
            after["reason"] = reasons.pop()
        record_act(
            session, self.by, "payment ordered", self.now(), run_ref=self.run.ref, after=after
        )


def open_run_payments(
    settings: Settings, sessions: Sessions, run_ref: str, *, live: bool, by: str, now: Clock
) -> RunPayments:
    """Return a run that pays, with its submissions as the platform has them now.

    Args:
        settings: The installation's settings.
        sessions: The installation's session factory.
        run_ref: The run.
        live: Whether the user allows spending real money.
        by: The user who pays, for the audit log.
        now: The clock.

    Raises:
        UnknownNameError: There is no such run.
        RunError: Its recruiter pays nobody, or it was published elsewhere or in another currency.
        PlatformError: The platform cannot be asked.
    """
    with reading(sessions) as session:
        run = find_named_run(session, run_ref)
        platform = open_platform(run.recruiter, settings, live=live)
        study = load_launched_study(session, run)
        where_it_is = published(session, run, platform.endpoint)
    refuse_other_purse(run, study, where_it_is, platform)
    poll(sessions, platform, run_ref, now())
    with sessions.begin() as session:
        taken_up(session, run)
    return RunPayments(settings, sessions, run, study, platform, by, now)


def _is_done(payment: Payment) -> bool:
    return payment.state == PaymentState.DONE


def is_decided(payment: Payment) -> bool:
    """Return whether nothing is left to pay: it is done, or was replaced by a payment by hand."""
    by_hand = payment.kind == PaymentKind.BONUS and payment.state == PaymentState.WITHDRAWN
    return by_hand or _is_done(payment)
