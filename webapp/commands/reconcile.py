"""``parallax reconcile`` and ``parallax compensate``: what paying as usual did not settle."""

import json
import sys
from dataclasses import asdict
from pathlib import Path

import click

from experiment.money import in_words, minor_units
from experiment.payment.payment import LONGEST_REASON, plain_reason
from experiment.tables.files import text_table
from webapp.commands.options import with_instance
from webapp.commands.payment_commands import (
    agreed,
    open_run_payments,
    pay_asking,
    statement_table,
    with_live,
    with_yes,
)
from webapp.commands.reports import ReportWish, reconcile_reports
from webapp.commands.runs import link_base
from webapp.core.clock import utc_now
from webapp.core.keys import read_keys
from webapp.core.tokens import Tokens
from webapp.payments.compensation_request import (
    by_bonus,
    compensation_entry,
    payee,
    withdraw_offer,
)
from webapp.payments.reconciliation.reconcile import (
    discrepancies,
    fix_discrepancies,
    note_compared,
)
from webapp.payments.reconciliation.snapshot import Snapshot, take_snapshot
from webapp.payments.reconciliation.statement import in_agreement
from webapp.payments.run_payments import RunPayments

_HEADER = ("problem", "who", "what was seen", "what to do")


@click.command()
@click.argument("run")
@click.option("--fix", is_flag=True, help="Repair what can be repaired safely, and compare again.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
@click.option(
    "--again",
    is_flag=True,
    help="With --fix, also send reports that the platform may already have received.",
)
@click.option(
    "--by-hand",
    metavar="WHO",
    help="Record that you credited WHO on the panel's own site.",
)
@with_live
@with_instance
def reconcile(
    run: str,
    fix: bool,
    as_json: bool,
    again: bool,
    by_hand: str | None,
    live: bool,
    instance: Path,
) -> None:
    """Compare RUN's records, its platform and its ledger.

    The exit code is 1 if they differ.
    """
    wish = ReportWish(fix=fix, again=again, by_hand=by_hand)
    outcome = reconcile_reports(instance, run, wish, as_json=as_json)
    if outcome is not None:
        if not outcome:
            sys.exit(1)
        return
    if by_hand is not None:
        raise click.UsageError("--by-hand is only for panels to which our server reports endings.")
    run_payments = open_run_payments(instance, run, live=live)
    snapshot = _look(run_payments, instance)
    if fix:
        link = _link(instance, run)
        fix_discrepancies(
            run_payments.sessions,
            run_payments.platform,
            run_payments.run,
            run_payments.study,
            link,
            snapshot,
            utc_now,
        )
        run_payments = open_run_payments(instance, run, live=live)
        snapshot = _look(run_payments, instance)
    found = discrepancies(snapshot)
    if as_json:
        click.echo(json.dumps([asdict(discrepancy) for discrepancy in found], indent=2))
    else:
        click.echo(statement_table(snapshot.statements))
        rows = [(f.problem, f.who, f.detail, f.remedy) for f in found]
        click.echo(text_table(_HEADER, rows) if rows else in_agreement(run, snapshot.statements))
    if found:
        sys.exit(1)


def _look(run_payments: RunPayments, instance: Path) -> Snapshot:
    tokens = Tokens.of(read_keys(instance, run_payments.settings.secret_key_file))
    snapshot = take_snapshot(
        run_payments.sessions, run_payments.platform, run_payments.run, tokens, utc_now()
    )
    note_compared(run_payments.sessions, snapshot)
    return snapshot


@click.command()
@click.argument("run")
@click.argument("participant", required=False)
@click.option("--worker", help="The platform's id of a person who never became a participant.")
@click.option("--amount", help="How much, such as 1.50, in the run's currency.")
@click.option("--reason", help="The reason that they read.")
@click.option("--amend", is_flag=True, help="Replace an earlier offer of another amount.")
@click.option(
    "--withdraw", "only_withdraw", is_flag=True, help="Withdraw the offer instead of making one."
)
@click.option(
    "--additional", is_flag=True, help="Also pay somebody who already got a bonus by hand."
)
@with_yes
@with_live
@with_instance
def compensate(
    run: str,
    participant: str | None,
    worker: str | None,
    amount: str | None,
    reason: str | None,
    amend: bool,
    only_withdraw: bool,
    additional: bool,
    yes: bool,
    live: bool,
    instance: Path,
) -> None:
    """Offer pay to someone who worked but could not submit.

    That is PARTICIPANT of RUN or a --worker. An offer that nobody has taken up can be amended or
    withdrawn.
    """
    if bool(participant) == bool(worker):
        raise click.UsageError("Give either PARTICIPANT or --worker, not both.")
    if only_withdraw:
        if amount is not None or reason is not None or amend:
            raise click.UsageError(
                "--withdraw takes an offer back and cannot be combined with --amount, "
                "--reason or --amend."
            )
        run_payments = open_run_payments(instance, run, live=live)
        _, worker_id = payee(run_payments, participant, worker)
        _withdraw(run_payments, worker_id, None)
        return
    reason = plain_reason(reason or "")
    if amount is None or not 0 < len(reason) <= LONGEST_REASON:
        raise click.UsageError(f"Give --amount and a --reason of 1 to {LONGEST_REASON} characters.")
    run_payments = open_run_payments(instance, run, live=live)
    amount_minor = minor_units(amount, run_payments.run.currency)
    if amount_minor == 0:
        raise click.UsageError("--amount must be more than 0.")
    account, worker_id = payee(run_payments, participant, worker)
    if amend:
        _withdraw(run_payments, worker_id, amount_minor)
    entry = compensation_entry(run_payments, account, worker_id, amount_minor, reason)
    if by_bonus(run_payments):
        pay_asking(run_payments, [entry], yes=yes, additional=additional)
        return
    if (proposal := agreed(run_payments, [entry], yes=yes)) is None:
        return
    wrote = run_payments.offer(proposal, _link(instance, run))
    click.echo("The offer is posted, visible to this person only. It is paid once they submit it.")
    click.echo(
        "The platform has notified the person."
        if wrote
        else "The platform sent no message: write to the person yourself."
    )


def _withdraw(run_payments: RunPayments, worker_id: str, amount_minor: int | None) -> None:
    """Take back the offer to a worker, unless it is of that amount."""
    withdrawn_minor = withdraw_offer(run_payments, worker_id, amount_minor)
    if withdrawn_minor is not None:
        click.echo(
            f"The offer of {in_words(withdrawn_minor, run_payments.run.currency)} was withdrawn."
        )


def _link(instance: Path, run: str) -> str:
    return f"{link_base(instance)}/run/{run}/compensation"
