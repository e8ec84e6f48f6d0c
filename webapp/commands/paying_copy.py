"""``parallax paying-copy``: showing and changing which copy of an installation may pay."""

from pathlib import Path

import click
import httpx
from sqlalchemy import select
from sqlalchemy.orm import Session

from experiment.payment.payment import PaymentState
from webapp.commands.options import add_instance_option, open_sessions
from webapp.core.instance import open_instance
from webapp.core.keys import Keys, read_keys
from webapp.database.engine import reading
from webapp.database.models import Hit, Payment, Run
from webapp.gate import ledger, paying_copy
from webapp.gate.installation import Installation
from webapp.gate.paying_copy import Holder, PayingCopyError
from webapp.http.health import HEALTHZ_PATH, PAYING_COPY_HEADER
from webapp.recruiters.settings import load_settings

_TIMEOUT_S = 10.0
_DOUBTFUL_STATES = (PaymentState.CALLING, PaymentState.ORDERED, PaymentState.UNKNOWN)
UNDETECTED_COPIES = (
    "What nobody can exclude: a copy that is switched off and started again later, or a clone of "
    "the whole machine, still believes that it may pay. Before you take over from a copy that is "
    "gone, make sure that nobody will start it again. Wait until the platform shows what it "
    "ordered last (some minutes): an order that does not show yet would be paid again."
)


@click.group("paying-copy")
def group() -> None:
    """Show or move the right to pay, which one copy of an installation has."""


@group.command()
@add_instance_option
def show(instance: Path) -> None:
    """Show which copy has the right to pay."""
    folder = open_instance(instance)
    with reading(open_sessions(instance)) as session:
        connection = session.connection()
        holder = paying_copy.find_holder(connection)
        if paying_copy.is_paying(connection, folder):
            click.echo("This copy has the right to pay and publish.")
            return
        click.echo("This copy does not have the right to pay and publish.")
        click.echo(_describe_last_holder(holder))
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

    Afterwards, reconcile every open run before you pay: the other copy may have paid meanwhile.
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
        click.echo(f"{_describe_last_holder(holder)} {UNDETECTED_COPIES}")
        if not yes:
            click.confirm("Take over?", abort=True)
    # The other copy may have paid since this database was copied.
    ledger.prepare_restore(folder)
    with sessions.begin() as session:
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
