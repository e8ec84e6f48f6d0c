"""``parallax reconcile`` and ``parallax compensate``: what normal payments left open."""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import click
from sqlalchemy import select

from experiment.money import in_words, minor_units
from experiment.payment.payment import LONGEST_REASON, plain_reason
from experiment.tables.files import text_table
from webapp.commands.options import add_instance_option, open_sessions
from webapp.commands.platform_run import (
    confirm_and_pay,
    confirm_payments,
    live_option,
    open_run_payments,
    statement_table,
    yes_option,
)
from webapp.commands.runs import link_base
from webapp.core.clock import utc_now
from webapp.core.keys import read_keys
from webapp.core.tokens import Tokens
from webapp.database.engine import reading
from webapp.database.models import Participant, Run
from webapp.gate.panel_call_counter import is_held
from webapp.jobs.platforms import hold_unrepeatable_reports, send_reports
from webapp.opening import open_installation
from webapp.payments.compensation_request import (
    find_payee,
    pays_compensation_as_bonus,
    prepare_compensation_entry,
    withdraw_offer,
)
from webapp.payments.reconciliation.reconcile import (
    find_discrepancies,
    fix_discrepancies,
    report_comparison,
)
from webapp.payments.reconciliation.snapshot import PaymentSnapshot, take_snapshot
from webapp.payments.reconciliation.statement import describe_agreement
from webapp.payments.run_payments import RunPayments
from webapp.recruiters.base import PayingRecruiter, ReportingRecruiter
from webapp.recruiters.registry import load_recruiter
from webapp.recruiters.settings import load_settings
from webapp.recruitment.reports import (
    HELD_ANSWER,
    ReportState,
    confirm_by_hand,
    load_reports,
    requeue_reports,
    store_report,
)
from webapp.runs.runs import find_named_run
from webapp.services import Services
from webapp.sessions.leave import ending_of

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
@live_option
@add_instance_option
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
    changes = ReportChanges(fix=fix, again=again, by_hand=by_hand)
    outcome = reconcile_reports(instance, run, changes, as_json=as_json)
    if outcome is not None:
        if not outcome:
            sys.exit(1)
        return
    if by_hand is not None:
        raise click.UsageError("--by-hand is only for panels to which our server reports endings.")
    run_payments = open_run_payments(instance, run, live=live)
    snapshot = _compare(run_payments, instance)
    if fix:
        link = _make_link(instance, run)
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
        snapshot = _compare(run_payments, instance)
    differences = find_discrepancies(snapshot)
    if as_json:
        click.echo(json.dumps([asdict(discrepancy) for discrepancy in differences], indent=2))
    else:
        click.echo(statement_table(snapshot.statements))
        rows = [(f.problem, f.who, f.detail, f.remedy) for f in differences]
        click.echo(
            text_table(_HEADER, rows) if rows else describe_agreement(run, snapshot.statements)
        )
    if differences:
        sys.exit(1)


def _compare(run_payments: RunPayments, instance: Path) -> PaymentSnapshot:
    tokens = Tokens.from_keys(read_keys(instance, run_payments.settings.secret_key_file))
    snapshot = take_snapshot(
        run_payments.sessions, run_payments.platform, run_payments.run, tokens, utc_now()
    )
    report_comparison(run_payments.sessions, snapshot)
    return snapshot


@click.command()
@click.argument("run")
@click.argument("participant", required=False)
@click.option("--worker", help="The platform's id of a person who never became a participant.")
@click.option("--amount", help="How much, such as 1.50, in the run's currency.")
@click.option("--reason", help="The reason that the participant reads.")
@click.option("--amend", is_flag=True, help="Replace an earlier offer of another amount.")
@click.option(
    "--withdraw", "only_withdraw", is_flag=True, help="Withdraw the offer instead of making one."
)
@click.option(
    "--additional", is_flag=True, help="Also pay somebody who already got a bonus by hand."
)
@yes_option
@live_option
@add_instance_option
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

    The person is PARTICIPANT of RUN or a --worker. An offer that nobody has taken up can be
    amended or withdrawn.
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
        _, worker_id = find_payee(run_payments, participant, worker)
        _withdraw_offer(run_payments, worker_id, None)
        return
    reason = plain_reason(reason or "")
    if amount is None or not 0 < len(reason) <= LONGEST_REASON:
        raise click.UsageError(f"Give --amount and a --reason of 1 to {LONGEST_REASON} characters.")
    run_payments = open_run_payments(instance, run, live=live)
    amount_minor = minor_units(amount, run_payments.run.currency)
    if amount_minor == 0:
        raise click.UsageError("--amount must be more than 0.")
    account, worker_id = find_payee(run_payments, participant, worker)
    if amend:
        _withdraw_offer(run_payments, worker_id, amount_minor)
    entry = prepare_compensation_entry(run_payments, account, worker_id, amount_minor, reason)
    if pays_compensation_as_bonus(run_payments):
        confirm_and_pay(run_payments, [entry], yes=yes, additional=additional)
        return
    if (proposal := confirm_payments(run_payments, [entry], yes=yes)) is None:
        return
    was_notified = run_payments.offer_compensation(proposal, _make_link(instance, run))
    click.echo("The offer is posted, visible to this person only. It is paid once they submit it.")
    click.echo(
        "The platform has notified the person."
        if was_notified
        else "The platform sent no message: write to the person yourself."
    )


def _withdraw_offer(run_payments: RunPayments, worker_id: str, amount_minor: int | None) -> None:
    """Withdraw the offer to a worker, unless the offer has that amount already."""
    withdrawn_minor = withdraw_offer(run_payments, worker_id, amount_minor)
    if withdrawn_minor is not None:
        click.echo(
            f"The offer of {in_words(withdrawn_minor, run_payments.run.currency)} was withdrawn."
        )


def _make_link(instance: Path, run: str) -> str:
    return f"{link_base(instance)}/run/{run}/compensation"


_REPORTS_HEADER = ("participant", "ending", "state", "tries", "the platform's answer")
_MOST_CHARACTERS = 60
_NOT_OWED = "not owed yet"
_RESTORE_REMEDY = (
    "The database was restored or copied, so the panel may know of endings that are held here, and "
    "no ending may be sent twice. 1. Look at the panel's own pages. 2. Record each held ending "
    "that it knows with --by-hand WHO. 3. Then --fix --again sends the others. After that, endings "
    "of new participants are sent by themselves again."
)


@dataclass(frozen=True, slots=True)
class _ReportLine:
    participant: str
    ending: str
    state: str
    tries: int
    answer: str


@dataclass(frozen=True, slots=True)
class ReportChanges:
    """What to do with a run's reports before they are shown.

    Attributes:
        fix: Send the reports that are safe to send.
        again: Also send reports that the platform may already have received, and does not expect
            twice.
        by_hand: The participant whose ending a user reported to the platform.
    """

    fix: bool = False
    again: bool = False
    by_hand: str | None = None


def reconcile_reports(
    instance: Path, run_ref: str, changes: ReportChanges, *, as_json: bool
) -> bool | None:
    """Compare a run's endings with the reports to its platform, and print the result.

    Args:
        instance: The installation's folder.
        run_ref: The run's reference.
        changes: What to do with the reports first.
        as_json: Whether to print JSON.

    Returns:
        Whether the platform confirmed every ending; None for a run whose platform needs no reports.
    """
    settings, sessions = load_settings(instance), open_sessions(instance)
    with reading(sessions) as session:
        run = find_named_run(session, run_ref)
    recruiter = load_recruiter(run.recruiter, settings)
    if isinstance(recruiter, PayingRecruiter) or not isinstance(recruiter, ReportingRecruiter):
        return None
    keys = read_keys(instance, settings.secret_key_file)
    engine = open_installation(instance, settings, keys, utc_now())
    services = Services(settings, engine, Tokens.from_keys(keys), utc_now, instance)
    hold_unrepeatable_reports(services)
    if changes.by_hand is not None:
        with services.sessions.begin() as session:
            confirm_by_hand(session, run, changes.by_hand, utc_now())
    if changes.fix:
        _requeue(services, run, recruiter, again=changes.again)
    lines = _format_discrepancies(services, run, recruiter)
    with reading(services.sessions) as session:
        reports_are_held = is_held(session.connection(), run.id)
    services.engine.dispose()
    clean = all(line.state == ReportState.DONE for line in lines) and not reports_are_held
    _print_lines(run, lines, clean=clean, as_json=as_json)
    if not as_json and (reports_are_held or any(line.answer == HELD_ANSWER for line in lines)):
        click.echo(_RESTORE_REMEDY)
    return clean


def _requeue(services: Services, run: Run, recruiter: ReportingRecruiter, *, again: bool) -> None:
    with services.sessions.begin() as session:
        study, now = services.study_of(session, run), services.now()
        for person in session.scalars(select(Participant).where(Participant.run_id == run.id)):
            if (ending := ending_of(person)) is not None:
                store_report(session, recruiter, study, person, ending, now)
        requeue_reports(session, run, recruiter, study, now, also_unsafe=again)
    send_reports(services)


def _format_discrepancies(
    services: Services, run: Run, recruiter: ReportingRecruiter
) -> list[_ReportLine]:
    with reading(services.sessions) as session:
        study = services.study_of(session, run)
        problems = [
            _ReportLine(person.ref, report.ending, report.state, report.tries, report.answer)
            for report, person in load_reports(session, run)
        ]
        reported_participants = {line.participant for line in problems}
        people = select(Participant).where(Participant.run_id == run.id).order_by(Participant.id)
        for person in session.scalars(people):
            ending = ending_of(person)
            if (
                ending
                and person.ref not in reported_participants
                and recruiter.report_terms(study, ending)
            ):
                problems.append(_ReportLine(person.ref, ending, _NOT_OWED, 0, ""))
    return problems


def _print_lines(run: Run, lines: Sequence[_ReportLine], *, clean: bool, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps([asdict(line) for line in lines], indent=2))
        return
    rows = [
        (line.participant, line.ending, line.state, line.tries, line.answer[:_MOST_CHARACTERS])
        for line in lines
        if line.state != ReportState.DONE
    ]
    done = len(lines) - len(rows)
    click.echo(f"The platform confirmed {done} of {len(lines)} endings reported to it.")
    if rows:
        click.echo(text_table(_REPORTS_HEADER, rows))
        click.echo(
            "--fix sends the reports that are safe to send; --fix --again also those it may "
            "already have received."
        )
        click.echo("If you credited someone on the panel's own site, record it with --by-hand WHO.")
    elif clean:
        click.echo(f"Run {run.ref} is clean: our records and the platform's answers agree.")
