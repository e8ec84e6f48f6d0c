"""``parallax publish`` and ``parallax recruitment``: finding a run's participants on a platform."""

import getpass
import sys
import time
from collections import Counter
from datetime import timedelta
from itertools import chain
from pathlib import Path

import click

from experiment.money import in_words
from experiment.payment.cost import refuse_out_of_bounds
from experiment.tables.atomic_write import atomic_write
from experiment.tables.files import safe_csv, text_table
from webapp.commands.offers import ask_return, demographics, screen_outs, stop_, webhooks
from webapp.commands.options import add_instance_option, open_sessions
from webapp.commands.platform_run import PublishedRun, live_option, open_published_run
from webapp.core.clock import utc_now
from webapp.database.engine import Sessions, reading
from webapp.errors import RunError
from webapp.recruiters.capabilities import EditedOffers, Messages, TestOffers
from webapp.recruiters.platform import OfferState, Platform, PlatformUnreachable
from webapp.recruiters.settings import load_settings
from webapp.recruitment.messages import Recipients, check_message, find_recipients, send_message
from webapp.recruitment.plan_cost import (
    list_audience_rows,
    list_cost_rows,
    read_limits,
    refuse_insufficient_balance,
    require_second_person,
)
from webapp.recruitment.poll import poll_run
from webapp.recruitment.progress import compute_progress, extend_run, load_hit_states, pause_run
from webapp.recruitment.publish import carry_out_plan as carry_out
from webapp.recruitment.publish import draft_plan
from webapp.recruitment.published import load_recruitment_hits
from webapp.recruitment.reports import load_reports
from webapp.recruitment.terms import (
    build_offer,
    build_task,
    find_earlier_offers,
    find_required_parts,
    get_terms,
)
from webapp.runs.launch import check_responsible_people
from webapp.runs.parts import join_parts
from webapp.runs.runs import find_named_run


@click.command()
@click.argument("run")
@click.option(
    "--dry-run",
    is_flag=True,
    help="Print every request without sending any that changes something.",
)
@click.option("--yes", is_flag=True, help="Do not ask for confirmation of the cost.")
@live_option
@add_instance_option
def publish(run: str, dry_run: bool, yes: bool, live: bool, instance: Path) -> None:
    """Offer RUN's open places on its platform.

    Run it again to continue after an interruption or to fill places that became free.
    """
    published = open_published_run(instance, run, live=live)
    sessions, platform = published.sessions, published.platform
    plan = draft_plan(sessions, platform, run, published.link, utc_now())
    if live:
        check_responsible_people(plan.study)
    rows = (*list_cost_rows(plan, platform), *list_audience_rows(plan, platform))
    click.echo(text_table((f"at {platform.endpoint}", ""), rows))
    limits = read_limits(load_settings(instance), plan.study.currency)
    screen_outs = plan.cost.screen_outs
    refuse_out_of_bounds(plan.study, plan.unfilled, limits, screen_outs=screen_outs)
    if dry_run:
        for operation, request in platform.requests(plan.qualification, plan.task, plan.offers):
            click.echo(f"{operation} {request}")
        click.echo("Nothing was published.")
        return
    if plan.is_empty:
        click.echo("Nothing to publish: every place is filled, offered or being worked on.")
        return
    refuse_insufficient_balance(plan, platform)
    if not yes:
        click.confirm("Publish this?", abort=True)
    require_second_person(sessions, plan, platform, by=getpass.getuser(), now=utc_now())
    for hit_id, places in carry_out(sessions, platform, plan, utc_now):
        click.echo(f"Offer {hit_id}: {places} places")
    click.echo(f"Run {run} is published. See how it fills with: parallax recruitment status {run}")


@click.group()
def recruitment() -> None:
    """Show and control the recruitment of a run."""


@recruitment.command()
@click.argument("run")
@live_option
@add_instance_option
def status(run: str, live: bool, instance: Path) -> None:
    """Show the progress of each offer of RUN."""
    published = open_published_run(instance, run, live=live)
    sessions, platform = published.sessions, published.platform
    _print_poll(sessions, platform, run)
    header = ("offer", "places", "free", "at work", "submitted", "reviewed", "until")
    rows = [
        (
            hit_id,
            state.places,
            state.available,
            state.pending,
            state.submitted,
            state.completed,
            _format_expiry(state),
        )
        for hit_id, state in load_hit_states(sessions, platform, run)
    ]
    click.echo(text_table(header, rows))
    _print_progress(published)


@recruitment.command("pause")
@click.argument("run")
@live_option
@add_instance_option
def pause_(run: str, live: bool, instance: Path) -> None:
    """Hide RUN's offers from new workers.

    Participants who have begun can finish. Publishing it again resumes.
    """
    published = open_published_run(instance, run, live=live)
    sessions, platform = published.sessions, published.platform
    ended = pause_run(sessions, platform, run, utc_now())
    click.echo(f"{ended} offers have ended. To open them again: parallax publish {run}")


@recruitment.command("extend")
@click.argument("run")
@click.option(
    "--hours",
    type=click.IntRange(min=1),
    required=True,
    help="How many hours from now the offers can be found.",
)
@live_option
@add_instance_option
def extend_(run: str, hours: int, live: bool, instance: Path) -> None:
    """Keep RUN's open offers visible for more hours from now."""
    published = open_published_run(instance, run, live=live)
    sessions, platform = published.sessions, published.platform
    until = utc_now() + timedelta(hours=hours)
    extended = extend_run(sessions, platform, run, until, utc_now())
    click.echo(f"{extended} offers can be found until {until:%Y-%m-%d %H:%M} UTC.")


@recruitment.command("poll")
@click.argument("run")
@click.option("--every", type=click.IntRange(min=1), help="Repeat every so many seconds.")
@live_option
@add_instance_option
def poll_(run: str, every: int | None, live: bool, instance: Path) -> None:
    """Fetch the state of RUN's assignments from the platform."""
    published = open_published_run(instance, run, live=live)
    sessions, platform = published.sessions, published.platform
    _print_poll(sessions, platform, run)
    while every:
        time.sleep(every)
        try:
            _print_poll(sessions, platform, run)
        except PlatformUnreachable as error:
            # A watching command continues once the platform answers again.
            click.echo(str(error), err=True)


def _format_expiry(state: OfferState) -> str:
    if not state.is_open(utc_now()):
        return "over"
    return f"{state.expires_at:%Y-%m-%d %H:%M} UTC" if state.expires_at else "ended"


def _print_poll(sessions: Sessions, platform: Platform, run: str) -> None:
    polled = poll_run(sessions, platform, run, utc_now())
    click.echo(
        f"{polled.submitted} newly submitted, {polled.returned} returned, {polled.granted} "
        "marked on the platform as having taken part."
    )
    if polled.refused:
        click.echo(f"{polled.refused} arrived with a worker id that the platform does not know.")


def _print_progress(published: PublishedRun) -> None:
    """Print durations, pay, returned work, the remaining balance, and changes on the platform."""
    platform, study = published.platform, published.study
    progress = compute_progress(chain.from_iterable(map(platform.submissions, published.offers)))
    if progress.median_minutes is not None:
        hourly = progress.hourly_minor(study.reward_minor) or 0
        pay = in_words(hourly, study.currency)
        click.echo(f"Median time: {progress.median_minutes:.1f} minutes, which pays {pay} an hour")
    if progress.ended and platform.tells_every_status:
        click.echo(f"Returned or timed out: {progress.returned} of {progress.ended}")
    click.echo(f"Balance left: {in_words(platform.balance_minor(), platform.currency)}")
    _print_reports(published)
    _print_edits(published)


def _print_reports(published: PublishedRun) -> None:
    """Print the progress of reporting endings to the platform."""
    with reading(published.sessions) as session:
        run = find_named_run(session, published.ref)
        states = Counter(report.state for report, _ in load_reports(session, run))
    if states:
        counts = ", ".join(f"{number} {state}" for state, number in sorted(states.items()))
        click.echo(f"Endings reported to the platform by our server: {counts}")


def _print_edits(published: PublishedRun) -> None:
    """Print the changes that were made on the platform's own pages."""
    platform = published.platform
    with reading(published.sessions) as session:
        run = find_named_run(session, published.ref)
        hits = load_recruitment_hits(session, run)
        not_of = find_earlier_offers(session, run, published.study, platform.endpoint)
        one_of = find_required_parts(session, published.study, platform.endpoint)
    for hit in hits:
        if hit.platform_id and (places := platform.state(hit.platform_id).places) > hit.places:
            click.echo(
                f"WARNING: offer {hit.platform_id} has {places} places on the platform, but "
                f"{hit.places} were published: participants beyond that are turned away"
            )
    if isinstance(platform, EditedOffers):
        task = build_task(published.study, not_again=(), not_of=not_of, one_of=one_of)
        for offer in published.offers:
            for edit in platform.edits(offer, task, published.link):
                click.echo(f"WARNING: offer {offer} was changed on the platform: {edit}")


@click.command("test")
@click.argument("run")
@live_option
@add_instance_option
def test_offer(run: str, live: bool, instance: Path) -> None:
    """Make a test study of RUN on its platform.

    Only test participants find it. Its pages show what people would see, and store nothing.
    """
    published = open_published_run(instance, run, live=live)
    platform = published.platform
    if not isinstance(platform, TestOffers):
        raise RunError(
            "this platform has no test studies",
            where=f"run {run}",
            remedy="Open the run's link with &preview=1 at its end",
        )
    plan = draft_plan(published.sessions, platform, run, published.link, utc_now())
    offer = build_offer(get_terms(plan.study), published.link, 1, f"test of {run}")
    click.echo(f"Test participants find it at {platform.offer_test(plan.task, offer)}")


@click.command("write")
@click.argument("run")
@click.option(
    "--to",
    "whom",
    type=click.Choice([whom.value for whom in Recipients]),
    required=True,
    help="Which of the run's participants.",
)
@click.option(
    "--text", required=True, help="What the participants read; @FILE reads it from a file."
)
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@live_option
@add_instance_option
def write(run: str, whom: str, text: str, yes: bool, live: bool, instance: Path) -> None:
    """Write to RUN's participants on their platform.

    For example, invite everybody who finished to the next part.
    """
    published = open_published_run(instance, run, live=live)
    platform = published.platform
    if not isinstance(platform, Messages):
        raise RunError(
            "this platform cannot write to participants from here",
            where=f"run {run}",
            remedy="Write to them on the platform's own pages",
        )
    body = check_message(
        Path(text[1:]).read_text(encoding="utf-8") if text.startswith("@") else text
    )
    with reading(published.sessions) as session:
        by_offer = find_recipients(session, run, Recipients(whom))
    number = sum(map(len, by_offer.values()))
    click.echo(f"{number} participants would read:\n\n{body}\n")
    if number and not yes:
        click.confirm("Send it? It cannot be taken back", abort=True)
    click.echo(f"It was sent to {send_message(platform, by_offer, body)} participants.")


@click.command("parts")
@click.argument("runs", nargs=-1, required=True)
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The file to write; the terminal if left out.",
)
@add_instance_option
def parts(runs: tuple[str, ...], out: Path | None, instance: Path) -> None:
    """Show which participants of RUNS are the same person.

    Each row has a code for one person, and the person's participant in each run.
    """
    with reading(open_sessions(instance)) as session:
        rows = join_parts(session, runs)
    text = safe_csv(("code", *runs), rows)
    if out is None:
        sys.stdout.write(text)
        return
    with atomic_write(out) as file:
        file.write_bytes(text.encode())
    everywhere = sum(all(refs) for _, *refs in rows)
    click.echo(f"{len(rows)} people, {everywhere} of them in every run: {out}")


for _command in (stop_, screen_outs, ask_return, demographics, webhooks, test_offer, write, parts):
    recruitment.add_command(_command)
