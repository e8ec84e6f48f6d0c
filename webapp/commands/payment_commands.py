"""What the commands that pay share: the run, its platform, and asking before anything is paid."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from experiment.money import in_words
from experiment.payment.cost import Charge
from experiment.payment.payment import Caps, PaymentError, PaymentKind, PaymentState
from experiment.studies.study import Study
from webapp.commands.options import open_sessions
from webapp.core.clock import utc_now
from webapp.core.settings import Settings
from webapp.database.engine import Sessions, reading
from webapp.database.models import Payment, Run
from webapp.errors import RunError
from webapp.payments.accounts import PayeeAccount, accounts
from webapp.payments.compensate import taken_up
from webapp.payments.entry import Entry, line_of, refuse_other_amounts
from webapp.payments.ledger import SETTLED_FOR_GOOD, payments_of, record_payments
from webapp.payments.pay import pay, pay_entries
from webapp.recruiters.platform import Platform
from webapp.recruiters.registry import open_platform
from webapp.recruiters.settings import load_settings
from webapp.recruitment.limits import limits_of
from webapp.recruitment.poll import poll
from webapp.recruitment.publish import published
from webapp.recruitment.terms import task_of
from webapp.runs.runs import named_run, study_as_launched

with_live: Callable[[Callable[..., Any]], Callable[..., Any]] = click.option(
    "--live", is_flag=True, help="Real money may be spent."
)
with_yes: Callable[[Callable[..., Any]], Callable[..., Any]] = click.option(
    "--yes", is_flag=True, help="Do not ask before paying."
)


@dataclass(frozen=True, slots=True)
class RunPayments:
    """A run that pays: its records as the platform has them now, and the platform."""

    settings: Settings
    sessions: Sessions
    run: Run
    study: Study
    platform: Platform

    def accounts(self) -> list[PayeeAccount]:
        """Return what everybody did and got."""
        with reading(self.sessions) as session:
            return accounts(session, self.run)

    def pay(self, entries: Sequence[Entry], *, yes: bool, undo_rejections: bool = False) -> None:
        """Show what would be paid, ask, pay, and tell how it ended.

        Raises:
            PaymentError: It would be too much.
            RunError: The balance is too small, or not everything was paid.
        """
        if agreed := self.agreed(entries, yes=yes):
            pay_entries(
                self.sessions,
                self.platform,
                self.run,
                agreed,
                self.caps,
                utc_now,
                undo_rejections=undo_rejections,
            )
            self._tell(agreed)

    def pay_compensation(self) -> None:
        """Pay the compensation that was agreed to before, and handed in since."""
        ids = [
            payment.id
            for payment in self._ledger()
            if payment.kind == PaymentKind.COMPENSATION and payment.state not in SETTLED_FOR_GOOD
        ]
        if paid := pay(self.sessions, self.platform, ids, utc_now):
            click.echo(f"{sum(map(_is_done, paid))} of {len(paid)} compensations are paid.")

    def agreed(self, entries: Sequence[Entry], *, yes: bool) -> list[Entry]:
        """Show what is not done yet, ask, and return it.

        Raises:
            PaymentError: It would be too much, or was decided with another amount.
            RunError: The balance is too small.
            Abort: The answer was no.
        """
        lines = self._ledger()
        # What is paid is held against the amount that is asked for too.
        refuse_other_amounts(self.run, entries, lines)
        left = [
            entry
            for entry in entries
            if (line := line_of(entry, self.run.ref, lines)) is None or not _is_done(line)
        ]
        if entries and (done := len(entries) - len(left)):
            click.echo(f"{done} of {len(entries)} were done before, with the same amounts.")
        if not left:
            click.echo("Nothing is left to be done.")
            return []
        for entry in left:
            click.echo(
                f"  {entry.item.kind} {self._amount(entry.item.amount_minor)} for"
                f" {entry.item.payee}"
            )
        amount_minor = sum(entry.item.amount_minor for entry in left)
        click.echo(
            f"{len(left)} in all: {self._amount(amount_minor)}, with the platform's fee"
            f" {self._amount(self._with_fees_minor(left))}."
        )
        self._refuse_too_much(left)
        if not yes:
            click.confirm("Is that right?", abort=True)
        return left

    def refuse_look_alikes(self, entries: Sequence[Entry]) -> None:
        """Let pass only bonuses that are unlikely to be a second payment of an earlier one.

        Raises:
            PaymentError: Somebody had a bonus of the same amount for another reason.
        """
        lines = self._ledger()
        new = [entry for entry in entries if line_of(entry, self.run.ref, lines) is None]
        had = {
            (line.worker_id, line.amount_minor): line.reason
            for line in lines
            if line.kind == PaymentKind.BONUS and line.state != PaymentState.WITHDRAWN
        }
        alike = [e for e in new if (e.worker_id, e.item.amount_minor) in had]
        if alike:
            first = alike[0]
            raise PaymentError(
                f"{len(alike)} of these bonuses may have been paid before: {first.item.payee}, for"
                f" one, has a bonus of {self._amount(first.item.amount_minor)} for the reason"
                f' "{had[first.worker_id, first.item.amount_minor]}"',
                where=f"run {self.run.ref}",
                remedy="Correct the reason if it is the same bonus; if it is another one, give the"
                " command again with --additional",
            )

    def _with_fees_minor(self, entries: Sequence[Entry]) -> int:
        audience = task_of(self.study, not_again=()).audience
        amounts = Counter(entry.item.amount_minor for entry in entries if entry.item.amount_minor)
        # Offers that hold more places than this are never made.
        places = self.platform.most_places or 1
        charges = [Charge(amount_minor, times, places) for amount_minor, times in amounts.items()]
        fees_minor = self.platform.fees_minor(charges, audience) if charges else 0
        return sum(entry.item.amount_minor for entry in entries) + fees_minor

    def _amount(self, amount_minor: int) -> str:
        return in_words(amount_minor, self.run.currency)

    @property
    def caps(self) -> Caps:
        """The most that is paid, as the installation has it."""
        return limits_of(self.settings, self.run.currency).caps

    def _ledger(self) -> Sequence[Payment]:
        with reading(self.sessions) as session:
            return payments_of(session, self.run)

    def _refuse_too_much(self, entries: Sequence[Entry]) -> None:
        with self.sessions() as session:
            # Tried, and never committed: what breaks a cap is told before anybody is asked.
            record_payments(session, self.run, entries, self.caps, utc_now())
        # The platform set the rewards aside when the HITs were posted.
        new = [entry for entry in entries if entry.item.kind != PaymentKind.REWARD]
        needed_minor = self._with_fees_minor(new)
        if needed_minor and needed_minor > (balance_minor := self.platform.balance_minor()):
            raise RunError(
                f"the balance of {self._amount(balance_minor)} is too small for it",
                expected=f"at least {self._amount(needed_minor)}",
                remedy="Prepay more on the platform, and give the command again",
            )

    def _tell(self, entries: Sequence[Entry]) -> None:
        ledger = self._ledger()
        found = (line_of(entry, self.run.ref, ledger) for entry in entries)
        payments = [line for line in found if line is not None]
        states = Counter(payment.state for payment in payments)
        click.echo(", ".join(f"{number} {state}" for state, number in sorted(states.items())))
        if troubled := [payment for payment in payments if not _is_done(payment)]:
            answers = {payment.answer or "another process has it in hand" for payment in troubled}
            raise RunError(
                f"{len(troubled)} of {len(payments)} are not done: {' '.join(sorted(answers))}",
                where=f"run {self.run.ref}",
                remedy="Give the command again later: nothing is done twice",
            )


def open_run_payments(instance: Path, run_ref: str, *, live: bool) -> RunPayments:
    """Return a run that pays, with its submissions as the platform has them now.

    Raises:
        UnknownNameError: There is no such run.
        RunError: Its recruiter pays nobody, or it was published on another platform.
        PlatformError: The platform cannot be asked.
    """
    settings, sessions = load_settings(instance), open_sessions(instance)
    with reading(sessions) as session:
        run = named_run(session, run_ref)
        platform = open_platform(run.recruiter, settings, live=live)
        study = study_as_launched(session, run)
        published(session, run, platform.endpoint)
    poll(sessions, platform, run_ref, utc_now())
    with sessions.begin() as session:
        taken_up(session, run)
    return RunPayments(settings, sessions, run, study, platform)


def _is_done(payment: Payment) -> bool:
    return payment.state == PaymentState.DONE
