"""``parallax reconcile`` and ``parallax compensate``: what paying as usual did not settle."""

import json
import sys
from dataclasses import asdict
from pathlib import Path

import click

from experiment.payment import LONGEST_REASON
from experiment.plugins import unknown_name
from webapp.clock import utc_now
from webapp.commands.desk import Desk, open_desk, with_live, with_yes
from webapp.commands.installation import with_instance
from webapp.commands.runs import link_base
from webapp.commands.text_table import text_table
from webapp.errors import RunError
from webapp.flow.compensate import compensation, offer_compensation
from webapp.flow.ledger import Entry
from webapp.flow.reconcile.mend import findings, mend
from webapp.flow.reconcile.snapshot import Snapshot, take_snapshot
from webapp.instance import secret_key
from webapp.tokens import Tokens

_HEADER = ("problem", "who", "what was seen", "what to do")


@click.command()
@click.argument("run")
@click.option("--fix", is_flag=True, help="Do what is safe, and look again.")
@click.option("--json", "as_json", is_flag=True, help="Print for programs.")
@with_live
@with_instance
def reconcile(run: str, fix: bool, as_json: bool, live: bool, instance: Path) -> None:
    """Lay RUN's records, its platform and its ledger side by side; exit code 1 if they differ."""
    desk = open_desk(instance, run, live=live)
    seen = _look(desk, instance)
    if fix:
        link = _link(instance, run)
        mend(desk.sessions, desk.platform, desk.run, desk.study, link, seen, utc_now)
        desk = open_desk(instance, run, live=live)
        seen = _look(desk, instance)
    found = findings(seen)
    if as_json:
        click.echo(json.dumps([asdict(finding) for finding in found], indent=2))
    elif found:
        rows = [(f.problem, f.who, f.detail, f.remedy) for f in found]
        click.echo(text_table(_HEADER, rows))
    else:
        click.echo(f"Run {run} is clean: our records, the platform and the ledger agree.")
    if found:
        sys.exit(1)


def _look(desk: Desk, instance: Path) -> Snapshot:
    tokens = Tokens(secret_key(instance, desk.settings.secret_key_file))
    return take_snapshot(desk.sessions, desk.platform, desk.run, tokens, utc_now())


@click.command()
@click.argument("run")
@click.argument("participant", required=False)
@click.option("--worker", help="The platform's id of somebody who never became a participant.")
@click.option("--cents", type=click.IntRange(min=1), required=True, help="How much.")
@click.option("--reason", required=True, help="What they are told.")
@with_yes
@with_live
@with_instance
def compensate(
    run: str,
    participant: str | None,
    worker: str | None,
    cents: int,
    reason: str,
    yes: bool,
    live: bool,
    instance: Path,
) -> None:
    """Offer pay to PARTICIPANT of RUN (or a --worker), who worked and could not submit."""
    if bool(participant) == bool(worker):
        raise click.UsageError("Give either PARTICIPANT or --worker.")
    if not 0 < len(reason.strip()) <= LONGEST_REASON:
        raise click.BadParameter(f"1 to {LONGEST_REASON} characters", param_hint="--reason")
    desk = open_desk(instance, run, live=live)
    entry = _entry(desk, participant, worker, cents, reason.strip())
    if not desk.agreed([entry], yes=yes):
        return
    told = offer_compensation(
        desk.sessions,
        desk.platform,
        desk.run,
        desk.study,
        entry,
        desk.caps,
        _link(instance, run),
        utc_now,
    )
    click.echo("The offer is posted; only they can take it. It is paid once they hand it in.")
    click.echo("The platform wrote to them." if told else "The platform did not write: tell them.")


def _link(instance: Path, run: str) -> str:
    return f"{link_base(instance)}/run/{run}/compensation"


def _entry(
    desk: Desk, participant: str | None, worker: str | None, cents: int, reason: str
) -> Entry:
    accounts = {account.participant.ref: account for account in desk.accounts()}
    if participant is None:
        same = (a for a in accounts.values() if a.participant.platform_id == worker)
        return compensation(next(same, None), str(worker), cents, reason)
    if participant not in accounts:
        raise unknown_name("participant", participant, list(accounts))
    account = accounts[participant]
    if account.participant.platform_id is None:
        raise RunError(f"no platform knows who {participant} is", where=f"run {desk.run.ref}")
    return compensation(account, account.participant.platform_id, cents, reason)
