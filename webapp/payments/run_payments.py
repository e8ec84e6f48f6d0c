"""A run that pays: proposing payments and making them, for the commands and the pages alike.

A request first becomes a proposal, which a user confirms. Carrying it out records the user in the
audit log, in the transaction that stores the payments.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
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
from webapp.payments.accounts import PayeeAccount, load_accounts
from webapp.payments.compensate import offer_compensation, record_accepted_compensation
from webapp.payments.ledger import (
    Entry,
    find_line,
    is_settled,
    load_payments,
    record_payments,
    refuse_other_amounts,
)
from webapp.payments.pay import make_payments, pay_entries
from webapp.recruiters.platform import Platform
from webapp.recruiters.registry import open_platform
from webapp.recruitment.plan_cost import read_limits
from webapp.recruitment.poll import poll_run
from webapp.recruitment.published import load_recruitment_hits, require_recruitment
from webapp.recruitment.terms import (
    build_task,
    refuse_changed_reward,
    refuse_other_account_or_currency,
)
from webapp.runs.runs import find_named_run, load_launched_study
from webapp.runs.second_person import GuardedRequest, close_request, find_first_requester
from webapp.users.audit_log import record_act

# How the audit log names one payment of a kind, and several.
_NAMES = {
    PaymentKind.REWARD: ("reward", "rewards"),
    PaymentKind.BONUS: ("bonus", "bonuses"),
    PaymentKind.COMPENSATION: ("compensation", "compensations"),
    PaymentKind.SCREEN_OUT: ("paid screen-out", "paid screen-outs"),
    PaymentKind.REJECTION: ("rejection", "rejections"),
}


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

    def digest_request(self, *, undo_rejections: bool = False, additional: bool = False) -> str:
        """A digest of the proposal and its permissions, which both of two users must request."""
        content = f"{self.digest} {undo_rejections} {additional}"
        return hashlib.sha256(content.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class PaymentOutcome:
    """The outcome of a proposal.

    Attributes:
        states: The number of payments in each state.
        answers: The platform's answers on payments that are not done.
    """

    states: Counter[str]
    answers: tuple[str, ...]

    @property
    def n_unpaid(self) -> int:
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
        return read_limits(self.settings, self.run.currency).caps

    def load_accounts(self) -> list[PayeeAccount]:
        """Return the account of each participant."""
        with reading(self.sessions) as session:
            return load_accounts(session, self.run)

    def propose_payments(self, entries: Sequence[Entry]) -> Proposal:
        """Return the proposal of paying these entries now.

        Raises:
            PaymentError: It exceeds a limit, or an entry was decided with another amount.
            RunError: The balance is too small, or the reward was changed on the platform.
        """
        lines = self.ledger()
        # Done payments are also checked against the requested amounts.
        refuse_other_amounts(self.run, entries, lines)
        unpaid = [
            entry
            for entry in entries
            if (line := find_line(entry, self.run.ref, lines)) is None or not is_decided(line)
        ]
        if any(entry.item.kind == PaymentKind.REWARD for entry in unpaid):
            self._refuse_changed_reward()
        if unpaid:
            self._refuse_excess(unpaid)
        return Proposal(
            entries=tuple(unpaid),
            done=len(entries) - len(unpaid),
            amount_minor=sum(entry.item.amount_minor for entry in unpaid),
            with_fees_minor=self._add_fees_minor(unpaid),
            currency=self.run.currency,
        )

    def carry_out(
        self, proposal: Proposal, *, undo_rejections: bool = False, additional: bool = False
    ) -> PaymentOutcome:
        """Pay a proposal and return the outcome; no payment is made twice.

        Raises:
            PaymentError: It exceeds a limit by now, or an entry was decided with another amount.
            SecondPersonError: The study requires two persons for payments, and this was the first.
        """
        order = proposal.digest_request(undo_rejections=undo_rejections, additional=additional)
        first_person = self._request_second_person(proposal, order)
        pay_entries(
            self.sessions,
            self.platform,
            self.run,
            proposal.entries,
            self.caps,
            self.now,
            undo_rejections=undo_rejections,
            additional=additional,
            extra_work=partial(self._record_order, proposal, undo_rejections, first_person, order),
        )
        ledger = self.ledger()
        lines = (find_line(entry, self.run.ref, ledger) for entry in proposal.entries)
        payments = [line for line in lines if line is not None]
        unpaid = (payment for payment in payments if not _is_done(payment))
        answers = {payment.answer or "another process is working on it" for payment in unpaid}
        states = Counter(str(payment.state) for payment in payments)
        return PaymentOutcome(states, tuple(sorted(answers)))

    def offer_compensation(self, proposal: Proposal, link: str) -> bool:
        """Offer the compensation of a proposal, and return whether the platform wrote to them.

        Args:
            proposal: A proposal of one entry.
            link: The address of the page by which they submit.

        Raises:
            PaymentError: It exceeds a limit by now, or was offered with another amount.
            PlatformError: A call was refused or not answered; offering again continues.
            SecondPersonError: The study requires two persons for payments, and this was the first.
        """
        order = proposal.digest_request()
        first_person = self._request_second_person(proposal, order)
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
            extra_work=partial(self._record_order, proposal, False, first_person, order),
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
        paid = make_payments(self.sessions, self.platform, ids, self.now)
        return sum(map(_is_done, paid)), len(paid)

    def ledger(self) -> Sequence[Payment]:
        """Return the run's whole ledger."""
        with reading(self.sessions) as session:
            return load_payments(session, self.run)

    def log_act(self, act: str, *, was: Mapping[str, str] | None = None, **after: str) -> None:
        """Record an act on this run's money in the audit log, with old and new values."""
        with self.sessions.begin() as session:
            record_act(
                session, self.by, act, self.now(), run_ref=self.run.ref, before=was, after=after
            )

    def _add_fees_minor(self, entries: Sequence[Entry]) -> int:
        audience = build_task(self.study, not_again=()).audience
        amounts = Counter(entry.item.amount_minor for entry in entries if entry.item.amount_minor)
        # Offers are never made with more places than this.
        places = self.platform.most_places or 1
        charges = [Charge(amount_minor, times, places) for amount_minor, times in amounts.items()]
        fees_minor = self.platform.fees_minor(charges, audience) if charges else 0
        return sum(entry.item.amount_minor for entry in entries) + fees_minor

    def _format_amount(self, amount_minor: int) -> str:
        return in_words(amount_minor, self.run.currency)

    def _refuse_changed_reward(self) -> None:
        # An approval pays the platform's reward, but the ledger would record the study's.
        with reading(self.sessions) as session:
            offers = [hit.platform_id for hit in load_recruitment_hits(session, self.run)]
        for offer in filter(None, offers):
            refuse_changed_reward(
                self.study,
                f"run {self.run.ref}, offer {offer}",
                self.platform.state(offer).reward_minor,
                "an approval would pay",
                "Restore the reward on the platform's own site; or approve there, and "
                f"record the payment with: parallax reconcile {self.run.ref} --fix",
            )

    def _refuse_excess(self, entries: Sequence[Entry]) -> None:
        with self.sessions() as session:
            # A trial that is never committed: exceeded limits are reported before the user is
            # asked.
            record_payments(session, self.run, entries, self.caps, self.now())
        # The platform reserved the rewards when the HITs were posted.
        entries_beyond_rewards = [
            entry for entry in entries if entry.item.kind != PaymentKind.REWARD
        ]
        needed_minor = self._add_fees_minor(entries_beyond_rewards)
        if needed_minor and needed_minor > (balance_minor := self.platform.balance_minor()):
            raise RunError(
                f"the balance of {self._format_amount(balance_minor)} is too small for these "
                "payments",
                where=f"run {self.run.ref}",
                expected=f"at least {self._format_amount(needed_minor)}",
                remedy="Nothing was paid. Add money on the platform and try again",
            )

    def _request_second_person(self, proposal: Proposal, order: str) -> str:
        summary = (
            f"{len(proposal.entries)} payments, {self._format_amount(proposal.amount_minor)} in all"
        )
        request = GuardedRequest(
            self.run, self.study, "payments", order, summary, self.by, self.now()
        )
        return find_first_requester(self.sessions, request)

    def _record_order(
        self,
        proposal: Proposal,
        undo_rejections: bool,
        first_person: str,
        order: str,
        session: Session,
    ) -> None:
        payees = ", ".join(entry.item.payee for entry in proposal.entries)
        lines = load_payments(session, self.run)
        paid_minor = sum(line.amount_minor for line in lines if line.state == PaymentState.DONE)
        details = {
            "what": self._describe_entries(proposal.entries),
            "payees": payees,
            "amount": self._format_amount(proposal.amount_minor),
            "with fees": self._format_amount(proposal.with_fees_minor),
            "paid in this run then": self._format_amount(paid_minor + proposal.amount_minor),
        }
        if first_person:
            details["asked for by"] = first_person
            close_request(session, self.run, "payments", order)
        if undo_rejections:
            details["rejections"] = "undone"
        if len(reasons := {entry.item.reason for entry in proposal.entries}) == 1:
            details["reason"] = reasons.pop()
        record_act(
            session,
            self.by,
            "payment ordered",
            self.now(),
            run_ref=self.run.ref,
            before={"paid in this run": self._format_amount(paid_minor)},
            after=details,
        )

    def _describe_entries(self, entries: Sequence[Entry]) -> str:
        """Return how many payments of each kind there are and what they come to, in words."""
        counts = Counter(entry.item.kind for entry in entries)
        sums_minor = Counter[PaymentKind]()
        for entry in entries:
            sums_minor[entry.item.kind] += entry.item.amount_minor
        return ", ".join(
            f"{number} {_NAMES[kind][number > 1]}"
            + (f" ({self._format_amount(sums_minor[kind])})" if sums_minor[kind] else "")
            for kind, number in sorted(counts.items())
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
        offers = require_recruitment(session, run, platform.endpoint)
    refuse_other_account_or_currency(run, study, offers, platform)
    poll_run(sessions, platform, run_ref, now())
    with sessions.begin() as session:
        record_accepted_compensation(session, run)
    return RunPayments(settings, sessions, run, study, platform, by, now)


def _is_done(payment: Payment) -> bool:
    return payment.state == PaymentState.DONE


def is_decided(payment: Payment) -> bool:
    """Return whether nothing is left to pay: it is done, or was replaced by a payment by hand."""
    is_replaced = payment.kind == PaymentKind.BONUS and payment.state == PaymentState.WITHDRAWN
    return is_replaced or _is_done(payment)
