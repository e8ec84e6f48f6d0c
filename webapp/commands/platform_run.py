"""Shared by commands on a run of a paying platform: opening the platform, the confirmation."""

import getpass
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from experiment.money import in_words
from experiment.studies.study import Study
from experiment.tables.files import text_table
from webapp.commands.options import open_sessions
from webapp.commands.runs import link_base
from webapp.core.clock import utc_now
from webapp.database.engine import Sessions, reading
from webapp.errors import RunError
from webapp.payments.ledger import Entry
from webapp.payments.reconciliation.statement import Statement
from webapp.payments.run_payments import Proposal, RunPayments
from webapp.payments.run_payments import open_run_payments as open_payments
from webapp.recruiters.platform import Platform
from webapp.recruiters.registry import load_recruiter, open_platform
from webapp.recruiters.settings import load_settings
from webapp.recruitment.published import find_recruitment, load_recruitment_hits
from webapp.recruitment.terms import refuse_other_owner
from webapp.runs.runs import find_named_run, load_launched_study

live_option: Callable[[Callable[..., Any]], Callable[..., Any]] = click.option(
    "--live", is_flag=True, help="Real money may be spent."
)
yes_option: Callable[[Callable[..., Any]], Callable[..., Any]] = click.option(
    "--yes", is_flag=True, help="Do not ask for confirmation before paying."
)
_COLUMNS = ("payee", "due by the study's rule", "paid by our ledger", "paid by the platform")


def open_run_payments(instance: Path, run_ref: str, *, live: bool) -> RunPayments:
    """Return a run that pays, with its submissions as the platform has them now.

    Raises:
        UnknownNameError: There is no such run.
        RunError: Its recruiter pays nobody, or it was published on another platform.
        PlatformError: The platform cannot be asked.
    """
    settings, sessions = load_settings(instance), open_sessions(instance)
    by = getpass.getuser()
    return open_payments(settings, sessions, run_ref, live=live, by=by, now=utc_now)


def confirm_and_pay(
    run_payments: RunPayments,
    entries: Sequence[Entry],
    *,
    yes: bool,
    undo_rejections: bool = False,
    additional: bool = False,
) -> None:
    """Show the proposed payments, ask for confirmation, pay, and report the result.

    Raises:
        PaymentError: The payments exceed a limit.
        RunError: The balance is too small, or not everything was paid.
    """
    proposal = confirm_payments(run_payments, entries, yes=yes)
    if proposal is None:
        return
    outcome = run_payments.carry_out(
        proposal, undo_rejections=undo_rejections, additional=additional
    )
    click.echo(str(outcome))
    if outcome.n_unpaid:
        raise RunError(
            f"{outcome.n_unpaid} of {outcome.states.total()} are not completed: "
            f"{' '.join(outcome.answers)}",
            where=f"run {run_payments.run.ref}",
            remedy="Run the command again later: nothing is paid twice",
        )


def confirm_payments(
    run_payments: RunPayments, entries: Sequence[Entry], *, yes: bool
) -> Proposal | None:
    """Show the payments not done yet, ask for confirmation, and return the proposal.

    Returns:
        None if nothing is left to pay.

    Raises:
        PaymentError: The payments exceed a limit, or one was decided with another amount.
        RunError: The balance is too small.
        Abort: The answer was no.
    """
    proposal = run_payments.propose_payments(entries)
    if proposal.done:
        click.echo(f"{proposal.done} of {len(entries)} were already done, with the same amounts.")
    if not proposal.entries:
        click.echo("There is nothing left to do.")
        return None
    for entry in proposal.entries:
        amount = in_words(entry.item.amount_minor, proposal.currency)
        click.echo(f"  {entry.item.kind} {amount} for {entry.item.payee}")
    click.echo(
        f"{len(proposal.entries)} in all: {in_words(proposal.amount_minor, proposal.currency)},"
        f" with the platform's fee {in_words(proposal.with_fees_minor, proposal.currency)}."
    )
    if not yes:
        click.confirm("Go ahead?", abort=True)
    return proposal


def statement_table(statements: Iterable[Statement]) -> str:
    """Return a table of what each payee is owed and was paid, one row per payee."""
    rows = [
        (
            statement.payee,
            _format_amount(statement, statement.owed_minor, "undecided"),
            _format_amount(statement, statement.ledger_minor, ""),
            _format_amount(statement, statement.platform_minor, "not asked"),
        )
        for statement in statements
    ]
    return text_table(_COLUMNS, rows)


def _format_amount(statement: Statement, amount_minor: int | None, otherwise: str) -> str:
    return otherwise if amount_minor is None else in_words(amount_minor, statement.currency)


@dataclass(frozen=True, slots=True)
class PublishedRun:
    """A run and its platform.

    Attributes:
        sessions: The installation's session factory.
        platform: The platform on which participants are found.
        ref: The run.
        study: Its study.
        link: The address shown to participants.
        offers: The platform's ids of its offers; empty before it was published.
    """

    sessions: Sessions
    platform: Platform
    ref: str
    study: Study
    link: str
    offers: tuple[str, ...]


def open_published_run(instance: Path, run_ref: str, *, live: bool) -> PublishedRun:
    """Return a run and its platform; if the run is published, the account is checked.

    Raises:
        RunError: There is no such run, its recruiter pays nobody, or it was published from another
            account than the settings name.
        PlatformError: The platform cannot be asked.
        WebappError: The platform is live and the command does not allow it.
    """
    sessions = open_sessions(instance)
    with reading(sessions) as session:
        run = find_named_run(session, run_ref)
        study = load_launched_study(session, run)
        offers = [hit.platform_id for hit in load_recruitment_hits(session, run)]
        where_it_is = find_recruitment(session, run)
    settings = load_settings(instance)
    platform = open_platform(run.recruiter, settings, live=live)
    refuse_other_owner(run, where_it_is, platform)
    link = load_recruiter(run.recruiter, settings).invitation(link_base(instance), run.ref)
    return PublishedRun(sessions, platform, run.ref, study, link, tuple(filter(None, offers)))
