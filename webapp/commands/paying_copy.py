"""``parallax paying-copy``: showing and changing which copy of an installation may pay."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import click
import httpx
from sqlalchemy import select
from sqlalchemy.orm import Session

from experiment.payment.payment import PaymentState
from webapp.commands.options import add_instance_option, open_sessions
from webapp.core.clock import utc_now
from webapp.core.instance import open_instance
from webapp.core.keys import Keys, read_keys
from webapp.core.tokens import Tokens
from webapp.database.engine import Sessions, reading
from webapp.database.models import Hit, Payment, Run
from webapp.gate import ledger, panel_call_counter, paying_copy
from webapp.gate.installation import Installation
from webapp.gate.paying_copy import Holder, PayingCopyError
from webapp.http.health import HEALTHZ_PATH, PAYING_COPY_HEADER
from webapp.payments.reconciliation.unknown_acts import (
    RECENT,
    UnknownActs,
    find_unknown_acts,
)
from webapp.recruiters.settings import load_settings

_TIMEOUT_S = 10.0
_DOUBTFUL_STATES = (PaymentState.CALLING, PaymentState.ORDERED, PaymentState.UNKNOWN)
# So many acts of another copy are printed at most.
_MAX_PRINTED = 10
UNDETECTED_COPIES = (
    "What nobody can exclude: a copy that has done nothing lately, one that is switched off and "
    "started again later, or a clone of the whole machine still believes that it may pay. Before "
    "you take over from a copy that is gone, make sure that nobody will start it again. Wait until "
    "the platform shows what it ordered last (some minutes): an order that does not show yet would "
    "be paid again."
)


@click.group("paying-copy")
def group() -> None:
    """Show or move the right to pay, which one copy of an installation has."""


@group.command()
@add_instance_option
def show(instance: Path) -> None:
    """Show which copy has the right to pay."""
    folder = open_instance(instance)
    sessions = open_sessions(instance)
    with reading(sessions) as session:
        connection = session.connection()
        holder = paying_copy.find_holder(connection)
        if paying_copy.is_paying(connection, folder):
            click.echo("This copy has the right to pay and publish.")
            return
    click.echo("This copy does not have the right to pay and publish.")
    click.echo(_describe_last_holder(holder))
    _print_answers(_ask_platforms(folder, sessions))
    click.echo(_explain_handover(folder))


@group.command("hand-over")
@click.option("--to", "request", required=True, help="What the other copy's take-over printed.")
@add_instance_option
def hand_over(request: str, instance: Path) -> None:
    """Hand the right to pay over to another copy.

    This copy then no longer pays or publishes. The command waits for calls in progress, and
    refuses while a payment or an offer is in doubt.
    """
    folder = open_instance(instance)
    sessions, keys = open_sessions(instance), _read_keys(folder)
    with paying_copy.block_platform_calls(folder), sessions.begin() as session:
        _refuse_doubtful_payments(session)
        paying_copy.give_up_right(session.connection(), folder)
    click.echo("This copy does not pay or publish any more. On the other copy, run:")
    click.echo(
        f"parallax paying-copy take-over --code {paying_copy.compute_transfer_code(keys, request)}"
    )


@group.command("take-over")
@click.option("--code", default="", help="What hand-over printed on the copy that paid until now.")
@click.option(
    "--other-copy-is-gone",
    "gone",
    is_flag=True,
    help="The copy that paid until now is gone, and nobody will start it again.",
)
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@add_instance_option
def take_over(code: str, gone: bool, yes: bool, instance: Path) -> None:
    """Take over the right to pay from another copy.

    If that copy is gone, the command first asks the platforms what they show that this copy's
    database lacks, and refuses if that is less than an hour old. Afterwards, reconcile every open
    run before you pay: the other copy may have paid meanwhile.
    """
    folder = open_instance(instance)
    sessions, keys = open_sessions(instance), _read_keys(folder)
    with reading(sessions) as session:
        connection = session.connection()
        if paying_copy.is_paying(connection, folder):
            click.echo("This copy has the right to pay and publish already.")
            return
        holder = paying_copy.find_holder(connection)
        proved = paying_copy.may_take_right(connection, folder, keys, code)
    if not proved:
        if code:
            raise PayingCopyError(
                "the code is not for this copy",
                expected="what hand-over printed for the present request",
                remedy=_explain_handover(folder),
            )
        _refuse_running_copy(holder, folder)
        if not gone:
            raise PayingCopyError(
                "another copy of this installation may still pay. " + _describe_last_holder(holder),
                where=str(folder),
                remedy=_explain_handover(folder),
            )
        answers = _ask_platforms(folder, sessions)
        _print_answers(answers)
        _refuse_recent_acts(answers, folder)
        if yes:
            _refuse_unasked_platforms(answers)
        click.echo(f"{_describe_last_holder(holder)} {UNDETECTED_COPIES}")
        if not yes:
            although = " without the answer of these platforms" if answers.unasked else ""
            click.confirm(f"Take over{although}?", abort=True)
    # The other copy may have paid, and reported to panels, since this database was copied.
    ledger.prepare_restore(folder)
    with sessions.begin() as session:
        if code or not proved:
            panel_call_counter.mark_restored(session.connection())
        paying_copy.take_right(session.connection(), Installation(folder, load_settings(folder)))
        ledger.raise_epoch(session.connection(), folder)
    with reading(sessions) as session:
        runs = ledger.find_runs_to_reconcile(session.connection(), folder)
    click.echo("This copy has the right to pay and publish.")
    if runs:
        commands = "; ".join(f"parallax reconcile {ref} --fix" for ref in runs)
        click.echo(f"Before it pays, compare each open run with its platform: {commands}")


def _refuse_doubtful_payments(session: Session) -> None:
    payments_in_doubt = Payment.run_id == Run.id, Payment.state.in_(_DOUBTFUL_STATES)
    offers = Hit.run_id == Run.id, Hit.called_at.is_not(None), Hit.posted_at.is_(None)
    refs = session.scalars(
        select(Run.ref).join(Payment, payments_in_doubt[0]).where(payments_in_doubt[1]).distinct()
    ).all()
    unposted = session.scalars(select(Run.ref).where(*offers).distinct()).all()
    if refs or unposted:
        raise PayingCopyError(
            "a payment or an offer is in doubt, so another copy could make it a second time",
            where=", ".join(f"run {ref}" for ref in sorted({*refs, *unposted})),
            remedy="Settle it first: "
            + "; ".join(
                [f"parallax reconcile {ref} --fix" for ref in refs]
                + [f"parallax publish {ref}" for ref in unposted]
            ),
        )


def _refuse_running_copy(holder: Holder | None, folder: Path) -> None:
    """Check that the paying copy is not running.

    Raises:
        PayingCopyError: It is running.
    """
    place = holder and (paying_copy.find_valid_folder(holder) or _find_running_copy(holder))
    if place:
        raise PayingCopyError(
            f"the copy that has the right to pay is alive: {place}",
            where=str(folder),
            remedy="Let it hand the right over, there: parallax paying-copy hand-over --to "
            + paying_copy.find_request_code(folder),
        )


def _ask_platforms(folder: Path, sessions: Sessions) -> UnknownActs:
    """Return what the platforms show that this copy's database lacks."""
    tokens = Tokens.from_keys(_read_keys(folder))
    return find_unknown_acts(load_settings(folder), sessions, tokens, utc_now())


def _print_answers(answers: UnknownActs) -> None:
    if answers.acts:
        click.echo(
            "The platforms show what this copy's database lacks. Another copy did it after the "
            "database was copied, or a person on the platform's own site:"
        )
    for act in answers.acts[:_MAX_PRINTED]:
        seen = "" if act.is_dated else "first seen here "
        click.echo(f"  run {act.run_ref}: {act.text}, {seen}{_format_time(act.at)} ({act.page})")
    if (n_more := len(answers.acts) - _MAX_PRINTED) > 0:
        click.echo(f"  and {n_more} more that are older")
    for problem in answers.unasked:
        click.echo(f"The platform could not be asked: {problem}")
    if answers.silent:
        click.echo(
            "The panels of these runs answer no questions, so another copy may have reported to "
            f"them: {', '.join(answers.silent)}."
        )


def _refuse_recent_acts(answers: UnknownActs, folder: Path) -> None:
    """Check that no platform shows a recent act that this copy's database lacks.

    Raises:
        PayingCopyError: One does, so another copy may be working.
    """
    recent = [act for act in answers.acts if act.shows_activity(utc_now())]
    if recent:
        over = recent[0].at + RECENT + timedelta(seconds=59)  # rounded up to a minute
        raise PayingCopyError(
            f"less than an hour ago, somebody else acted on the platform "
            f"({len(recent)} of the acts above), so another copy may still pay",
            where=", ".join(sorted({f"run {act.run_ref}" for act in recent})),
            remedy=f"{_explain_handover(folder)}, at {_format_time(over)} or "
            "later. It refuses again if the platform shows newer acts by then",
        )


def _refuse_unasked_platforms(answers: UnknownActs) -> None:
    """Check that every platform was asked, before a take-over without a question.

    Raises:
        PayingCopyError: One was not.
    """
    if answers.unasked:
        raise PayingCopyError(
            "a platform could not be asked what another copy did lately",
            where=", ".join(problem.partition(":")[0] for problem in answers.unasked),
            remedy="Try again when the platform answers. To take over without its answer, leave "
            "out --yes, and confirm",
        )


def _find_running_copy(holder: Holder) -> str:
    """Return the address of the paying copy, if its server answers there."""
    if not holder.copy:
        return ""
    try:
        answer = httpx.get(f"{holder.address}{HEALTHZ_PATH}", timeout=_TIMEOUT_S, trust_env=False)
    except (httpx.HTTPError, httpx.InvalidURL):
        return ""
    header = answer.headers.get(PAYING_COPY_HEADER)
    return holder.address if header == paying_copy.compute_mark(holder.copy) else ""


def _describe_last_holder(holder: Holder | None) -> str:
    if holder is None:
        return "The database does not say which copy has it."
    if not holder.copy:
        return "It was handed over to another copy."
    machine = f", on the machine {holder.machine}" if holder.machine else ""
    return (
        f"The database names the copy in the folder {holder.folder}{machine}, "
        f"at the address {holder.address}."
    )


def _explain_handover(folder: Path) -> str:
    request = paying_copy.find_request_code(folder)
    return (
        "Where the copy that paid until now still runs, let it hand over, there: "
        f"parallax paying-copy hand-over --to {request}. Where it is gone for good: "
        "parallax paying-copy take-over --other-copy-is-gone"
    )


def _read_keys(folder: Path) -> Keys:
    return read_keys(folder, load_settings(folder).secret_key_file)


def _format_time(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
