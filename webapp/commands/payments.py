"""``parallax review``, ``approve``, ``reject`` and ``bonus``."""

from pathlib import Path

import click

from experiment.payment import (
    LONGEST_REASON,
    PaymentKind,
    bonuses_by_rule,
    dollars,
    read_bonus_file,
)
from webapp.commands.desk import open_desk, with_live, with_yes
from webapp.commands.installation import open_sessions, with_instance
from webapp.commands.text_table import text_table
from webapp.db import reading
from webapp.flow.entries import THANKS, bonuses, judgment, rewards
from webapp.flow.owed import Account, accounts
from webapp.flow.publish import recruitment_of
from webapp.flow.runs import named_run

_HEADER = ("participant", "finished", "analysis", "platform", "reward", "bonus", "compensation")
_ANALYSIS = {None: "undecided", True: "kept", False: "excluded"}


@click.command()
@click.argument("run")
@with_instance
def review(run: str, instance: Path) -> None:
    """Show who took part in RUN, what they submitted and what they were paid; nothing is called."""
    with reading(open_sessions(instance)) as session:
        here = named_run(session, run)
        owed, published = accounts(session, here), recruitment_of(session, here)
    if not owed:
        click.echo("Nobody took part yet.")
        return
    click.echo(text_table(_HEADER, [_row(account) for account in owed]))
    if published is None:
        click.echo("The run is published on no platform, so nobody is paid from here.")
        return
    unpaid = sum(a.finished and a.assignment is not None and not a.approved for a in owed)
    waiting = sum(account.finished and account.assignment is None for account in owed)
    click.echo(f"{unpaid} finished and submitted, and are not paid: parallax approve {run}")
    click.echo(f"{waiting} finished and did not submit: parallax reconcile {run}")


def _row(account: Account) -> tuple[str, ...]:
    return (
        account.participant.ref,
        "yes" if account.finished else account.participant.state,
        _ANALYSIS[account.kept] if account.finished else "",
        account.assignment.status if account.assignment else "nothing submitted",
        *(
            _paid(account, kind)
            for kind in (PaymentKind.REWARD, PaymentKind.BONUS, PaymentKind.COMPENSATION)
        ),
    )


def _paid(account: Account, kind: PaymentKind) -> str:
    return ", ".join(
        f"{dollars(payment.amount_cents)} {payment.state}"
        for payment in account.payments
        if payment.kind == kind
    )


@click.command()
@click.argument("run")
@click.option(
    "--only",
    multiple=True,
    metavar="WHO",
    help="A participant, or the platform's id of an assignment, be it finished or not; repeatable.",
)
@with_yes
@with_live
@with_instance
def approve(run: str, only: tuple[str, ...], yes: bool, live: bool, instance: Path) -> None:
    """Pay the reward to everyone who finished RUN and submitted, excluded or not."""
    desk = open_desk(instance, run, live=live)
    owed = desk.accounts()
    if only:
        due = (PaymentKind.REWARD, desk.reward_cents, THANKS)
        with reading(desk.sessions) as session:
            entries = [judgment(session, desk.run, owed, who, due) for who in only]
    else:
        entries = rewards(owed, desk.reward_cents)
        desk.pay_compensation()
    desk.pay(entries, yes=yes)


@click.command()
@click.argument("run")
@click.argument("who")
@click.option("--reason", required=True, help="What the worker is told.")
@with_yes
@with_live
@with_instance
def reject(run: str, who: str, reason: str, yes: bool, live: bool, instance: Path) -> None:
    """Refuse to pay WHO, a participant of RUN or an assignment: they lose the reward."""
    if not 0 < len(reason.strip()) <= LONGEST_REASON:
        raise click.BadParameter(f"1 to {LONGEST_REASON} characters", param_hint="--reason")
    desk = open_desk(instance, run, live=live)
    with reading(desk.sessions) as session:
        due = (PaymentKind.REJECTION, 0, reason.strip())
        entry = judgment(session, desk.run, desk.accounts(), who, due)
    desk.pay([entry], yes=yes)


@click.command()
@click.argument("run")
@click.option(
    "--file",
    "path",
    type=click.Path(path_type=Path),
    help="A CSV file with participant, amount_cents and reason; else the study's rule decides.",
)
@with_yes
@with_live
@with_instance
def bonus(run: str, path: Path | None, yes: bool, live: bool, instance: Path) -> None:
    """Pay bonuses to participants of RUN whose reward is paid, by the study's rule or a file."""
    desk = open_desk(instance, run, live=live)
    owed = desk.accounts()
    if path is not None:
        dues = read_bonus_file(path, [account.participant.ref for account in owed])
    else:
        finished = [account.finisher for account in owed if account.finished]
        dues = bonuses_by_rule(desk.study.payment, finished)
    entries, waiting = bonuses(owed, dues)
    if waiting:
        click.echo(f"{len(waiting)} more get theirs once their reward is paid: parallax approve")
    desk.pay(entries, yes=yes)
