"""``parallax review``, ``approve``, ``reject``, ``bonus``, ``settle`` and ``statement``."""

from pathlib import Path

import click
from sqlalchemy import select

from experiment.money import in_words
from experiment.payment.bonuses import read_bonus_file
from experiment.payment.payment import (
    LONGEST_REASON,
    PaymentKind,
    plain_reason,
)
from experiment.tables.files import text_table
from webapp.commands.options import add_instance_option, open_sessions
from webapp.commands.platform_run import (
    confirm_and_pay,
    live_option,
    open_run_payments,
    statement_table,
    yes_option,
)
from webapp.core.clock import utc_now
from webapp.core.keys import read_keys
from webapp.core.tokens import Tokens
from webapp.database.engine import reading
from webapp.database.models import Recruitment, Run
from webapp.payments.accounts import PayeeAccount, load_accounts
from webapp.payments.bonuses import find_rule_bonuses, prepare_listed_bonuses
from webapp.payments.ledger import load_payments
from webapp.payments.non_idempotent_bonuses import settle_by_hand
from webapp.payments.reconciliation.snapshot import take_snapshot
from webapp.payments.reconciliation.statement import build_statements
from webapp.payments.rewards import find_all_rewards, find_named_rewards, prepare_rejection
from webapp.payments.spending import (
    ROUNDING_NOTE,
    RunSpending,
    SpendingLine,
    compute_totals,
    lines_to_csv,
    render_page,
    sum_by_funder,
)
from webapp.recruitment.published import find_recruitment
from webapp.runs.runs import find_named_run, load_launched_study

_COLUMNS = ("participant", "finished", "analysis", "platform", "reward", "bonus", "compensation")
_VERDICTS = {None: "undecided", True: "kept", False: "excluded"}


@click.command()
@click.argument("run")
@add_instance_option
def review(run: str, instance: Path) -> None:
    """Show who took part in RUN and what they were paid.

    It shows what they submitted too. No platform is called.
    """
    with reading(open_sessions(instance)) as session:
        stored_run = find_named_run(session, run)
        owed, published = load_accounts(session, stored_run), find_recruitment(session, stored_run)
        study, ledger = load_launched_study(session, stored_run), load_payments(session, stored_run)
    if not owed:
        click.echo("No one has taken part yet.")
        return
    click.echo(text_table(_COLUMNS, [_make_account_row(account) for account in owed]))
    if published is None:
        click.echo("The run is not published on a paying platform, so Parallax pays no one.")
        return
    statement_rows = build_statements(owed, ledger, study)
    click.echo(statement_table(statement_rows))
    unpaid = sum(account.awaits_pay for account in owed)
    waiting = sum(account.finished and account.assignment is None for account in owed)
    click.echo(f"{unpaid} finished, submitted and not yet paid: parallax approve {run}")
    click.echo(f"{waiting} finished without submitting: parallax reconcile {run}")
    n_short = sum(statement.is_short for statement in statement_rows)
    click.echo(f"{n_short} have so far received less than the study's rule promises.")


def _make_account_row(account: PayeeAccount) -> tuple[str, ...]:
    return (
        account.participant.ref,
        "yes" if account.finished else account.participant.state,
        _VERDICTS[account.kept] if account.finished else "",
        account.platform_status or "nothing submitted",
        *(
            _describe_payments(account, kind)
            for kind in (PaymentKind.REWARD, PaymentKind.BONUS, PaymentKind.COMPENSATION)
        ),
    )


def _describe_payments(account: PayeeAccount, kind: PaymentKind) -> str:
    return ", ".join(
        f"{in_words(payment.amount_minor, payment.currency)} {payment.state}"
        for payment in account.payments
        if payment.kind == kind
    )


@click.command()
@click.argument("run")
@click.option(
    "--only",
    multiple=True,
    metavar="WHO",
    help=(
        "Approve this participant or assignment (the platform's id) only, finished or not; "
        "repeatable."
    ),
)
@click.option(
    "--undo-rejection",
    is_flag=True,
    help="Also pay work that you rejected before; needs --only.",
)
@yes_option
@live_option
@add_instance_option
def approve(
    run: str,
    only: tuple[str, ...],
    undo_rejection: bool,
    yes: bool,
    live: bool,
    instance: Path,
) -> None:
    """Pay the reward to everyone who finished RUN and submitted.

    Participants whom the rules exclude are paid too.
    """
    if undo_rejection and not only:
        raise click.UsageError(
            "--undo-rejection needs --only WHO, which says whose rejection to undo."
        )
    run_payments = open_run_payments(instance, run, live=live)
    if only:
        entries = find_named_rewards(run_payments, only, undo_rejection=undo_rejection)
    else:
        entries = find_all_rewards(run_payments)
        done, attempted = run_payments.pay_compensation()
        if attempted:
            click.echo(f"{done} of {attempted} compensations are paid.")
    confirm_and_pay(run_payments, entries, yes=yes, undo_rejections=undo_rejection)


@click.command()
@click.argument("run")
@click.argument("who")
@click.option("--reason", required=True, help="The reason that the worker reads.")
@click.option(
    "--category", default="", help="The category of the rejection, on platforms that ask for one."
)
@yes_option
@live_option
@add_instance_option
def reject(
    run: str, who: str, reason: str, category: str, yes: bool, live: bool, instance: Path
) -> None:
    """Reject WHO's work: do not pay the reward.

    WHO is a participant of RUN or an assignment.
    """
    reason = plain_reason(reason)
    if not 0 < len(reason) <= LONGEST_REASON:
        raise click.BadParameter(f"1 to {LONGEST_REASON} characters", param_hint="--reason")
    run_payments = open_run_payments(instance, run, live=live)
    confirm_and_pay(run_payments, prepare_rejection(run_payments, who, reason, category), yes=yes)


@click.command()
@click.argument("run")
@click.argument("payment", type=int)
@click.option(
    "--paid/--not-paid",
    "is_paid",
    default=None,
    help="Whether the platform's own site shows the payment.",
)
@live_option
@add_instance_option
def settle(run: str, payment: int, is_paid: bool | None, live: bool, instance: Path) -> None:
    """Record whether a PAYMENT in doubt was made.

    PAYMENT is a number that parallax reconcile RUN names. RUN's platform does not report it: look
    at its own site first.
    """
    if is_paid is None:
        raise click.UsageError("Give either --paid or --not-paid.")
    run_payments = open_run_payments(instance, run, live=live)
    settled = settle_by_hand(
        run_payments.sessions, run_payments.run, payment, utc_now, is_paid=is_paid
    )
    run_payments.log_act(
        "payment settled by hand",
        was={"state": "in doubt"},
        payment=str(settled.id),
        state=settled.state,
    )
    click.echo(f"Payment {settled.id} is {settled.state}.")
    if not is_paid:
        click.echo(f"To pay it again: parallax reconcile {run} --fix")


@click.command()
@click.argument("run")
@click.option(
    "--file",
    "path",
    type=click.Path(path_type=Path),
    help="A CSV file with participant, amount and reason. Without it, the study's rule decides.",
)
@click.option(
    "--additional",
    is_flag=True,
    help=(
        "Also pay people who already got a bonus of the same amount for another reason, or a "
        "bonus by hand."
    ),
)
@yes_option
@live_option
@add_instance_option
def bonus(
    run: str, path: Path | None, additional: bool, yes: bool, live: bool, instance: Path
) -> None:
    """Pay bonuses to participants of RUN whose reward is paid.

    The study's rule or a file says how much.
    """
    run_payments = open_run_payments(instance, run, live=live)
    if path is not None:
        refs = [account.participant.ref for account in run_payments.load_accounts()]
        items = read_bonus_file(path, refs, run_payments.run.currency, run_payments.run.ref)
        bonuses = prepare_listed_bonuses(run_payments, items, additional=additional)
    else:
        bonuses = find_rule_bonuses(run_payments, additional=additional)
    for note in bonuses.notes(run):
        click.echo(note)
    confirm_and_pay(run_payments, bonuses.entries, yes=yes, additional=additional)


_STATEMENT_HEADER = (
    "funder",
    "study",
    "run",
    "platform",
    "paid",
    "fees",
    "spent",
    "in doubt",
    "owed",
)
_PATH = click.Path(path_type=Path, file_okay=False)


@click.command()
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@click.option("--out", type=_PATH, help="A folder for statement.csv and statement.html, to print.")
@live_option
@add_instance_option
def statement(runs: tuple[str, ...], out: Path | None, live: bool, instance: Path) -> None:
    """State what each RUN spent and still owes, with the platform's fees.

    Without RUN it states every run that was published on a paying platform. Each platform is read,
    and nothing is paid.
    """
    lines = [
        line
        for run in runs or _published_run_refs(instance)
        for line in _load_spending_lines(instance, run, live)
    ]
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        (out / "statement.csv").write_text(lines_to_csv(lines), encoding="utf-8", newline="\n")
        (out / "statement.html").write_text(
            render_page(lines, utc_now()), encoding="utf-8", newline="\n"
        )
    if not lines:
        click.echo("Nothing was paid, and nothing is owed.")
        return
    sums = compute_totals(lines)
    click.echo(
        text_table(
            _STATEMENT_HEADER,
            [
                (
                    row.funder or "(not stated)",
                    row.study,
                    row.run,
                    row.platform,
                    *(
                        in_words(amount, row.currency)
                        for amount in (
                            sum(row.spent_minor.values()),
                            row.fees_minor,
                            row.total_minor,
                            row.doubtful_minor,
                            row.owed_minor,
                        )
                    ),
                )
                for row in sums
            ],
        )
    )
    for (funder, currency), spent_minor in sum_by_funder(sums).items():
        click.echo(f"{funder or '(no funder stated)'}: {in_words(spent_minor, currency)} spent.")
    click.echo(ROUNDING_NOTE)


def _published_run_refs(instance: Path) -> list[str]:
    runs = select(Run.ref).join(Recruitment, Recruitment.run_id == Run.id).order_by(Run.id)
    with reading(open_sessions(instance)) as session:
        return list(session.scalars(runs))


def _load_spending_lines(instance: Path, run_ref: str, live: bool) -> list[SpendingLine]:
    run_payments = open_run_payments(instance, run_ref, live=live)
    tokens = Tokens.from_keys(read_keys(instance, run_payments.settings.secret_key_file))
    snapshot = take_snapshot(
        run_payments.sessions, run_payments.platform, run_payments.run, tokens, utc_now()
    )
    of_run = RunSpending(
        run_payments.sessions, run_payments.platform, run_payments.run, run_payments.study, snapshot
    )
    return list(of_run.lines())
