"""``parallax publish`` and ``parallax recruitment``: finding a run's participants on a platform."""

import time
from collections import Counter
from datetime import timedelta
from pathlib import Path

import click

from experiment.payment import dollars
from webapp.clock import utc_now
from webapp.commands.desk import with_live
from webapp.commands.installation import open_sessions, with_instance
from webapp.commands.runs import link_base
from webapp.commands.text_table import text_table
from webapp.db import Sessions, reading
from webapp.errors import RunError
from webapp.flow.life import extend, pause, standing
from webapp.flow.poll import poll
from webapp.flow.publish import Draft, draft
from webapp.flow.publish import publish as carry_out
from webapp.flow.runs import named_run
from webapp.recruiters.platform import Platform, PlatformUnreachable
from webapp.recruiters.registry import load_recruiter, open_platform
from webapp.settings import load_settings


@click.command()
@click.argument("run")
@click.option("--dry-run", is_flag=True, help="Print every request, and make none that changes.")
@click.option("--yes", is_flag=True, help="Do not ask whether the cost is right.")
@with_live
@with_instance
def publish(run: str, dry_run: bool, yes: bool, live: bool, instance: Path) -> None:
    """Offer RUN's open places on its platform; again, to go on or to fill what became open."""
    sessions, platform, link = _place(instance, run, live=live)
    plan = draft(sessions, platform, run, link, utc_now())
    click.echo(_cost_in_words(plan, platform))
    if dry_run:
        for operation, request in platform.requests(plan.qualification, plan.task, plan.offers):
            click.echo(f"{operation} {request}")
        click.echo("Nothing was published.")
        return
    if not plan.offers and not plan.reopen:
        click.echo("Every place is filled, offered or being worked on already.")
        return
    _refuse_too_dear(plan, platform)
    if not yes:
        click.confirm("Publish this?", abort=True)
    for hit_id, places in carry_out(sessions, platform, plan, utc_now):
        click.echo(f"HIT {hit_id}: {places} places")
    click.echo(f"Run {run} is published. See how it fills with: parallax recruitment status {run}")


@click.group()
def recruitment() -> None:
    """See and steer how a published run fills."""


@recruitment.command()
@click.argument("run")
@with_live
@with_instance
def status(run: str, live: bool, instance: Path) -> None:
    """Show how far each HIT of RUN has come."""
    sessions, platform, _ = _place(instance, run, live=live)
    _tell_news(sessions, platform, run)
    header = ("HIT", "places", "free", "at work", "submitted", "judged", "until")
    rows = [
        (
            hit_id,
            state.places,
            state.available,
            state.pending,
            state.submitted,
            state.completed,
            "over" if state.expires_at <= utc_now() else f"{state.expires_at:%Y-%m-%d %H:%M} UTC",
        )
        for hit_id, state in standing(sessions, platform, run)
    ]
    click.echo(text_table(header, rows))


@recruitment.command("pause")
@click.argument("run")
@with_live
@with_instance
def pause_(run: str, live: bool, instance: Path) -> None:
    """Let no worker find RUN any more; who is at work goes on. Publishing it again resumes."""
    sessions, platform, _ = _place(instance, run, live=live)
    ended = pause(sessions, platform, run, utc_now())
    click.echo(f"{ended} HITs are over. They open again with: parallax publish {run}")


@recruitment.command("extend")
@click.argument("run")
@click.option("--hours", type=click.IntRange(min=1), required=True, help="From now on.")
@with_live
@with_instance
def extend_(run: str, hours: int, live: bool, instance: Path) -> None:
    """Let workers find RUN's open HITs for so many hours from now on."""
    sessions, platform, _ = _place(instance, run, live=live)
    until = utc_now() + timedelta(hours=hours)
    extended = extend(sessions, platform, run, until, utc_now())
    click.echo(f"{extended} HITs can be found until {until:%Y-%m-%d %H:%M} UTC.")


@recruitment.command("poll")
@click.argument("run")
@click.option("--every", type=click.IntRange(min=1), help="Go on, every so many seconds.")
@with_live
@with_instance
def poll_(run: str, every: int | None, live: bool, instance: Path) -> None:
    """Bring what the platform knows of RUN's assignments into the database."""
    sessions, platform, _ = _place(instance, run, live=live)
    _tell_news(sessions, platform, run)
    while every:
        time.sleep(every)
        try:
            _tell_news(sessions, platform, run)
        except PlatformUnreachable as error:
            # Whoever left this running wants to go on once the platform answers again.
            click.echo(str(error), err=True)


def _place(instance: Path, run_ref: str, *, live: bool) -> tuple[Sessions, Platform, str]:
    """Return the database, the run's platform, and the link that its workers are shown."""
    sessions = open_sessions(instance)
    with reading(sessions) as session:
        run = named_run(session, run_ref)
    platform = open_platform(run.recruiter, load_settings(instance), live=live)
    link = load_recruiter(run.recruiter).invitation(link_base(instance), run.ref)
    return sessions, platform, link


def _tell_news(sessions: Sessions, platform: Platform, run: str) -> None:
    news = poll(sessions, platform, run, utc_now())
    click.echo(
        f"{news.submitted} newly submitted, {news.returned} returned,"
        f" {news.granted} marked as having taken part."
    )
    if news.refused:
        click.echo(f"{news.refused} came under a worker's id that the platform does not know.")


def _cost_in_words(plan: Draft, platform: Platform) -> str:
    sizes = Counter(offer.places for offer in plan.offers)
    hits = ", ".join(f"{number} of {places}" for places, number in sizes.items()) or "none"
    cost = plan.cost
    rows = (
        ("places to fill", plan.unfilled),
        ("offered already", plan.open),
        ("HITs to offer again", len(plan.reopen)),
        ("new HITs of places", hits),
        ("rewards", dollars(cost.rewards_cents)),
        ("bonuses, at most", dollars(cost.bonuses_cents)),
        ("the platform's fees", dollars(cost.fees_cents)),
        ("in all, at most", dollars(cost.total_cents)),
        ("an hour's wage at the median time", dollars(cost.hourly_cents)),
    )
    return text_table((f"at {platform.endpoint}", ""), rows)


def _refuse_too_dear(plan: Draft, platform: Platform) -> None:
    balance_cents = platform.balance_cents()
    if balance_cents < plan.cost.total_cents:
        raise RunError(
            f"the balance of {dollars(balance_cents)} is too small",
            where=f"run {plan.run_ref}",
            expected=f"at least {dollars(plan.cost.total_cents)}",
            remedy="Prepay more on the platform; nothing was published",
        )
