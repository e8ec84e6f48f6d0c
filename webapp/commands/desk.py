"""What the commands that pay share: the run, its platform, and asking before anything is paid."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from experiment.payment import Caps, PaymentKind, PaymentState, dollars
from experiment.recruitment_cost import MOST_PLACES, fee_cents
from experiment.studies.study import Study
from webapp.clock import utc_now
from webapp.commands.installation import open_sessions
from webapp.db import Sessions, reading
from webapp.errors import RunError
from webapp.flow.compensate import taken_up
from webapp.flow.ledger import Entry, payments_of, write_down
from webapp.flow.offer import terms_of
from webapp.flow.owed import Account, accounts
from webapp.flow.pay import pay, pay_entries
from webapp.flow.poll import poll
from webapp.flow.publish import published
from webapp.flow.runs import named_run, study_as_launched
from webapp.models import Payment, Run
from webapp.recruiters.platform import Platform
from webapp.recruiters.registry import open_platform
from webapp.settings import Settings, load_settings

with_live: Callable[[Callable[..., Any]], Callable[..., Any]] = click.option(
    "--live", is_flag=True, help="Real money may be spent."
)
with_yes: Callable[[Callable[..., Any]], Callable[..., Any]] = click.option(
    "--yes", is_flag=True, help="Do not ask before paying."
)


@dataclass(frozen=True, slots=True)
class Desk:
    """A run that pays: its records as the platform has them now, and the platform."""

    settings: Settings
    sessions: Sessions
    run: Run
    study: Study
    platform: Platform

    @property
    def reward_cents(self) -> int:
        """What everyone who finishes gets."""
        return terms_of(self.study).reward_cents

    def accounts(self) -> list[Account]:
        """Return what everybody did and got."""
        with reading(self.sessions) as session:
            return accounts(session, self.run)

    def pay(self, entries: Sequence[Entry], *, yes: bool) -> None:
        """Show what would be paid, ask, pay, and tell how it ended.

        Raises:
            PaymentError: It would be too much.
            RunError: The balance is too small, or not everything was paid.
        """
        if agreed := self.agreed(entries, yes=yes):
            pay_entries(self.sessions, self.platform, self.run, agreed, self.caps, utc_now)
            self._tell(agreed)

    def pay_compensation(self) -> None:
        """Pay the compensation that was agreed to before, and handed in since."""
        ids = [
            payment.id
            for payment in self._ledger().values()
            if payment.kind == PaymentKind.COMPENSATION and not _is_done(payment)
        ]
        if paid := pay(self.sessions, self.platform, ids, utc_now):
            click.echo(f"{sum(map(_is_done, paid))} of {len(paid)} compensations are paid.")

    def agreed(self, entries: Sequence[Entry], *, yes: bool) -> list[Entry]:
        """Show what is not done yet, ask, and return it.

        Raises:
            PaymentError: It would be too much.
            RunError: The balance is too small.
            Abort: The answer was no.
        """
        done = {token for token, payment in self._ledger().items() if _is_done(payment)}
        left = [entry for entry in entries if entry.due.token(self.run.ref) not in done]
        if not left:
            click.echo("Nothing is left to be done.")
            return []
        for entry in left:
            click.echo(
                f"  {entry.due.kind} {dollars(entry.due.amount_cents)} for {entry.due.payee}"
            )
        amount_cents = sum(entry.due.amount_cents for entry in left)
        click.echo(
            f"{len(left)} in all: {dollars(amount_cents)}, with the platform's fee"
            f" {dollars(self._with_fees_cents(left))}."
        )
        self._refuse_too_much(left)
        if not yes:
            click.confirm("Is that right?", abort=True)
        return left

    def _with_fees_cents(self, entries: Sequence[Entry]) -> int:
        masters = terms_of(self.study).masters
        amounts = [entry.due.amount_cents for entry in entries]
        return sum(cents + fee_cents(cents, MOST_PLACES, masters=masters) for cents in amounts)

    @property
    def caps(self) -> Caps:
        """The most that is paid, as the installation has it."""
        settings = self.settings
        return Caps(settings.most_per_participant_cents, settings.most_per_run_cents)

    def _ledger(self) -> dict[str, Payment]:
        with reading(self.sessions) as session:
            return {payment.token: payment for payment in payments_of(session, self.run)}

    def _refuse_too_much(self, entries: Sequence[Entry]) -> None:
        with self.sessions() as session:
            # Tried, and never committed: what breaks a cap is told before anybody is asked.
            write_down(session, self.run, entries, self.caps, utc_now())
        # The platform set the rewards aside when the HITs were posted.
        new = [entry for entry in entries if entry.due.kind != PaymentKind.REWARD]
        needed_cents = self._with_fees_cents(new)
        if needed_cents and needed_cents > (balance_cents := self.platform.balance_cents()):
            raise RunError(
                f"the balance of {dollars(balance_cents)} is too small for it",
                expected=f"at least {dollars(needed_cents)}",
                remedy="Prepay more on the platform, and give the command again",
            )

    def _tell(self, entries: Sequence[Entry]) -> None:
        ledger = self._ledger()
        payments = [ledger[entry.due.token(self.run.ref)] for entry in entries]
        states = Counter(payment.state for payment in payments)
        click.echo(", ".join(f"{number} {state}" for state, number in sorted(states.items())))
        if troubled := [payment for payment in payments if not _is_done(payment)]:
            answers = {payment.answer or "another process has it in hand" for payment in troubled}
            raise RunError(
                f"{len(troubled)} of {len(payments)} are not done: {' '.join(sorted(answers))}",
                where=f"run {self.run.ref}",
                remedy="Give the command again later: nothing is done twice",
            )


def open_desk(instance: Path, run_ref: str, *, live: bool) -> Desk:
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
    return Desk(settings, sessions, run, study, platform)


def _is_done(payment: Payment) -> bool:
    return payment.state == PaymentState.DONE
