"""Commands of ``parallax recruitment`` that only some platforms support."""

import getpass
import os
from pathlib import Path

import click

from experiment.tables.atomic_write import atomic_write
from webapp.commands.options import add_instance_option
from webapp.commands.platform_run import PublishedRun, live_option, open_published_run
from webapp.commands.runs import link_base
from webapp.core.clock import utc_now
from webapp.core.settings import ENVIRONMENT_PREFIX, flat_name
from webapp.core.settings_sources import write_setting
from webapp.database.engine import reading
from webapp.errors import RunError
from webapp.recruiters.capabilities import (
    Demographics,
    ReturnRequests,
    ScreenOuts,
    StoppableOffers,
    Webhooks,
)
from webapp.runs.runs import find_named_run, load_launched_study
from webapp.runs.second_person import GuardedRequest, check_second_person


@click.command("stop")
@click.argument("run")
@live_option
@add_instance_option
def stop_(run: str, live: bool, instance: Path) -> None:
    """End RUN's offers for good.

    The money reserved for them becomes available again.
    """
    published = open_published_run(instance, run, live=live)
    platform = published.platform
    if not isinstance(platform, StoppableOffers):
        raise _make_unable_error(published, "can end offers permanently")
    for offer in published.offers:
        platform.stop(offer)
    click.echo(
        f"{len(published.offers)} offers are stopped. To recruit more participants, publish the "
        "run again."
    )


@click.command("screen-outs")
@click.argument("run")
@click.option(
    "--places",
    type=click.IntRange(min=1),
    help="The highest number of screened-out participants to pay, in all.",
)
@live_option
@add_instance_option
def screen_outs(run: str, places: int | None, live: bool, instance: Path) -> None:
    """Show, or raise, RUN's paid screen-outs.

    Where the study asks two people for publishing, it asks them for this too.
    """
    published = open_published_run(instance, run, live=live)
    platform = published.platform
    if not isinstance(platform, ScreenOuts):
        raise _make_unable_error(published, "can pay screened-out participants")
    if places is not None:
        with reading(published.sessions) as session:
            stored_run = find_named_run(session, run)
            study = load_launched_study(session, stored_run)
        description = f"up to {places} paid screen-outs"
        screen_out_request = GuardedRequest(
            stored_run, study, "publishing", description, description, getpass.getuser(), utc_now()
        )
        check_second_person(published.sessions, screen_out_request)
    for offer in published.offers:
        if places is not None:
            platform.add_screen_outs(offer, places)
        click.echo(
            f"Offer {offer}: {platform.screen_outs_left(offer)} more screened-out "
            "participants can be paid"
        )


@click.command("ask-return")
@click.argument("run")
@click.argument("assignment")
@click.option("--reason", required=True, help="The message that the participant reads.")
@live_option
@add_instance_option
def ask_return(run: str, assignment: str, reason: str, live: bool, instance: Path) -> None:
    """Ask a participant to return an ASSIGNMENT.

    A returned assignment is not rejected.
    """
    published = open_published_run(instance, run, live=live)
    platform = published.platform
    if not isinstance(platform, ReturnRequests):
        raise _make_unable_error(published, "can ask participants to return their work")
    if published.platform.submission(assignment).offer_id not in published.offers:
        raise RunError(f"the assignment does not belong to the run {run}", where=assignment)
    platform.request_return(assignment, reason)
    click.echo("The participant was asked to return it; whether they do is their decision.")


@click.command("webhooks")
@click.argument("run")
@click.option(
    "--new-secret",
    is_flag=True,
    help="Create a new secret; other tools that use the old one stop working.",
)
@live_option
@add_instance_option
def webhooks(run: str, new_secret: bool, live: bool, instance: Path) -> None:
    """Have RUN's platform notify this server of submissions.

    The secret that proves its calls is written into the instance's parallax.toml.
    """
    published = open_published_run(instance, run, live=live)
    platform = published.platform
    if not isinstance(platform, Webhooks):
        raise _make_unable_error(published, "can notify our server")
    with reading(published.sessions) as session:
        recruiter = find_named_run(session, run).recruiter
    address = f"{link_base(instance)}/hooks/{recruiter}"
    # The secret comes first, because a subscription requires one.
    secret = platform.hook_secret(new=new_secret)
    file = write_setting(instance, recruiter, "hook_secret", secret)
    subscription = platform.subscribe(address)
    click.echo(f"Subscription {subscription}: changes of submissions are sent to {address}")
    click.echo(f"The secret was written to {file}. A running server loads it with: parallax reload")
    variable = f"{ENVIRONMENT_PREFIX}{flat_name(recruiter, 'hook_secret')}".upper()
    if variable in os.environ:
        click.echo(f"WARNING: the variable {variable} is set and overrides the file. Unset it.")


@click.command("demographics")
@click.argument("run")
@click.option(
    "--out", type=click.Path(path_type=Path), required=True, help="The folder to write to."
)
@click.option("--yes", is_flag=True, help="Do not ask before using up one of the limited exports.")
@live_option
@add_instance_option
def demographics(run: str, out: Path, yes: bool, live: bool, instance: Path) -> None:
    """Fetch participants' demographics from the platform.

    A platform exports them a limited number of times for each study.
    """
    published = open_published_run(instance, run, live=live)
    platform = published.platform
    if not isinstance(platform, Demographics):
        raise _make_unable_error(published, "can export participants' demographics")
    out.mkdir(parents=True, exist_ok=True)
    for offer in published.offers:
        used, most_exports = platform.exports_used(offer), platform.most_exports
        click.echo(
            f"Offer {offer}: {used} of {most_exports} different demographic exports are used up."
        )
        click.echo(
            "WARNING: the table identifies people by their platform ids. Store it apart from "
            "the data."
        )
        if not yes:
            click.confirm("Fetch the basic table?", abort=True)
        with atomic_write(out / f"demographics_{offer}.csv") as file:
            file.write_bytes(platform.demographics(offer))
        click.echo(str(out / f"demographics_{offer}.csv"))


def _make_unable_error(published: PublishedRun, what: str) -> RunError:
    return RunError(
        f"the run's platform is not one that {what}",
        where=f"run {published.ref}",
        expected="a run on a platform that does",
    )
